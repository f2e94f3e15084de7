"""Inverse kinematics: targets are met where they can be, by closed positions within the limits; what is not met is said."""

from __future__ import annotations

import math

import numpy as np
import pytest
from benchmarks.robots import urdf_of

import sharnir as sh
from sharnir.analysis.limits import bounded_step
from sharnir.analysis.reaching import read_targets

TIP = sh.Pose((1.0, 0.0, 0.0))


def planar(n: int, mass: float | None = 1.0, limits=None, couple: bool = False) -> sh.Model:
    """n links of 1 m in the xz plane; its frame "tool" is the end of the last."""
    m = sh.Model("planar arm")
    carrier = "ground"
    for k in range(n):
        m.add_body(f"link{k}", **({} if mass is None else {"mass": mass, "com": (0.5, 0, 0), "inertia": (0.01, 0.1, 0.1)}))
        m.add_joint(f"joint{k}", sh.Revolute("-y", limits=limits), carrier, f"link{k}", at=TIP if k else None)
        carrier = f"link{k}"
    m.add_frame("tool", carrier, TIP)
    if couple:
        m.couple("joint1", "joint0", ratio=2.0, offset=0.1)
    return m


def frame_pose(m: sh.Model, q: np.ndarray, name: str) -> sh.Pose:
    rotation, position = sh.Dynamics(m).poses(q)
    body, at = m.frames.get(name, (name, sh.Pose()))
    i = m.body_index(body)
    return sh.Pose(position[i], sh.Rotation(rotation[i])) @ at


def test_the_jacobian_of_a_target_is_the_derivative_of_its_misses():
    m = sh.samples.all_joints(3, driven=False, moving_base=False)
    body, rng = m.bodies[-1].name, np.random.default_rng(2)
    d, q, h = sh.Dynamics(m), m.random_q(rng), 1e-6
    goal = sh.Pose(rng.normal(size=3), sh.Rotation.rpy(*rng.normal(size=3)))
    (target,) = read_targets(m, {(body, (0.1, -0.2, 0.3)): goal}, (2.0, 0.5))
    J = target.rows(d, q, 0.0)[1]
    N = np.array([d.rates(q, e, 0.0) - d.rates(q, 0 * e, 0.0) for e in np.eye(m.nv)])
    differences = [(target.rows(d, q + h * dq, 0.0)[0] - target.rows(d, q - h * dq, 0.0)[0]) / (2 * h) for dq in N]
    np.testing.assert_allclose(J, np.transpose(differences), atol=1e-7 * np.abs(J).max())


@pytest.mark.parametrize("seed", range(20))
def test_a_bounded_step_satisfies_the_conditions_of_optimality(seed):
    """Within bounds and constraints; the gradient is carried by multipliers of the right sign."""
    rng = np.random.default_rng(seed)
    A, b, C = rng.normal(size=(4, 7)), rng.normal(size=4), rng.normal(size=(2, 7))
    low, high = -rng.uniform(0.0, 0.2, 7), rng.uniform(0.0, 0.2, 7)
    low[0] = high[0] = 0.0
    x = bounded_step(A, b, 1e-3, C, low, high)
    assert (x >= low).all() and (x <= high).all() and np.abs(C @ x).max() < 1e-14
    slope, inside = A.T @ (A @ x + b) + 1e-3 * x, (x > low) & (x < high)
    lam = np.linalg.lstsq(C[:, inside].T, -slope[inside], rcond=None)[0]
    carried = slope + C.T @ lam
    size = 1e-9 * np.abs(slope).max()
    assert np.abs(carried[inside]).max(initial=0.0) < size
    outer = ~inside & (low < high)
    assert (np.where(x >= high, -carried, carried)[outer] > -size).all()


@pytest.mark.parametrize(("robot", "tool"), [("ur5", "tool0"), ("panda", "panda_hand")])
def test_a_robot_reaches_every_pose_it_has(robot, tool):
    m, rng = sh.load(urdf_of(robot)), np.random.default_rng(11)
    limits = np.array([j.type.limits for j in m.joints if j.nq])
    for _ in range(25):
        goal = frame_pose(m, rng.uniform(limits[:, 0], limits[:, 1]), tool)
        found = sh.inverse_kinematics(m, {tool: goal})
        assert found.reached, found.summary()
        there = frame_pose(m, found.q, tool)
        np.testing.assert_allclose(there.position, goal.position, atol=1e-6)
        np.testing.assert_allclose(there.rotation.matrix, goal.rotation.matrix, atol=2e-6)
        assert (found.q >= limits[:, 0] - 1e-12).all() and (found.q <= limits[:, 1] + 1e-12).all()


