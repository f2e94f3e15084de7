"""The model the user builds: order, names, frames, states by name."""

from __future__ import annotations

import copy
import pickle
from contextlib import suppress
from dataclasses import FrozenInstanceError

import numpy as np
import pytest

import sharnir as sh
from sharnir.model.body import Body
from sharnir.model.import_report import ImportReport
from sharnir.model.mobility import degrees_of_freedom
from sharnir.model.visual import Visual
from states import assert_close


def arm():
    """Bodies and joints added the wrong way round, on purpose."""
    m = sh.Model("arm")
    for name in ("hand", "lower", "upper"):
        m.add_body(name, mass=1.0, com=(0.1, 0, 0), inertia=(0.1, 0.1, 0.1))
    m.add_joint("wrist", sh.Ball(), "lower", "hand", at=sh.Pose((0.4, 0, 0)))
    m.add_joint("elbow", sh.Universal("z", "x"), "lower", "upper", at=sh.Pose((-0.1, 0, 0)), child_at=sh.Pose((0.3, 0, 0)))
    m.add_joint("shoulder", sh.Revolute("z"), "ground", "upper")
    return m


def test_bodies_and_joints_stand_in_proper_order_whatever_the_order_of_building():
    m = arm()
    assert [b.name for b in m.bodies] == ["upper", "lower", "hand"]
    assert [j.name for j in m.joints] == ["shoulder", "elbow", "wrist"]
    assert m.parents == [-1, 0, 1]
    assert [(j.nq, j.nv) for j in m.joints] == [(1, 1), (2, 2), (4, 3)]
    assert (m.nq, m.nv) == (7, 6)
    assert [m.body_index(b.name) for b in m.bodies] == [0, 1, 2]
    assert repr(m) == "<Model 'arm': 3 bodies, 3 joints, 6 degrees of freedom>"


def test_every_coordinate_and_speed_has_a_name():
    m = arm()
    assert m.q_names == ["shoulder", "elbow.first", "elbow.second", "wrist.qw", "wrist.qx", "wrist.qy", "wrist.qz"]
    assert m.v_names == ["shoulder", "elbow.first", "elbow.second", "wrist.wx", "wrist.wy", "wrist.wz"]
    assert m.q_slice("wrist") == slice(3, 7) and m.v_slice("wrist") == slice(3, 6)
    every = sh.samples.all_joints(2)
    assert len(set(every.q_names)) == len(every.q_names) == every.nq == sum(j.nq for j in every.joints)
    assert len(set(every.v_names)) == len(every.v_names) == every.nv == sum(j.nv for j in every.joints)


def test_a_driven_coordinate_is_no_freedom():
    drive = {"first": sh.sin}
    assert sh.Universal("x", "y", motion=drive).q_names() == ("second",)
    assert sh.Revolute("x", motion=sh.sin).q_names() == () == sh.Ball(motion=lambda t: sh.Rotation.about("x", t)).v_names()
    assert repr(sh.Universal(motion=drive)) == "Universal(motion={'first': <function sin>})" and repr(sh.Weld()) == "Weld()"


def test_states_by_joint_name_are_arrays():
    m = arm()
    q = m.coordinates({"elbow": (0.1, 0.2), "shoulder": 0.3})
    assert np.array_equal(q, [0.3, 0.1, 0.2, 1, 0, 0, 0])  # the rest neutral
    v = m.speeds({"wrist": (1, 2, 3)})
    assert np.array_equal(v, [0, 0, 0, 1, 2, 3])
    assert np.array_equal(m.neutral(), m.coordinates(None)) and np.array_equal(m.coordinates(q), q)
    d = sh.Dynamics(m)
    by_name = d.forward({"elbow": (0.1, 0.2), "shoulder": 0.3}, {"wrist": (1, 2, 3)}, {"shoulder": 2.0})
    assert np.array_equal(by_name, d.forward(q, v, [2.0, 0, 0, 0, 0, 0]))
    wrench = np.zeros((3, 6))
    wrench[2, 1] = 5.0
    pushed = d.forward(q, v, wrenches={"hand": (0, 5, 0, 0, 0, 0)})
    assert np.array_equal(pushed, d.forward(q, v, wrenches=wrench))
    assert not np.array_equal(pushed, d.forward(q, v))
    assert np.array_equal(d.forward(), d.forward(m.neutral(), np.zeros(6), np.zeros(6), 0.0, np.zeros((3, 6))))


