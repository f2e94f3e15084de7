"""Actuators of MJCF files: accelerations and rates of activations are those of MuJoCo, to rounding; so is a motion."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest
from test_mjcf import SHIPPED, without_loops

import sharnir as sh
from mjcf_models import JOINTS, MACHINE, PLACES
from mujoco_pairs import MujocoPair, load_pair, pair_of, write
from states import assert_close

UNREAD = """
    <motor name="m0" joint="a"/>
    <general name="between" site="r" refsite="s"/><adhesion name="glue" body="A" ctrlrange="0 1"/>
    <position name="turn" joint="ball" kp="1"/>
    <motor name="limb" joint="b"/><motor name="more" joint="b"/><motor name="off" joint="c" group="3"/>
    <general name="early" joint="c" dyntype="integrator" actearly="true"/>"""


def acting(pair: MujocoPair) -> MujocoPair:
    pair.theirs.opt.disableflags &= ~int(mujoco.mjtDisableBit.mjDSBL_ACTUATION)
    return pair


def assert_same(pair: MujocoPair, seeds: int = 6) -> None:
    """Accelerations and rates of activations at random states, controls and activations."""
    m, theirs, data = pair.model, pair.theirs, pair.data
    d = sh.Dynamics(m, backend="python")
    for seed in range(seeds):
        rng = np.random.default_rng(seed)
        q, v = m.random_q(rng), rng.normal(size=m.nv)
        values = {name: 1.5 * rng.normal() for name in m.parameters} | {name: rng.uniform(-0.4, 0.9) for name in m.states}
        names = [theirs.actuator(k).name or f"actuator{k}" for k in range(theirs.nu)]
        acts = [k for k in range(theirs.nu) if theirs.actuator_actadr[k] >= 0]
        data.ctrl[:] = [values.get(name, 0.0) for name in names]
        data.act[:] = [values[f"{names[k]}.activation"] for k in acts]
        assert_close(d.forward(q, v, parameters=values), pair.forward(q, v, np.zeros(m.nv)), 1e-11)
        inside = [k for k in acts if not theirs.actuator_actlimited[k] or abs(data.act[theirs.actuator_actadr[k]]) < 0.5]
        rates = dict(zip(m.states, d.state_rates(q, v, parameters=values), strict=True))
        found = [rates[f"{names[k]}.activation"] for k in inside]
        assert_close(found, [data.act_dot[theirs.actuator_actadr[k]] for k in inside], 1e-12)


@pytest.mark.parametrize("actuators", [JOINTS, PLACES], ids=["joints and sums of them", "lines and places"])
def test_actuators_are_those_of_mujoco(actuators, tmp_path):
    pair = acting(pair_of(tmp_path, MACHINE % (actuators, ""), actuators=True))
    assert len(pair.model.parameters) == pair.theirs.nu and len(pair.model.states) == pair.theirs.na
    assert_same(pair)
    again = sh.loads(sh.dumps(pair.model))
    q, v = again.random_q(1), np.ones(again.nv)
    values = dict.fromkeys((*again.parameters, *again.states), 0.6)
    one, two = (sh.Dynamics(m, backend="python").forward(q, v, parameters=values) for m in (pair.model, again))
    assert_close(one, two, 1e-14)


def test_the_actuators_of_the_model_that_mujoco_ships_are_the_same():
    """All but one on a tendon that wraps; `actearly`, a matter of the step, is switched off."""
    pair = acting(load_pair(SHIPPED, actuators=True))
    pair.theirs.actuator_actearly[:] = 0
    pair.model = without_loops(pair.model)
    assert len(pair.model.parameters) == pair.theirs.nu - 1 == 9
    assert_same(pair, 2)


def test_an_activation_stays_in_its_range(tmp_path):
    m = sh.load(write(tmp_path, MACHINE % ('<intvelocity name="i" joint="a" kp="5" actrange="-.5 .5"/>', "")))
    d = sh.Dynamics(m, backend="python")
    for act, control, rate in ((0.5, 2.0, 0.0), (0.5, -2.0, -2.0), (-0.5, -2.0, 0.0), (-0.5, 1.0, 1.0), (0.4, 2.0, 2.0)):
        assert d.state_rates(parameters={"i": control, "i.activation": act}).tolist() == [rate]


def test_controls_and_activations_begin_as_in_the_first_keyframe(tmp_path):
    key = '<keyframe><key ctrl="4 0.3 0.2 0" act="0.7"/><key ctrl="1 1 1 1"/></keyframe>'
    actuators = (
        '<motor name="m" joint="a" ctrlrange="-1 1"/><motor joint="a"/><cylinder name="c" joint="b"/><motor name="c" joint="c"/>'
    )
    m = sh.load(write(tmp_path, MACHINE % (actuators.replace('name="c" joint="c"', 'joint="c"'), key)))
    assert m.parameters == {"m": 1.0, "actuator1": 0.3, "c": 0.2, "actuator3": 0.0}
    assert m.states == {"c.activation": 0.7}
    off = sh.load(write(tmp_path, MACHINE % (actuators.replace('name="c" joint="c"', 'joint="c"'), key)), actuators=False)
    assert not off.parameters and not off.forces


def test_what_is_not_read_is_reported_with_the_reason(tmp_path):
    option = '<option actuatorgroupdisable="3"/>'
    m = sh.load(write(tmp_path, MACHINE % (UNREAD, option)))
    assert list(m.parameters) == ["m0", "limb", "more", "early"]
    text = str(m.import_report)
    for said in (
        "a refsite is not known", "on ball joints only", "transmission 'body' is not known", "the file disables it", "actearly",
        "it holds for the sum of several actuators",
    ):  # fmt: skip
        assert said in text
    with pytest.raises(sh.FormatError, match="would be ignored"):
        sh.load(write(tmp_path, MACHINE % (UNREAD, option)), strict=True)


def test_a_motion_with_activations_is_that_of_mujoco(tmp_path):
    text = """<mujoco><option integrator="RK4" timestep="0.001"/><worldbody>
      <body name="one"><joint name="a" axis="0 1 0" damping=".1"/><geom type="capsule" fromto="0 0 0 .4 0 0" size=".03"/>
        <body name="two" pos=".4 0 0"><joint name="b" axis="0 1 0"/><geom type="capsule" fromto="0 0 0 .3 0 0" size=".03"/></body>
      </body></worldbody>
      <actuator><general name="p" joint="a" dyntype="filter" dynprm=".05" gainprm="20" biastype="affine" biasprm="0 -20 -1"/>
      <cylinder name="c" joint="b" timeconst=".2" area="2"/>
      </actuator></mujoco>"""
    pair = acting(pair_of(tmp_path, text, actuators=True))
    pair.data.ctrl[:] = 0.5, 0.8
    for _ in range(500):
        mujoco.mj_step(pair.theirs, pair.data)
    r = sh.simulate(pair.model, 0.5, parameters={"p": 0.5, "c": 0.8}, rtol=1e-10, atol=1e-12, output=0.5)
    assert_close(r.q[-1], pair.data.qpos, 1e-6)
    found = [r.state(f"{name}.activation")[-1] for name in "pc"]
    assert_close(found, pair.data.act, 1e-8)
    assert np.abs(r.energy.defect).max() < 1e-8
