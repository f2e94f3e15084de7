"""A joint given by what it forbids (ZᵀA = 0, [I] §2.1) moves as the same joint given by its motions."""

from __future__ import annotations

import numpy as np
import pytest

import sharnir as sh
from joint_table import PITCH, alone, seen, wave
from sharnir.forms import FORMS
from sharnir.model.pose import quaternion_of
from states import assert_close, interpreted, random_axis, random_mass, random_pose

T0 = 0.6


def x(pose):
    """Entry R[row][column], numbered from one, and positions."""
    e, (px, py, pz) = pose.rotation.entries, pose.position
    return {(i + 1, j + 1): e[3 * i + j] for i in range(3) for j in range(3)} | {"x": px, "y": py, "z": pz}


def revolute(pose, t):
    p = x(pose)
    return p["x"], p["y"], p["z"], p[1, 3], p[2, 3]


def cylindrical(pose, t):
    p = x(pose)
    return p["x"], p["y"], p[1, 3], p[2, 3]


def screw(pose, t):
    p = x(pose)
    return p["x"], p["y"], p[1, 3], p[2, 3], p["z"] - PITCH * sh.atan2(p[2, 1], p[1, 1])


def prismatic(pose, t):
    p = x(pose)
    return p["x"], p["y"], p[1, 2], p[1, 3], p[2, 3]


def universal(pose, t):
    p = x(pose)  # the carrier's x axis stays at right angles to the body's y axis
    return p["x"], p["y"], p["z"], p[1, 2]


def ball(pose, t):
    return pose.position


def planar(pose, t):
    p = x(pose)
    return p["z"], p[1, 3], p[2, 3]


def translation(pose, t):
    p = x(pose)
    return p[1, 2], p[1, 3], p[2, 3]


def driven_revolute(pose, t):
    p = x(pose)
    return (*revolute(pose, t), sh.atan2(p[2, 1], p[1, 1]) - wave(1)[0](t) + wave(1)[0](0.0))


def driven_planar(pose, t):
    p = x(pose)
    return (*planar(pose, t), p["y"] - (wave(2)[0](t) - wave(2)[0](0.0)))


PAIRS = {
    "revolute": (sh.Revolute("z"), revolute),
    "cylindrical": (sh.Cylindrical("z"), cylindrical),
    "screw": (sh.Screw("z", pitch=PITCH), screw),
    "prismatic": (sh.Prismatic("z"), prismatic),
    "universal": (sh.Universal("x", "y"), universal),
    "ball": (sh.Ball(), ball),
    "planar": (sh.Planar(), planar),
    "translation": (sh.Translation(), translation),
    "driven revolute": (sh.Revolute("z", motion=lambda t: wave(1)[0](t) - wave(1)[0](0.0)), driven_revolute),
    "driven planar": (sh.Planar(motion={"y": lambda t: wave(2)[0](t) - wave(2)[0](0.0)}), driven_planar),
}


def tree(joint: sh.Joint, swapped: bool) -> sh.Model:
    """The joint in the middle of a tree, with a branch on the body it moves."""
    rng = np.random.default_rng(1)
    m = sh.Model("tree", gravity=(1.0, 2.0, -9.0))
    for name in "abcd":
        m.add_body(name, **random_mass(rng))
    ends = ("b", "a") if swapped else ("a", "b")
    for name, kind, parent, child in (
        ("first", sh.Revolute(random_axis(rng)), "ground", "a"),
        ("tested", joint, *ends),
        ("left", sh.Universal(random_axis(rng), random_axis(rng)), "b", "c"),
        ("right", sh.Prismatic(random_axis(rng)), "b", "d"),
    ):
        m.add_joint(name, kind, parent, child, at=random_pose(rng), child_at=random_pose(rng))
    return m


def restated(joint, other, q, v):
    """The same state of the bare joint in the coordinates and speeds of its constraint form; equal velocities are asserted."""
    here = seen(alone(joint), q, v, T0)
    pose = sh.Pose(here["rho"], here["G"].T)
    coordinates = np.array([*pose.position, *quaternion_of(pose.rotation)])
    n = len(other.v_names())
    there = seen(alone(other), coordinates, np.zeros(n), T0)
    speeds = np.linalg.lstsq(there["A"], here["v_r"] - there["phi"], rcond=None)[0] if n else np.zeros(0)
    assert_close(there["A"] @ speeds + there["phi"], here["v_r"], 1e-12, scale=1.0)
    return coordinates, speeds