def test_random_coordinates_are_reproducible_and_quaternions_of_length_one():
    m = arm()
    q = m.random_q(5)
    assert np.array_equal(q, m.random_q(np.random.default_rng(5))) and not np.array_equal(q, m.random_q(6))
    assert abs(np.linalg.norm(q[3:]) - 1.0) < 1e-15
    assert np.abs(q[:3]).max() <= 1.0


def test_the_length_of_a_quaternion_means_nothing():
    d = sh.Dynamics(arm())
    q, v = d.model.random_q(1), np.arange(6.0)
    longer = q.copy()
    longer[3:] *= 3.0
    assert_close(d.forward(longer, v), d.forward(q, v), 1e-13)
    assert_close(d.rates(longer, v)[3:], 3.0 * d.rates(q, v)[3:], 1e-14)


def test_frames_name_places_for_joints():
    a, b = sh.Model(), sh.Model()
    for m in (a, b):
        m.add_body("link", mass=1.0, inertia=(1, 1, 1))
        m.add_body("tool", mass=1.0, inertia=(1, 1, 1))
        m.add_joint("base", sh.Revolute("z"), "ground", "link")
    flange, grip = sh.Pose((0.5, 0, 0), sh.Rotation.about("x", 0.3)), sh.Pose((0, 0.1, 0))
    a.add_frame("flange", "link", flange)
    a.add_frame("grip", "tool", grip)
    a.add_joint("mount", sh.Prismatic("x"), "link", "tool", at="flange", child_at="grip")
    b.add_joint("mount", sh.Prismatic("x"), "link", "tool", at=flange, child_at=grip)
    assert a.frames["flange"] == ("link", flange)
    assert np.array_equal(sh.Dynamics(a).forward([0.1, 0.2]), sh.Dynamics(b).forward([0.1, 0.2]))


def test_a_floating_body_falls_and_spins_by_euler():
    """mv̇ = mg in body axes; Jω̇ = −ω×Jω."""
    m = sh.Model("stone", gravity=(0, 0, -9.81))
    m.add_body("stone", mass=2.0, inertia=(0.2, 0.3, 0.4))
    joint = m.add_floating("stone")
    assert joint.name == "stone float" and m.q_names[0] == "stone float.x" and (m.nq, m.nv) == (7, 6)
    q, w, J = m.random_q(3), np.array([1.0, -2.0, 0.5]), np.diag([0.2, 0.3, 0.4])
    u = np.array([0.3, 0.2, 0.1])
    a = sh.Dynamics(m).forward(q, [*u, *w])
    down = sh.Rotation.quaternion(*q[3:]).matrix.T @ (0, 0, -9.81)
    assert_close(a[:3], down - np.cross(w, u), 1e-14)  # rate of the components in moving axes
    assert_close(a[3:], np.linalg.solve(J, -np.cross(w, J @ w)), 1e-14)


def test_a_mass_matrix_that_is_singular_in_floating_point_has_its_inverse_and_spoils_no_other():
    m = sh.samples.chain(2)
    m.add_body("far", 1.0, (0.0, 1e30, 0.0), (1.0, 1.0, 1.0))
    m.add_joint("far", sh.Revolute("x"), "link2", "far")
    mobility = m.freeze().tree.mobility[m.freeze().tree.alike]
    assert np.array_equal(mobility[3][3:, 3:], np.eye(3)) and mobility[3][0, 0] == 1e30 * 1e30
    other = sh.samples.chain(2).freeze().tree
    assert np.array_equal(mobility[1:3], other.mobility[other.alike][1:])


def test_a_copy_is_a_model_of_its_own():
    m = arm()
    before = sh.Dynamics(m).forward()
    other = m.copy()
    other.add_body("tool", mass=3.0, inertia=(1, 1, 1))
    other.add_joint("mount", sh.Weld(), "hand", "tool")
    assert other.nv == m.nv and len(other.bodies) == 4
    assert np.array_equal(sh.Dynamics(m).forward(), before)
    assert not np.allclose(sh.Dynamics(other).forward(), before)


@pytest.mark.parametrize("gravity", [(0, 0, -9.81), (0, 0, 0), [1, 2, 3]])
def test_gravity_is_the_acceleration_of_free_fall(gravity):
    m = sh.Model("fall", gravity=gravity)
    m.add_body("stone", mass=3.0, com=(0.1, 0.2, 0.3), inertia=(0.1, 0.1, 0.1))
    m.add_joint("free", sh.Translation(), "ground", "stone")
    assert_close(sh.Dynamics(m).forward(), np.array(gravity, dtype=float), 1e-14)


