"""Limits and friction of joints act: as stops and friction that were added by hand, in every program, unless replaced."""

from __future__ import annotations

import pickle
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import sharnir as sh
from mechanisms import hinged
from sharnir.model.forces.own_forces import STOP_RATE, STOP_RATIO
from states import assert_close

TOLERANCE = 1e-12


def bar(m: sh.Model, name: str, carrier: str, joint: sh.Joint, at: sh.Pose | None = None) -> None:
    m.add_body(name, 1.0, (0.1, 0.05, -0.4), (0.05, 0.06, 0.02))
    m.add_joint(f"J{name}", joint, carrier, name, at=at)


def mechanism(acting: bool, coupled: bool = True) -> sh.Model:
    """A tree with options on coordinates of every kind, which act or do not."""
    m = sh.Model()
    bar(m, "a", "ground", sh.Revolute("y", limits=(-0.2, 0.3), friction=0.7))
    planar = sh.Planar(limits=((-0.1, 0.1), (None, 0.2), (-9.0, np.inf)), friction=(0.3, 0.0, 0.4))
    bar(m, "b", "a", planar, sh.Pose((0.2, 0.0, -0.5)))
    parts = {"swing": sh.Revolute("x", limits=(-0.3, 0.1), friction=0.2), "lift": sh.Prismatic("x", friction=0.1)}
    bar(m, "c", "b", sh.Compound(parts), sh.Pose((0.1, 0.2, 0.0)))
    m.add_body("d", 0.5, (0.0, 0.1, 0.2), (0.02, 0.03, 0.02))
    m.add_joint("Jd", sh.Prismatic("x", limits=(-0.05, 0.1), friction=0.6), "d", "a", at=sh.Pose((0.3, 0.0, 0.0)))  # reversed
    bar(m, "e", "a", sh.Revolute("z", motion=lambda t: 0.5 * sh.sin(3.0 * t), limits=(-0.1, 0.1), friction=0.9))
    bar(m, "f", "c", sh.Revolute("x", limits=(-0.1, 0.2), friction=0.25))
    bar(m, "g", "c", sh.Revolute("z", limits=(-0.5, 0.2), friction=0.15))
    if coupled:
        m.couple("Jg", "Jf", -0.6, 0.1)
    bar(m, "h", "a", sh.Ball(friction=0.1), sh.Pose((0.0, 0.3, 0.0)))
    m.acting = "all" if acting else "motion"
    return m


def by_hand() -> sh.Model:
    m = mechanism(False)
    M = sh.matrices(m, m.neutral(), np.zeros(m.nv)).M_r
    alone = mechanism(False, coupled=False)
    free = sh.matrices(alone, alone.neutral(), np.zeros(alone.nv)).M_r
    f, g = (alone.v_slice(joint).start for joint in ("Jf", "Jg"))
    led = free[f, f] + 0.36 * free[g, g]  # what the axes of a leader and its follower carry, added up; they carry no others
    angle, swing, h, F, G = M[3, 3], M[4, 4], M[-3:, -3:].diagonal().max(), free[f, f], 0.36 * free[g, g]
    turning = max(F, G)  # axes that swing carries
    swing = np.sqrt(swing * max(swing, turning))
    angle = np.sqrt(angle * max(angle, M[4, 4], turning))
    first = np.sqrt(M[0, 0] * max(M[0, 0], M[3, 3], M[4, 4], turning, h))
    at = m.v_names.index
    for joint, low, high, carried in (
        ("Ja", -0.2, 0.3, first), ("Jb.x", -0.1, 0.1, M[1, 1]), ("Jb.y", None, 0.2, M[2, 2]), ("Jb.angle", -9.0, None, angle),
        ("Jc.swing", -0.3, 0.1, swing), ("Jd", -0.05, 0.1, M[at("Jd"), at("Jd")]), ("Jf", -0.1, 0.2, led),
        ("Jg", -0.5, 0.2, led / 0.36),
    ):  # fmt: skip
        k = float(carried) * STOP_RATE**2
        onset = 1e-3 if low is None or high is None else min(1e-3, 0.01 * (high - low))
        m.add_force(sh.JointStop(joint, low, high, k, 2.0 * STOP_RATIO * k / STOP_RATE, onset), name=f"stop {joint}")
    for joint, coulomb in (("Ja", 0.7), ("Jb.x", 0.3), ("Jb.angle", 0.4), ("Jd", 0.6), ("Je", 0.9), ("Jf", 0.25), ("Jg", 0.15)):
        m.add_force(sh.JointFriction(joint, coulomb), name=f"rub {joint}")

    def rub(on: sh.Motion) -> None:
        on.torque("Jc", [-c * sh.tanh(v / 1e-3) for c, v in zip((0.2, 0.1), on.v("Jc"), strict=True)])
        on.torque("Jh", [-0.1 * sh.tanh(v / 1e-3) for v in on.v("Jh")])

    m.add_force(rub)
    return m