@pytest.mark.parametrize("swapped", [False, True], ids=["", "swapped"])
@pytest.mark.parametrize("name", PAIRS)
def test_constraints_give_the_same_motion_as_the_tangent_form(name, swapped):
    """Same velocity state, same accelerations of all bodies and same reactions, whichever basis came first."""
    joint, constraints = PAIRS[name]
    other = sh.ConstraintJoint(constraints)
    a, b = tree(joint, swapped), tree(other, swapped)
    rng = np.random.default_rng(2)
    q, v, wrenches = a.random_q(rng), rng.normal(size=a.nv), rng.normal(size=(4, 6))
    parts = {j: (q[a.q_slice(j)], v[a.v_slice(j)]) for j in ("first", "tested", "left", "right")}
    parts["tested"] = restated(joint, other, *parts["tested"])
    tau = {"first": 1.5, "left": (0.3, -0.2), "right": -0.7}  # none in the joint itself: its speeds have other names
    x = sh.matrices(a, q, v, T0, wrenches)
    y = sh.matrices(b, {j: p[0] for j, p in parts.items()}, {j: p[1] for j, p in parts.items()}, T0, wrenches)
    assert_close(y.v, x.v, 1e-12)
    first, second = FORMS["extended"](x, a.speeds(tau)), FORMS["extended"](y, b.speeds(tau))
    assert_close(second.vdot, first.vdot, 1e-10)
    assert_close(second.R, first.R, 1e-10)
    for j in tau:
        assert_close(second.qdd[b.v_slice(j)], first.qdd[a.v_slice(j)], 1e-10, scale=np.abs(first.qdd).max())


def test_speeds_are_the_velocity_components_the_constraints_leave():
    names = {name: sh.ConstraintJoint(constraints).v_names() for name, (_, constraints) in PAIRS.items()}
    assert names["revolute"] == ("wz",)
    assert names["cylindrical"] == ("vz", "wz")
    assert names["prismatic"] == ("vz",)
    assert names["ball"] == ("wx", "wy", "wz")
    assert names["planar"] == ("vx", "vy", "wz")
    assert names["translation"] == ("vx", "vy", "vz")
    assert names["driven revolute"] == ()
    assert {name: len(v) for name, v in names.items()} == {name: len(joint.v_names()) for name, (joint, _) in PAIRS.items()}


def test_reactions_stay_in_the_space_of_the_constraint_gradients():
    """R = Zλ with Z = ∂ξ/∂x: the bar of a pendulum pulls along the bar."""
    joint = sh.ConstraintJoint(lambda pose, t: [sum(c * c for c in pose.position) - 1.0], start=sh.Pose((1.0, 0.0, 0.0)))
    m = sh.Model("a ball on an invisible thread", gravity=(0.0, -9.81, 0.0))
    m.add_body("ball", mass=2.0, inertia=(0.1, 0.1, 0.1))
    m.add_joint("thread", joint, "ground", "ball")
    x = np.array([0.6, -0.8, 0.0])
    q = np.array([*x, 1.0, 0.0, 0.0, 0.0])
    velocity = np.array([0.8, 0.6, 0.5])
    speeds = {"vx": 0, "vy": 1, "vz": 2}
    v = np.array([velocity[speeds[n]] if n in speeds else 0.0 for n in joint.v_names()])
    R = interpreted(m).reactions(q, v)[0]
    tension = 2.0 * (velocity @ velocity + 9.81 * 0.8)  # m(v²/l + g cos)
    assert_close(R, [*(-tension * x), 0.0, 0.0, 0.0], 1e-12)


def test_a_simulated_joint_stays_on_its_constraints():
    """Its coordinates are more than its freedoms: they are put right after every step."""
    m = sh.Model("bead", gravity=(0.0, 0.0, -9.81))
    m.add_body("bead", mass=1.0, inertia=(0.1, 0.1, 0.1))

    def ring(pose, t):
        x, y, z = pose.position
        return x * x + z * z - 1.0, y

    m.add_joint("ring", sh.ConstraintJoint(ring, start=sh.Pose((0.6, 0.0, -0.8))), "ground", "bead")
    r = sh.simulate(m, 20.0, integrator="rk4", step=0.01, output=None, method="separate")
    x, y, z = r.point("bead").T
    assert np.abs(x * x + z * z - 1.0).max() < 1e-12 and np.abs(y).max() < 1e-12
    assert np.abs(np.linalg.norm(r.q[:, 3:7], axis=1) - 1.0).max() < 1e-14
    assert np.ptp(x) > 1.19 and np.abs(r.energy.defect).max() < 1e-4