def test_two_links_meet_a_point_as_the_law_of_cosines_says():
    found = sh.inverse_kinematics(planar(2), {"tool": (1.0, None, 0.5)}, {"joint1": -0.5})
    bend = math.acos((1.25 - 2.0) / 2.0)
    assert found.reached and abs(abs(found.q[1]) - bend) < 1e-9
    assert found.starts == 1 and found.iterations < 20


def test_of_all_positions_that_meet_a_target_the_nearest_to_the_start_is_taken():
    """At the least of |q − start|² the way there is orthogonal to every motion that leaves the tool in place."""
    m, start = planar(4), np.array([0.3, 0.4, -0.2, 0.5])
    found = sh.inverse_kinematics(m, {"tool": (2.0, None, 1.5)}, start)
    J = sh.Dynamics(m).jacobian(found.q, "link3", (1.0, 0, 0))[[0, 2]]
    way = found.q - start
    across = way - np.linalg.pinv(J) @ J @ way
    assert found.reached and np.abs(across).max() < 1e-3 * np.abs(way).max()
    still = sh.inverse_kinematics(m, {"tool": frame_pose(m, start, "tool")}, start)
    np.testing.assert_allclose(still.q, start, atol=1e-12)


def test_a_target_out_of_reach_is_approached_and_reported():
    found = sh.inverse_kinematics(planar(3), {"tool": (0.0, None, 4.5)}, starts=3)
    assert not found.reached and abs(found.position_errors["tool"] - 1.5) < 1e-6
    assert "'tool' stays 1.5 m short" in found.message and "1.5" in found.summary()
    tip = frame_pose(found.model, found.q, "tool").position
    np.testing.assert_allclose(tip, (0.0, 0.0, 3.0), atol=1e-3)
    with pytest.raises(sh.UnreachableError, match=r"1.5 m short") as error:
        sh.inverse_kinematics(planar(3), {"tool": (0.0, None, 4.5)}, starts=1, must_reach=True)
    assert not error.value.result.reached


def test_limits_of_joints_hold_and_those_at_a_limit_are_named():
    m = planar(3, limits=(-0.4, 0.4))
    found = sh.inverse_kinematics(m, {"tool": (0.0, None, 3.0)}, starts=4)
    assert not found.reached and np.abs(found.q).max() <= 0.4
    assert found.at_limit == ("joint0", "joint1", "joint2") and "at limit: joint0, joint1" in found.message
    np.testing.assert_allclose(found.q, 0.4)
    assert sh.inverse_kinematics(m, {"tool": (0.0, None, 3.0)}, limits=False).reached
    inside = sh.inverse_kinematics(m, {"tool": (2.8, None, 0.9)})
    assert inside.reached and np.abs(inside.q).max() <= 0.4


def test_limits_of_a_follower_bound_its_leader():
    m = planar(3, limits=(-1.0, 1.0), couple=True)  # joint1 = 2 joint0 + 0.1: joint0 is at most 0.45
    found = sh.inverse_kinematics(m, {"tool": (0.0, None, 3.0)}, starts=3)
    assert abs(found.q[0] - 0.45) < 1e-9 and "joint0" in found.at_limit


def test_a_start_beyond_the_limits_is_moved_within():
    found = sh.inverse_kinematics(planar(3, limits=(-0.4, 0.4)), {"tool": (2.8, None, 0.9)}, {"joint0": 2.0})
    assert found.reached and np.abs(found.q).max() <= 0.4


def test_fixed_joints_hold_their_values():
    m = planar(4)
    found = sh.inverse_kinematics(m, {"tool": (1.5, None, 1.0)}, {"joint1": 0.7, "joint2": 0.3}, fixed=["joint1"])
    assert found.reached and found.q[1] == 0.7 and found.q[2] != 0.3