# --- reading, freezing, copying ---------------------------------------------------------------------------------------------
READINGS = {
    "sizes": lambda m, path: (m.nq, m.nv, m.parents, m.bodies, m.joints, m.closing_joints, m.constraints),
    "names": lambda m, path: (m.q_names, m.v_names, m.q_slice("A"), m.body_index("crank"), repr(m)),
    "states": lambda m, path: (m.neutral(), m.random_q(1), m.coordinates({"A": 0.1}), m.speeds(None)),
    "mobility": lambda m, path: m.mobility(),
    "assemble": lambda m, path: m.assemble({"A": 1.0, "B": -1.0, "C": 1.0}),
    "save": lambda m, path: m.save(path / "m.yaml"),
    "structure": lambda m, path: m.structure,
}


@pytest.mark.parametrize("what", READINGS)
def test_reading_does_not_freeze(what, tmp_path):
    m = sh.samples.four_bar()
    READINGS[what](m, tmp_path)
    m.add_body("weight", mass=2.0, inertia=(1, 1, 1))
    m.add_joint("weight", sh.Prismatic("x"), "coupler", "weight")
    m.gravity = (0.0, 0.0, 0.0)
    assert m.nv == 4 and len(m.bodies) == 4 and np.array_equal(m.structure.gravity, np.zeros(3))


def test_what_froze_a_model_is_named_and_a_failed_freeze_leaves_it_open():
    m = sh.Model("arm")
    with pytest.raises(sh.ModelError, match="no bodies yet"):
        m.freeze()
    m.add_body("a", mass=1.0)
    m.add_floating("a")
    m.freeze("by a test")
    m.freeze("by another")
    for change in (lambda: m.add_body("b"), lambda: setattr(m, "gravity", (0, 0, 0)), lambda: setattr(m, "base_motion", None)):
        with pytest.raises(sh.ModelError, match=r"model 'arm' was frozen by a test, .* change a copy: model\.copy\(\)"):
            change()


def test_gravity_numbering_and_the_motion_of_the_base_can_be_changed_after_reading():
    m = sh.samples.tree(6, branching=2.0)
    assert m.parents == [-1, 0, 1, 1, 0, 4]
    m.numbering = "leaves-last"
    m.gravity = [1, 2, 3]
    m.base_motion = lambda t: sh.Pose((t, 0.0, 0.0))
    assert m.parents == sh.Model.copy(m).parents != [-1, 0, 1, 1, 0, 4]
    assert m.gravity == (1.0, 2.0, 3.0) and m.structure.sizes["ng"] > 0


def everything():
    """A model with all that can be changed in one."""
    m = sh.samples.four_bar()
    m.add_frame("tip", "crank", sh.Pose((1.0, 0.0, 0.0)))
    m.add_force(sh.SpringDamper("crank", "rocker", stiffness=10.0, length=0.5), "spring")
    m.add_constraint(sh.Gear({"A": 1.0, "C": -1.0}), "gear")
    m.add_parameter("wind", 3.0)
    m.add_body("tool", mass=1.0, inertia=(1, 1, 1))
    m.add_joint("wrist", sh.Compound({"a": sh.Revolute("x", damping=0.1), "b": sh.Prismatic("y")}), "coupler", "tool")
    m.keyframes["home"] = m.neutral()
    m.simulation = sh.SimulationSettings(duration=1.0, q0={"A": 1.0})
    m.import_report = ImportReport("a file", strict=True)
    m.import_report.honoured("body", "body 'crank'")
    return m


def first_part(m):
    """The first joint inside the compound one."""
    parts = next(j for j in m.joints if j.name == "wrist").type.parts
    return parts[0][1] if isinstance(parts, tuple) else next(iter(parts.values()))[0]


COPIES = {
    "copy": sh.Model.copy,
    "copy.copy": copy.copy,
    "copy.deepcopy": copy.deepcopy,
    "pickle": lambda m: pickle.loads(pickle.dumps(m)),
}


