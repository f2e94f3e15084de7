"""The model the user builds: order, names, frames, states by name."""

from __future__ import annotations

import numpy as np
import pytest

import sharnir as sh
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
    assert repr(m) == "Model('arm', 3 bodies, 3 joints)"


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


def test_a_mass_matrix_that_is_singular_in_floating_point_spoils_no_other():
    m = sh.samples.chain(2)
    m.add_body("far", 1.0, (0.0, 1e30, 0.0), (1.0, 1.0, 1.0))
    m.add_joint("far", sh.Revolute("x"), "link2", "far")
    mobility = m.freeze().tree.mobility[m.freeze().tree.alike]
    assert np.isnan(mobility[3]).all()
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