@pytest.mark.parametrize(("first", "second"), [(1.0, 1.0), (1.0, 2.0), (3.0, 0.5)])
def test_weights_divide_what_cannot_be_met(first, second):
    """Two points of a slider that should both be at zero, 1 m apart: x is the mean by squared weights."""
    m = sh.Model("slider")
    m.add_body("car", mass=1.0)
    m.add_joint("x", sh.Prismatic("x"), "ground", "car")
    m.add_frame("front", "car", sh.Pose((1.0, 0.0, 0.0)))
    found = sh.inverse_kinematics(
        m, {"car": (0.0, None, None), "front": (0.0, None, None)}, weights={"car": first, "front": (second, 1.0)}, starts=1
    )
    x = -(second**2) / (first**2 + second**2)
    assert abs(found.q[0] - x) < 1e-9 and not found.reached
    assert abs(found.position_errors["front"] - (1.0 + x)) < 1e-9


def test_positions_rotations_and_points_can_be_targets():
    m = planar(3)
    turned = sh.Rotation.about("-y", 1.1)
    found = sh.inverse_kinematics(m, {"tool": turned, ("link1", (0.5, 0.0, 0.0)): (1.0, None, None)})
    assert found.reached and abs(found.q.sum() - 1.1) < 1e-6
    point = frame_pose(m, found.q, "link1") @ (0.5, 0.0, 0.0)
    assert abs(point[0] - 1.0) < 1e-6
    assert set(found.position_errors) == {"tool", "link1 at (0.5, 0, 0)"} and found.position_errors["tool"] == 0.0
    ignored = sh.inverse_kinematics(m, {"tool": sh.Pose((2.0, 5.0, 1.0), turned)}, weights=(0.0, 1.0))
    assert ignored.reached and abs(ignored.q.sum() - 1.1) < 1e-6


@pytest.mark.parametrize("seed", range(3))
def test_quaternions_move_in_their_tangent(seed):
    """A floating body with a ball joint: any pose of the base and of the hand at once."""
    from mechanisms import floating

    m, rng = floating(), np.random.default_rng(seed)
    q = m.random_q(rng)
    targets = {name: frame_pose(m, q, name) for name in ("base", "hand")}
    found = sh.inverse_kinematics(m, targets)
    assert found.reached, found.summary()
    for at in m.structure.quaternions:
        assert abs(np.linalg.norm(found.q[at : at + 4]) - 1.0) < 1e-12


def test_a_slider_crank_brings_its_piston_to_a_place():
    m = sh.samples.slider_crank()
    found = sh.inverse_kinematics(m, {"piston": (0.55, None, None)}, {"main": 0.5})
    crank = math.acos((0.2**2 + 0.55**2 - 0.5**2) / (2 * 0.2 * 0.55))
    assert found.reached and abs(abs(found.q[0]) - crank) < 1e-8
    assert found.constraint_residual < 1e-11 and "constraints" in found.summary()


def test_the_coupler_of_a_four_bar_reaches_poses_of_its_own_and_no_others():
    m = sh.samples.four_bar(1.0, 2.0, 1.5, 2.0)
    q, _ = m.assemble({"A": 1.3, "C": 1.7}, fixed=["A"])
    found = sh.inverse_kinematics(m, {"coupler": frame_pose(m, q, "coupler")}, m.assemble({"A": 0.8, "C": 1.2}, nearest=True)[0])
    assert found.reached and found.constraint_residual < 1e-11
    np.testing.assert_allclose(found.q, q, atol=1e-6)
    missed = sh.inverse_kinematics(m, {"coupler": (0.0, 2.0, None)}, q, starts=3)
    assert not missed.reached and abs(missed.position_errors["coupler"] - 1.0) < 1e-6 and missed.constraint_residual < 1e-11


def test_limits_hold_in_closed_loops_too():
    m = sh.Model("limited slider-crank")
    for name in ("crank", "rod", "piston"):
        m.add_body(name, mass=1.0, inertia=(1.0, 1.0, 1.0))
    m.add_joint("main", sh.Revolute("z", limits=(0.2, 0.9)), "ground", "crank")
    m.add_joint("crankpin", sh.Revolute("z"), "crank", "rod", at=sh.Pose((0.2, 0.0, 0.0)))
    m.add_joint("slide", sh.Prismatic("x"), "ground", "piston")
    m.add_joint("wristpin", sh.Revolute("z"), "rod", "piston", at=sh.Pose((0.5, 0.0, 0.0)), cut=True)
    found = sh.inverse_kinematics(m, {"piston": (0.45, None, None)}, {"main": 0.5}, starts=3)
    assert abs(found.q[0] - 0.9) < 1e-9 and found.at_limit == ("main",) and found.constraint_residual < 1e-11