@pytest.mark.parametrize("how", COPIES)
def test_a_copy_shares_nothing_that_can_change(how):
    m = everything()
    before = sh.dumps(m)
    m.freeze()
    other = COPIES[how](m)
    assert sh.dumps(other) == before and other.q_names == m.q_names
    assert str(other.import_report) == str(m.import_report) and other.import_report.strict
    changes = [
        lambda: setattr(other.forces["spring"], "stiffness", 99.0),
        lambda: other.parts.constraints["gear"].ratios.__setitem__("A", 5.0),
        lambda: setattr(other.joints[0].type, "damping", 7.0),
        lambda: setattr(first_part(other), "damping", 8.0),
    ]
    for change in changes:
        with suppress(FrozenInstanceError):  # what cannot change may be shared
            change()
    other.keyframes["home"][:] = 1.0
    other.simulation.q0["A"] = 2.0
    other.import_report.honoured("more", "there")
    other.add_frame("more", "crank", sh.Pose())
    other.add_parameter("more", 1.0)
    other.add_body("more", mass=1.0)
    other.add_floating("more")
    other.visuals.append(Visual("crank", "sphere", sizes=(0.1,)))
    other.gravity = (0, 0, 0)
    assert sh.dumps(m) == before
    assert not m.keyframes["home"].any() and len(m.import_report) == 1 and not m.visuals
    assert m.simulation.q0 == {"A": 1.0}
    assert sh.dumps(other) != before


def test_a_copy_with_shared_joint_types_shares_their_copies():
    m = sh.samples.chain(3)
    assert len({id(joint.type) for joint in m.copy().joints}) == 1


# --- what is shown ----------------------------------------------------------------------------------------------------------
def test_poses_rotations_and_bodies_can_be_pasted():
    names = {"Pose": sh.Pose, "Rotation": sh.Rotation, "Body": Body, "Rod": sh.Rod}
    for pose in (sh.Pose(), sh.Pose((1, 2, 3)), sh.Pose((1, 2, 3), sh.Rotation.about("x", 0.3))):
        again = eval(repr(pose), names)
        assert again.position == pose.position and again.rotation.entries == pose.rotation.entries
    assert repr(sh.Pose((1, 2, 3))) == "Pose((1.0, 2.0, 3.0))"
    body = sh.Model().add_body("a", np.float64(2.0), np.array([1.0, 2.0, 3.0]), np.eye(3))
    assert eval(repr(body), names) == body


def test_a_placed_joint_is_shown_as_it_was_added():
    m = sh.samples.four_bar()
    joint = m.closing_joints[0]
    shown = f"PlacedJoint('D', {joint.type!r}, 'coupler', 'rocker', at=Pose((1.0, 0.0, 0.0)), child_at=Pose((1.0, 0.0, 0.0)))"
    assert repr(joint) == shown


def test_a_model_is_shown_in_one_line():
    shown = {
        sh.samples.pendulum(): "<Model 'pendulum': 1 body, 1 joint, 1 degree of freedom>",
        sh.samples.four_bar(): "<Model 'four-bar': 3 bodies, 4 joints, 3 coordinates, 1 closed loop>",
        sh.samples.rolling_disc(): "<Model 'rolling disc': 1 body, 1 joint, 6 coordinates, 1 constraint>",
        sh.Model("empty"): "<Model 'empty': 0 bodies, 0 joints, 0 degrees of freedom>",
    }
    assert {repr(m): text for m, text in shown.items()} == {text: text for text in shown.values()}


def test_degrees_of_freedom_in_words():
    assert degrees_of_freedom(7) == "7 degrees of freedom" and degrees_of_freedom(1) == "1 degree of freedom"
    assert degrees_of_freedom(9, 8, 8) == "1 degree of freedom (9 coordinates, 8 constraints)"
    assert degrees_of_freedom(5, 6, 4) == "1 degree of freedom (5 coordinates, 6 constraints, 2 of them redundant)"
    bent = {"A": 1.0, "B": -1.0, "C": 1.0}
    assert degrees_of_freedom(9, 8) == "at least 1 degree of freedom (9 coordinates, 8 constraints)"
    assert str(sh.samples.four_bar().mobility(bent)).startswith("1 degree of freedom (3 coordinates, 2 constraints)")


def test_a_model_that_dynamics_refused_can_still_be_changed():
    m = sh.samples.four_bar()
    with pytest.raises(sh.MethodError, match="does not handle closed loops"):
        sh.Dynamics(m, "momentum")
    m.gravity = (0.0, 0.0, -1.0)
    sh.Dynamics(m)
    with pytest.raises(sh.ModelError, match="frozen by Dynamics"):
        m.gravity = (0.0, 0.0, -2.0)
