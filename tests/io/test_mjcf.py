"""MJCF through MuJoCo's compiler: mass matrix, inverse and forward dynamics and poses are MuJoCo's own, to rounding."""

from __future__ import annotations

from pathlib import Path

import mujoco
import numpy as np
import pytest

import sharnir as sh
from mjcf_models import COPIES, COUPLED, SLIDER, WALKER, random_tree, two_hinges
from mujoco_pairs import MujocoPair, load_pair, pair_of
from states import assert_close

SHIPPED = Path(mujoco.__file__).parent / "testdata" / "model.xml"
TEXTS = {"walker": WALKER, "slider": SLIDER, "copies": COPIES} | {f"tree {k}": random_tree(k) for k in range(10)}
TOLERANCE = 1e-11


def assert_same(pair: MujocoPair, seed: int = 0, forward: bool = True) -> None:
    """At two random states."""
    d = sh.Dynamics(pair.model, "composite", backend="python")
    for k in range(2):
        rng = np.random.default_rng((seed, k))
        q, v = pair.model.random_q(rng), rng.normal(size=pair.model.nv)
        a, tau = 3.0 * rng.normal(size=pair.model.nv), 3.0 * rng.normal(size=pair.model.nv)
        assert_close(d.mass_matrix(q), pair.mass_matrix(q), TOLERANCE, what="mass matrix")
        assert_close(d.inverse(q, v, a), pair.inverse(q, v, a), TOLERANCE, what="inverse dynamics")
        if forward:
            assert_close(d.forward(q, v, tau), pair.forward(q, v, tau), TOLERANCE, what="forward dynamics")


def assert_same_places(pair: MujocoPair, seed: int = 0) -> None:
    """Every body of the file, moving or merged, is where MuJoCo has it."""
    d = sh.Dynamics(pair.model, "composite", backend="python")
    q = pair.model.random_q(seed)
    turns, places = d.poses(q)
    where = pair.model.frames | {b.name: (b.name, sh.Pose()) for b in pair.model.bodies}
    for name, (position, rotation) in pair.bodies(q).items():
        body, at = where[name]
        i = None if body == "ground" else pair.model.body_index(body)
        R, r = (np.eye(3), np.zeros(3)) if i is None else (turns[i], places[i])
        assert_close(R @ np.array(at.position) + r, position, 1e-12, scale=1.0, what=name)
        assert_close(R @ at.rotation.matrix, rotation, 1e-12, what=name)


@pytest.mark.parametrize("name", TEXTS)
def test_the_dynamics_are_those_of_mujoco(name, tmp_path):
    pair = pair_of(tmp_path, TEXTS[name])
    assert (pair.model.nq, pair.model.nv) == (pair.theirs.nq, pair.theirs.nv)
    assert_same(pair)
    assert_same_places(pair)


def test_the_model_that_mujoco_ships_is_the_same_without_contacts_and_tendons():
    pair = load_pair(SHIPPED)
    assert [j.name for j in pair.model.closing_joints] == ["weld ground cylinder"]
    pair.model = without_loops(pair.model)
    assert_same(pair)
    assert_same_places(pair)


def without_loops(model: sh.Model) -> sh.Model:
    """The tree alone: what MuJoCo works out before its soft constraints act."""
    out = model.copy()
    out.parts.joints = [j for j in out.parts.joints if not j.cut]
    return out


def test_several_joints_of_a_body_are_one_compound_and_a_single_one_keeps_its_name(tmp_path):
    m = pair_of(tmp_path, WALKER).model
    assert m.name == "walker" and [j.name for j in m.joints] == ["root", "waist", "thigh", "knee", "ankle"]
    assert m.q_names[7:13] == [
        "waist.abdomen_z", "waist.abdomen_y", "thigh.hip_x", "thigh.hip_z", "thigh.hip_y", "knee",
    ]  # fmt: skip
    knee, waist = m.joints[3].type, m.joints[1].type
    assert_close(knee.limits, np.radians([-160, -2]), 1e-12)
    assert_close(waist.damping, [3.0, 3.0], 1e-15)
    assert_close(waist.armature, [0.01, 0.03], 1e-15)
    assert_close(waist.limits, np.radians([[-45, 45], [-75, 30]]), 1e-12)