def test_a_stewart_platform_reaches_poses_with_legs_of_the_right_length():
    m = sh.samples.stewart()
    q, _ = m.assemble()
    home = frame_pose(m, q, "platform")
    goal = sh.Pose(np.add(home.position, (0.05, -0.03, 0.08)), sh.Rotation.rpy(0.05, 0.08, 0.1) @ home.rotation)
    found = sh.inverse_kinematics(m, {"platform": goal}, q)
    assert found.reached and found.constraint_residual < 1e-10
    joints = {j.name: j for j in (*m.joints, *m.closing_joints)}
    for k in range(6):
        way = np.subtract(goal @ joints[f"head{k}"].child_at.position, joints[f"foot{k}"].at.position)
        length = found.q[m.q_slice(f"leg{k}")][0] + joints[f"leg{k}"].at.position[2]
        assert abs(length - np.linalg.norm(way)) < 1e-8


def test_a_model_without_masses_has_inverse_kinematics():
    assert sh.inverse_kinematics(planar(3, mass=None), {"tool": (1.2, None, 0.6)}).reached


def test_driven_joints_are_where_they_are_at_that_time():
    m = sh.Model("driven")
    m.add_body("table", mass=1.0, inertia=(1, 1, 1))
    m.add_body("arm", mass=1.0, inertia=(1, 1, 1))
    m.add_joint("turn", sh.Revolute("z", motion=lambda t: 0.5 * t), "ground", "table")
    m.add_joint("slide", sh.Prismatic("x"), "table", "arm")
    found = sh.inverse_kinematics(m, {"arm": (2 * math.cos(0.5), 2 * math.sin(0.5), 0.0)}, t=1.0)
    assert found.reached and abs(found.q[0] - 2.0) < 1e-9


def test_random_starts_are_those_of_the_seed():
    m = planar(3, limits=(-2.0, 2.0))
    goal = {"tool": sh.Pose((-1.0, 0.0, 0.5), sh.Rotation.about("-y", 2.5))}
    one, two = (sh.inverse_kinematics(m, goal, seed=4) for _ in range(2))
    np.testing.assert_array_equal(one.q, two.q)


def test_a_mechanism_that_cannot_be_closed_says_why():
    m = sh.samples.four_bar(0.2, 0.2, 0.2, 2.0)
    with pytest.raises(sh.AssemblyError, match="'D'"):
        sh.inverse_kinematics(m, {"coupler": (0.0, 0.2, None)}, starts=1)


@pytest.mark.parametrize(("arguments", "error", "says"), [
    (({},), sh.StateError, "at least one"),
    (({"tol": (0, 0, 0)},), sh.ModelError, "did you mean 'tool'"),
    (({"ground": (0, 0, 0)},), sh.ModelError, "ground"),
    (({"tool": (0, 0)},), sh.StateError, "three numbers"),
    (({"tool": (0, 0, "up")},), sh.StateError, "three numbers"),
    (({"tool": (None, None, None)},), sh.StateError, "three numbers"),
    (({"tool": (0, 0, math.nan)},), sh.StateError, "three numbers"),
    (({"tool": (0, 0, 0)}, {"joint9": 1.0}), sh.ModelError, "did you mean 'joint"),
    (({"tool": (0, 0, 0)}, [0.0]), sh.StateError, r"q: expected \(3,\)"),
], ids=str)  # fmt: skip
def test_bad_arguments_are_refused(arguments, error, says):
    with pytest.raises(error, match=says):
        sh.inverse_kinematics(planar(3), *arguments)


@pytest.mark.parametrize(("options", "error", "says"), [
    ({"fixed": ["joint9"]}, sh.ModelError, "did you mean 'joint"),
    ({"fixed": "joint0"}, sh.StateError, "a list"),
    ({"weights": -1.0}, sh.StateError, "none negative"),
    ({"weights": {"tol": 1.0}}, sh.StateError, "did you mean 'tool'"),
    ({"weights": (0.0, 1.0)}, sh.StateError, "nothing to be met"),
    ({"limits": "no"}, sh.StateError, "limits"),
    ({"starts": 0}, sh.StateError, "starts"),
    ({"tolerance": 0.0}, sh.StateError, "tolerance"),
    ({"seed": "x"}, sh.StateError, "seed"),
    ({"t": math.inf}, sh.StateError, "t:"),
], ids=str)  # fmt: skip
def test_bad_options_are_refused(options, error, says):
    with pytest.raises(error, match=says):
        sh.inverse_kinematics(planar(3), {"tool": (1.0, None, 1.0)}, **options)