def beyond(m: sh.Model) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A state beyond most limits, at speeds where friction is neither full nor none."""
    rng = np.random.default_rng(7)
    return m.random_q(rng), 1e-3 * rng.normal(size=m.nv), rng.normal(size=m.nv)


@pytest.mark.parametrize("backend", ["python", "auto"])
def test_limits_and_friction_are_the_stops_and_the_friction_that_can_be_added(backend):
    mine, theirs = (sh.Dynamics(m, backend=backend) for m in (mechanism(True), by_hand()))
    q, v, tau = beyond(mine.model)
    a = mine.forward(q, v, tau, 0.3)
    assert_close(a, theirs.forward(q, v, tau, 0.3), TOLERANCE)
    assert_close(mine.inverse(q, v, a, 0.3), tau, 1e-9)
    assert np.abs(a - sh.Dynamics(mechanism(False), backend=backend).forward(q, v, tau, 0.3)).max() > 1.0
    for of in ("force_powers", "force_energies"):  # of friction in a drive too
        assert_close(*(getattr(d, of)(q, v, 0.3).sum() for d in (mine, theirs)), 1e-9)


def test_stiffness_follows_masses_and_lengths_that_are_parameters():
    m = sh.Model()
    mass, length = m.add_parameter("mass", 1.0), m.add_parameter("length", 0.5)
    m.add_body("rod", mass, (0.0, 0.0, -length), (0.05, 0.06, 0.02))
    m.add_body("tip", 2.0 * mass, (0.1, 0.0, 0.0), (0.05, 0.06, 0.02))
    m.add_joint("A", sh.Revolute("y", limits=(-0.1, 0.1), friction=0.1 * mass), "ground", "rod")
    m.add_joint("B", sh.Revolute("y", limits=(-0.1, 0.1)), "rod", "tip", at=sh.Pose((0.0, 0.0, -2.0 * length)))
    values, q, v, tau = {"mass": 3.0, "length": 0.8}, [0.15, -0.2], [0.1, 0.2], [0.0, 0.0]
    other = sh.Dynamics(m.without_parameters(values)).forward(q, v, tau)
    assert_close(sh.Dynamics(m).forward(q, v, tau, parameters=values), other, TOLERANCE)
    assert_close(sh.Dynamics(m.with_parameters(values)).forward(q, v, tau), other, TOLERANCE)
    assert np.abs(other - sh.Dynamics(m).forward(q, v, tau)).max() > 1.0


def own(m: sh.Model) -> set[str]:
    return set(m.structure.forces.forces) - set(m.forces)


def test_a_force_of_the_joint_replaces_that_of_its_option():
    both = {"limits": (-1.0, 1.0), "friction": 0.5}
    assert own(hinged(**both)) == {"joint 'hinge': friction", "joint 'hinge': stop"}
    assert own(hinged(sh.JointStop("hinge"), **both)) == {"joint 'hinge': friction"}
    for friction in (sh.JointFriction("hinge"), sh.BristleFriction("hinge")):
        assert own(hinged(friction, **both)) == {"joint 'hinge': stop"}
    m = mechanism(True)
    m.add_force(sh.JointFriction("Jb.x", 0.1))
    m.add_force(sh.JointStop("Jc.swing", -1.0, 1.0))
    changed = own(m) ^ own(mechanism(True))
    assert changed == {
        "joint 'Jb': friction", "joint 'Jb.angle': friction", "joint 'Jc.swing': stop",
    }  # fmt: skip
    assert own(hinged(limits=(-np.inf, None), friction=0.0)) == set()


def test_what_acts_is_part_of_the_model(tmp_path):
    m = hinged(limits=(-1.0, 1.0), friction=0.5)
    for acting, names in (("friction", {"joint 'hinge': friction"}), ("motion", set()), ("all", own(m))):
        m.acting = acting
        m.save(tmp_path / "m.yaml")
        assert (acting == "all") == ("acting" not in (tmp_path / "m.yaml").read_text())
        m.make_parameter("bar.mass") if acting == "friction" else None
        for same in (m, m.copy(), pickle.loads(pickle.dumps(m)), sh.load(tmp_path / "m.yaml"), m.without_parameters()):
            assert same.acting == acting and own(same) == names
    with pytest.raises(sh.ModelError, match="acting: did you mean 'motion'"):
        m.acting = "motions"
    m.freeze()
    with pytest.raises(sh.ModelError, match="cannot change acting"):
        m.acting = "motion"


def test_a_stop_holds_a_joint_to_its_speed_over_twice_the_rate():
    for speed in (1.0, 4.0):
        m = hinged(limits=(-0.5, 0.2))
        m.gravity = (0.0, 0.0, 0.0)
        r = sh.simulate(m, 0.5, v0=[speed], output=None)
        depth = r.q.max() - 0.2
        assert 0.6 < depth / (0.5 * speed / STOP_RATE) < 1.3  # and the onset
        assert abs(r.v[-1, 0]) < 0.4 * speed
        steps = sh.rollout(m, [[0.0]], [[speed]], duration=0.5, step=1e-3)
        assert abs(steps.q.max() - r.q.max()) < 1e-3


def test_limits_of_every_kind_of_run():
    m = hinged(limits=(-1.0, 1.0))
    start: dict[str, Any] = {"q0": [0.5], "v0": [6.0]}
    act, ignore = sh.simulate(m, 0.4, **start), sh.simulate(m, 0.4, limits="ignore", **start)
    assert act.q.max() < 1.04 and act.model is m and "joint 'hinge': stop" in act.model.structure.forces.names
    assert ignore.q.max() > 1.5 and ignore.model.acting == "friction"
    assert max(np.abs(r.energy.defect).max() for r in (act, ignore)) < 1e-5
    assert sh.simulate(m, 0.4, limits="stop", **start).q.max() < 1.0 + 1e-8
    rolled = {
        limits: sh.rollout(m, [[0.5]], [[6.0]], duration=0.4, step=1e-3, limits=limits).q.max() for limits in ("act", "ignore")
    }
    assert rolled["act"] < 1.04 and rolled["ignore"] > 1.5
    with pytest.raises(sh.MethodError, match="limits='stop': an option of `simulate`"):
        sh.rollout(m, [[0.5]], duration=0.4, step=1e-3, limits="stop")
    for limits, reached in (("act", 1.04), ("ignore", 9.0), ("stop", 1.0 + 1e-8)):
        sim = sh.Simulation(m, **start, limits=limits)
        while sim.t < 0.4 and sim.status == "done":
            sim.step(0.05)
        assert sim.result().q.max() < reached and (limits != "ignore" or sim.result().q.max() > 1.5)
    bouncing = sh.simulate(m, 0.4, events=sh.Impact.stop("hinge"), **start)
    assert bouncing.q.max() < 1.0 + 1e-6 and bouncing.model is m
    assert "joint 'hinge': stop" not in bouncing.model_with_contacts.structure.forces.names
    wide = sh.simulate(m, 0.4, events=sh.Impact.stop("hinge", high=1.3), **start)
    assert 1.25 < wide.q.max() < 1.3 + 1e-6


def test_a_joint_whose_options_act_is_not_cut():
    def square(options: dict[int, dict[str, Any]]) -> sh.Model:
        m, side = sh.Model(), sh.Pose((1.0, 0.0, 0.0), sh.Rotation.about("y", 0.5 * np.pi))
        for name in ("a", "b", "c"):
            m.add_body(name, 1.0, (0.5, 0.0, 0.0), (0.1, 0.1, 0.1))
        ends = (("ground", "a"), ("a", "b"), ("b", "c"), ("c", "ground"))
        for k, (carrier, body) in enumerate(ends):
            m.add_joint(f"J{k}", sh.Revolute("y", **options.get(k, {})), carrier, body, at=side if k else None)
        return m

    m = square({0: {"friction": 0.1}, 2: {"friction": 0.1}, 3: {"limits": (-1.0, 1.0)}})
    assert [j.name for j in m.closing_joints] == ["J1"]
    m = square({k: {"limits": (-2.0, 2.0)} for k in range(4)})
    with pytest.raises(sh.ModelError, match="its own limits or friction needs its coordinate"):
        sh.Dynamics(m)
    m.acting = "motion"
    assert len(m.closing_joints) == 1 and sh.Dynamics(m).model is m


def test_limits_of_a_coordinate_without_a_speed_are_refused():
    m = sh.Model()
    bar(m, "a", "ground", sh.Ball(limits=(-1.0, 1.0)))
    with pytest.raises(sh.ModelError, match="joint 'Ja': limits are of coordinates that have a speed"):
        sh.Dynamics(m)


def test_a_joint_that_is_limited_to_one_position_is_held_there():
    m = hinged(limits=(0.3, 0.3))
    assert abs(sh.equilibrium(m, {"hinge": 0.3}).q[0] - 0.3) < 0.01


def test_gravity_rests_on_a_stop():
    """The equilibrium is where the stop carries the weight: k·(depth − onset/2) = m g cos."""
    m = hinged(limits=(-0.5, 0.5))
    depth = -0.5 - sh.equilibrium(m, guess={"hinge": -0.51}).q[0]
    assert_close(STOP_RATE**2 * (depth - 0.5e-3), 9.81 * np.cos(0.5 + depth), 1e-6)


def test_own_friction_is_identified_as_that_of_an_element():
    m, by = hinged(friction=0.5), hinged(sh.JointFriction("hinge"), friction=0.5)
    for model in (m, by):
        d = sh.Dynamics(model)
        assert dict(zip(d.regressor_names, d.regressor_parameters, strict=True))["hinge.friction"] == 0.5
    q, v, a = [0.3], [0.4], [0.5]
    assert_close(sh.Dynamics(m).regressor(q, v, a), sh.Dynamics(by).regressor(q, v, a), TOLERANCE)


def test_limits_without_an_end_let_a_joint_be_cut():
    m = sh.samples.four_bar()
    plain = [j.name for j in m.closing_joints]
    for k, joint in enumerate(m.parts.joints):
        m.parts.joints[k] = replace(joint, type=joint.type.replaced(limits=(-np.inf, None)))
    assert [j.name for j in m.copy().closing_joints] == plain and not own(m)


def test_a_forearm_that_rolls_is_stopped_as_what_its_wrist_carries():
    """At the neutral position the roll of a straight arm carries next to nothing."""
    m = sh.Model(gravity=(0.0, 0.0, 0.0))
    m.add_body("forearm", 0.1, (0.0, 0.0, -0.1), (1e-3, 1e-3, 1e-4))
    m.add_body("hand", 1.0, (0.0, 0.0, -0.2), (1e-3, 1e-3, 1e-4))
    m.add_joint("roll", sh.Revolute("z", limits=(-1.0, 1.0)), "ground", "forearm")
    m.add_joint("wrist", sh.Revolute("y", limits=(-2.0, 2.0)), "forearm", "hand", at=sh.Pose((0.0, 0.0, -0.2)))
    stops: dict[str, Any] = dict(m.structure.forces.forces)
    M = sh.matrices(m, m.neutral(), np.zeros(2)).M_r
    assert_close(stops["joint 'roll': stop"].stiffness, STOP_RATE**2 * np.sqrt(M[0, 0] * M[1, 1]), TOLERANCE)
    assert_close(stops["joint 'wrist': stop"].stiffness, STOP_RATE**2 * M[1, 1], TOLERANCE)