def test_merged_bodies_sites_and_cameras_are_frames(tmp_path):
    m = pair_of(tmp_path, WALKER).model
    assert {name: body for name, (body, _) in m.frames.items()} == dict.fromkeys(("head", "nose", "chest", "eye"), "torso")
    assert [b.name for b in m.bodies] == ["torso", "waist", "thigh", "shin", "foot"]


def test_keyframes_are_in_our_coordinates(tmp_path):
    pair = pair_of(tmp_path, WALKER)
    assert_close(pair.model.keyframes["qpos0"], pair.theirs.qpos0, 1e-15)
    assert_close(pair.model.keyframes["squat"], pair.theirs.key_qpos[0], 1e-15)
    assert pair.model.copy().keyframes is not pair.model.keyframes


def test_passive_false_leaves_springs_and_dampers_out_and_so_do_flags(tmp_path):
    plain = pair_of(tmp_path, WALKER, passive=False)
    assert not plain.model.structure.forces
    assert_same(plain)
    flags = '<option gravity="1 2 3"><flag gravity="disable" spring="disable" damper="disable"/></option>'
    off = pair_of(tmp_path, WALKER.replace('<option gravity="0.3 -0.2 -9.7" timestep="0.002"/>', flags))
    assert off.model.gravity == (0.0, 0.0, 0.0) and not off.model.structure.forces
    assert_same(off)


# --- equalities ------------------------------------------------------------------------------------------------------------
def test_a_linear_joint_equality_is_a_coupling(tmp_path):
    pair = pair_of(tmp_path, COUPLED)
    assert pair.model.q_names == ["wrist", "nod", "a"]
    nod0, a0, d0 = np.radians([20.0, 5.0, 3.0])
    C = np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1], [0, 0, -0.7], [0, 0.3, 0], [0, 0, 0]], dtype=float)
    q = np.array([0.3, -0.2, 0.5])
    assert_close(pair.outward(q), C, 1e-15)
    assert_close(pair.qpos(q), C @ q + [0.0, 0.0, 0.0, 0.1 + 0.7 * a0, 0.02 - 0.3 * nod0, 0.2 + d0], 1e-15)
    assert_same(pair, forward=False)
    assert_same_places(pair)
    assert_close(pair.model.keyframes["qpos0"], [0.0, nod0, a0], 1e-15)


@pytest.mark.parametrize(
    ("equality", "note"),
    [
        ('<joint joint1="a" joint2="b" polycoef="0 1 0.5 0 0"/>', "not linear"),
        ('<joint joint1="a" joint2="b" active="false"/>', "switched off"),
        ('<joint joint1="a" joint2="b"/><joint joint1="b" joint2="a"/>', "bound by another equality"),
    ],
)
def test_other_joint_equalities_are_reported(equality, note, tmp_path):
    m = pair_of(tmp_path, two_hinges(f"<equality>{equality}</equality>")).model
    assert any(note in e.why for e in m.import_report.of("ignored"))


@pytest.mark.parametrize(
    "equality",
    [
        '<connect body1="fixed" body2="two" anchor="0.1 0.2 0.3"/>',
        '<connect body1="one" anchor="0.1 0.2 0.3"/>',
        '<connect site1="s" site2="t"/>',
        '<weld body1="fixed" body2="two" anchor="0.1 0.2 0.3"/>',
        '<weld body1="two" body2="fixed" relpose="0.1 0.2 0.3 0.5 0.5 0.5 -0.5" anchor="0.3 0 0"/>',
        '<weld site1="s" site2="t"/>',
    ],
)
def test_connect_and_weld_close_loops_at_the_same_points(equality, tmp_path):
    """The gap between the two ends of the cut joint is MuJoCo's residual."""
    pair = pair_of(tmp_path, two_hinges(f"<equality>{equality}</equality>"))
    (joint,) = pair.model.closing_joints
    assert isinstance(joint.type, sh.Weld if "weld" in equality else sh.Ball)
    tree = without_loops(pair.model)
    q = tree.random_q(3)
    turns, places = sh.Dynamics(tree, "composite", backend="python").poses(q)

    def world(body, at):
        if body == "ground":
            return at
        i = tree.body_index(body)
        return sh.Pose(places[i], turns[i]) @ at

    first, second = world(joint.parent, joint.at), world(joint.child, joint.child_at)
    theirs = mujoco.MjModel.from_xml_path(str(tmp_path / "model.xml"))
    theirs.opt.jacobian = 0
    data = mujoco.MjData(theirs)
    data.qpos[:] = q
    mujoco.mj_forward(theirs, data)
    assert_close(np.array(first.position) - np.array(second.position), data.efc_pos[:3], 1e-9, scale=1.0)
    if "weld" in equality:  # sin(θ/2) of the turn between the two, times torquescale 1
        trace = (first.rotation.T @ second.rotation).matrix.trace()
        assert_close(np.linalg.norm(data.efc_pos[3:6]), np.sqrt((3.0 - trace) / 4.0), 1e-9, scale=1.0)


def test_rotors_of_actuators_are_felt_by_their_joints(tmp_path):
    motors = """<actuator><motor joint="knee" gear="20" armature="0.002" damping="0.01"/><motor joint="hip_z" armature="0.3"/>
      <position joint="knee" gear="-3" armature="0.01"/><motor joint="ankle" gear="1 2 3"/></actuator>"""
    pair = pair_of(tmp_path, WALKER.replace('<actuator><motor joint="knee" gear="20"/></actuator>', motors))
    assert_close(pair.model.joints[3].type.armature, 0.01 + 400 * 0.002 + 9 * 0.01, 1e-15)
    assert_same(pair)


# --- tendons ----------------------------------------------------------------------------------------------------------------
TENDONS = """<tendon>
  <fixed name="sum" stiffness="3" damping="0.4" springlength="0.1">
    <joint joint="abdomen_y" coef="0.7"/><joint joint="knee" coef="-2"/>
  </fixed>
  <fixed name="slack" stiffness="7" springlength="-0.2 0.3"><joint joint="hip_z" coef="1"/></fixed>
  <spatial name="cord" stiffness="30" damping="2" springlength="0.2"><site site="chest"/><site site="sole"/></spatial>
  <spatial name="long" stiffness="11"><site site="hook"/><site site="chest"/><site site="sole"/></spatial>
  <spatial name="wrapped" stiffness="9"><site site="chest"/><geom geom="skull"/><site site="sole"/></spatial>
</tendon>"""


def test_springs_of_tendons_are_forces_where_they_are_straight(tmp_path):
    text = WALKER.replace('<light pos="0 0 4"/>', '<site name="hook" pos="0.3 0.2 0.1"/>').replace(
        "<actuator>", TENDONS + "<actuator>"
    )
    text = text.replace(
        '<geom size="0.075" type="sphere"/>', '<geom size="0.075" type="sphere"/><site name="sole" pos="0.1 0.02 -0.1"/>'
    )
    pair = pair_of(tmp_path, text)
    assert list(pair.model.forces) == ["tendon 'sum'", "tendon 'slack'", "tendon 'cord'", "tendon 'long'"]
    wrapped = [e.where for e in pair.model.import_report.of("ignored") if e.what == "tendon"]
    assert wrapped == ["tendon 'wrapped'"]
    pair.theirs.tendon_stiffness[4] = 0.0
    assert_same(pair)


# --- floating ---------------------------------------------------------------------------------------------------------------
ARM = """<mujoco><worldbody><body name="base" pos="1 2 3" euler="10 20 30"><geom size="0.1"/>
  <body name="link" pos="0 0 0.1"><joint name="j" axis="1 0 0"/><geom size="0.1"/></body></body></worldbody></mujoco>"""


def test_floating_puts_a_free_joint_under_the_one_body_of_the_world(tmp_path):
    theirs = pair_of(tmp_path, ARM.replace('<geom size="0.1"/>', '<freejoint name="base float"/><geom size="0.1"/>', 1))
    pair = pair_of(tmp_path, ARM, floating=True)
    pair.theirs, pair.data = theirs.theirs, theirs.data
    assert pair.model.q_names == theirs.model.q_names
    assert_close(pair.model.keyframes["qpos0"], theirs.model.keyframes["qpos0"], 1e-15)
    assert_same(pair)
    assert sh.load(tmp_path / "model.xml").nq == 1
    path = tmp_path / "walker.xml"
    path.write_text(WALKER)
    assert sh.load(path, floating=True).nq == 17


def test_floating_needs_one_body_that_stands_still(tmp_path):
    path = tmp_path / "model.xml"
    path.write_text(two_hinges())
    with pytest.raises(sh.FormatError, match="single body in the world; this one has 'one', 'two'"):
        sh.load(path, floating=True)
    path.write_text(SLIDER)
    with pytest.raises(sh.FormatError, match="'cart' has joints to the world already"):
        sh.load(path, floating=True)
