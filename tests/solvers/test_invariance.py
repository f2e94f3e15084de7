"""What is only a way of describing a mechanism changes nothing physical: numbers, order, direction of joints, frames."""

from __future__ import annotations

import math

import numpy as np
import pytest

import sharnir as sh
from sharnir.forms import FORMS
from states import assert_close, random_axis, random_mass, random_pose

SEEDS = range(8)
T0 = 0.8


def base(t):
    return sh.Pose((sh.sin(t), 0.3 * t * t, 0.5 * sh.cos(2 * t)), sh.Rotation.rpy(0.3 * t, sh.sin(t), 0.2 * t * t))


def rebuild(model, bodies=None, joints=None, **options):
    """The same parts put together anew: in another order, on a moving base."""
    parts = model.bodies, model.joints
    new = sh.Model(model.name, **({"gravity": model.gravity, "base_motion": base} | options))
    for i in bodies if bodies is not None else range(len(parts[0])):
        b = parts[0][i]
        new.add_body(b.name, mass=b.mass, com=b.com, inertia=b.inertia)
    for i in joints if joints is not None else range(len(parts[1])):
        j = parts[1][i]
        new.add_joint(j.name, j.type, j.parent, j.child, at=j.at, child_at=j.child_at)
    return new


def named_state(model, seed):
    """Coordinates, speeds, joint forces by joint; wrenches by body."""
    rng = np.random.default_rng((seed, 3))
    q, v, tau = model.random_q(rng), rng.normal(size=model.nv), rng.normal(size=model.nv)
    by_q = {j.name: q[model.q_slice(j.name)] for j in model.joints}
    by_v = {j.name: v[model.v_slice(j.name)] for j in model.joints}
    by_tau = {j.name: tau[model.v_slice(j.name)] for j in model.joints}
    return by_q, by_v, by_tau, {b.name: rng.normal(size=6) for b in model.bodies}


def outcome(model, state):
    """What can be seen from outside, by name: accelerations of coordinates; poses, motions and reactions in the world."""
    q, v, tau, wrenches = state
    m = sh.matrices(model, q, v, T0, wrenches)
    solution = FORMS["extended"](m, model.speeds(tau))
    R, r = m.poses
    spread = np.kron(np.eye(2), R)  # body axes to world, for both halves of a six-vector
    seen = {"R": solution.R, "v": m.v.reshape(-1, 6), "vdot": solution.vdot}
    bodies = {
        b.name: {"r": r[i], "axes": R[i]} | {name: spread[i] @ x[i] for name, x in seen.items()}
        for i, b in enumerate(model.bodies)
    }
    return {j.name: solution.qdd[model.v_slice(j.name)] for j in model.joints}, bodies


def assert_same(actual, expected, tolerance=1e-10):
    size = {k: max(np.abs(b[k]).max() for b in expected[1].values()) for k in ("r", "axes", "R", "v", "vdot")}
    fast = max(np.abs(a).max(initial=0.0) for a in expected[0].values())
    assert actual[0].keys() == expected[0].keys()
    for joint, a in expected[0].items():
        assert_close(actual[0][joint], a, tolerance, scale=fast, what=f"acceleration of {joint}")
    for body, values in expected[1].items():
        for k, x in values.items():
            assert_close(actual[1][body][k], x, tolerance, scale=size[k], what=f"{k} of {body}")


# --- numbers and order --------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("seed", SEEDS)
def test_numbering_leaves_last_changes_nothing(seed):
    parts = sh.samples.all_joints(seed, moving_base=False)
    a, b = rebuild(parts), rebuild(parts, numbering="leaves-last")
    assert [x.name for x in a.bodies] != [x.name for x in b.bodies]
    state = named_state(a, seed)
    assert_same(outcome(b, state), outcome(a, state))


@pytest.mark.parametrize("seed", SEEDS)
def test_the_order_of_building_changes_nothing(seed):
    parts = sh.samples.all_joints(seed, moving_base=False)
    rng = np.random.default_rng(seed)
    n = len(parts.bodies)
    a, b = rebuild(parts), rebuild(parts, rng.permutation(n), rng.permutation(n))
    state = named_state(a, seed)
    assert_same(outcome(b, state), outcome(a, state))


# --- the direction of joints ----------------------------------------------------------------------------------------------------
def minus(axis):
    return tuple(-x for x in axis)


def inverse_custom(dof, pose):
    return sh.CustomJoint(dof, pose), sh.CustomJoint(dof, lambda q, t: pose(q, t).inverse())


def inverted(rng):
    """Joints, the joints of the inverse motion in the same coordinates, and the order these take there."""
    u, w, y = random_axis(rng), random_axis(rng), (lambda t: 0.3 * sh.sin(2 * t))
    planar = inverse_custom(3, lambda q, t: sh.Pose((q[0], q[1], 0.0), sh.Rotation.about("z", q[2])))
    custom = inverse_custom(2, lambda q, t: sh.Pose((q[0], sh.sin(q[1]), t), sh.Rotation.about(u, q[0] * q[1] + t)))
    return [
        (sh.Revolute(u), sh.Revolute(minus(u)), None),
        (sh.Prismatic(u), sh.Prismatic(minus(u)), None),
        (sh.Screw(u, pitch=0.2), sh.Screw(minus(u), pitch=0.2), None),
        (sh.Cylindrical(u), sh.Cylindrical(minus(u)), None),
        (sh.Universal(u, w), sh.Universal(minus(w), minus(u)), [1, 0]),
        (sh.Planar(), planar[1], None),
        (sh.Translation(), sh.CustomJoint(3, lambda q, t: sh.Pose((-q[0], -q[1], -q[2]))), None),
        (*custom, None),
        (sh.Weld(), sh.Weld(), None),
        (sh.Revolute(u, motion=y), sh.Revolute(minus(u), motion=y), None),
        (sh.Ball(motion=lambda t: sh.Rotation.about(u, y(t))), sh.Ball(motion=lambda t: sh.Rotation.about(u, -y(t))), None),
    ]


@pytest.mark.parametrize("seed", SEEDS)
def test_a_joint_swapped_and_inverted_is_the_same_joint(seed):
    """Parent and child, at and child_at exchanged, the motion inverted: the coordinate keeps its meaning."""
    rng = np.random.default_rng((seed, 5))
    a, b = (sh.Model("swapped", (1.0, 2.0, -9.0), base) for _ in range(2))
    kinds = inverted(rng)
    orders = {}
    for i, k in enumerate(rng.permutation(len(kinds))):
        joint, other, order = kinds[k]
        body, carrier = f"body{i}", "ground" if i == 0 else f"body{rng.integers(max(0, i - 3), i)}"
        at, child_at, mass = random_pose(rng), random_pose(rng), random_mass(rng)
        ends = (carrier, body) if rng.random() < 0.5 else (body, carrier)
        orders[f"joint{i}"] = order or list(range(len(joint.v_names())))
        for model in (a, b):
            model.add_body(body, **mass)
        a.add_joint(f"joint{i}", joint, *ends, at=at, child_at=child_at)
        b.add_joint(f"joint{i}", other, *ends[::-1], at=child_at, child_at=at)
    state = named_state(a, seed)
    turned = tuple({name: x[orders[name]] for name, x in part.items()} for part in state[:3])
    expected, actual = outcome(a, state), outcome(b, (*turned, state[3]))
    back = {name: x[np.argsort(orders[name])] for name, x in actual[0].items()}
    assert_same((back, actual[1]), expected)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("free", [False, True], ids=["ball", "free"])
def test_quaternion_joints_swapped_are_the_same_joints(free, seed):
    """From its other end a joint turns by the conjugate quaternion, with angular velocity −Rω."""
    rng = np.random.default_rng((seed, 6))
    at, child_at, mass, joint = random_pose(rng), random_pose(rng), random_mass(rng), sh.Free if free else sh.Ball
    models = [sh.Model("quaternion", (1.0, 2.0, -9.0), base) for _ in range(2)]
    for model, swap in zip(models, (False, True), strict=True):
        model.add_body("body", **mass)
        model.add_body("tip", **mass)
        ends, places = ("ground", "body"), (at, child_at)
        model.add_joint("joint", joint(), *(ends[::-1] if swap else ends), *(places[::-1] if swap else places))
        model.add_joint("hinge", sh.Revolute("x"), "body", "tip", at=at)
    q, v, _, wrenches = named_state(models[0], seed)
    x = np.concatenate([[0.0] * 3, q["joint"]])[-7:]
    u = np.concatenate([[0.0] * 3, v["joint"]])[-6:]
    R = sh.Rotation.quaternion(*x[3:]).matrix
    other_x = np.concatenate([-R.T @ x[:3], x[3:] * (1, -1, -1, -1)])
    other_u = np.concatenate([R @ (np.cross(u[3:], R.T @ x[:3]) - u[:3]), -R @ u[3:]])
    states = (q, v), (q | {"joint": other_x[0 if free else 3 :]}, v | {"joint": other_u[0 if free else 3 :]})
    (a, expected), (b, actual) = (outcome(m, (*s, {"hinge": 1.0}, wrenches)) for m, s in zip(models, states, strict=True))
    assert_same(({"hinge": b["hinge"]}, actual), ({"hinge": a["hinge"]}, expected))


# --- frames -----------------------------------------------------------------------------------------------------------------
def in_frame(X, wrench):
    """A wrench at the origin of a body, in a frame X of that body."""
    R, x = X.rotation.matrix, np.array(X.position)
    return np.concatenate([R.T @ wrench[:3], R.T @ (wrench[3:] - np.cross(x, wrench[:3]))])


@pytest.mark.parametrize("seed", SEEDS)
def test_the_reference_frame_of_a_body_changes_nothing(seed):
    """com, inertia, at and child_at in other axes at another point: same q̈, same motion of matter, same reactions."""
    parts = sh.samples.all_joints(seed, moving_base=False)
    a, rng = rebuild(parts), np.random.default_rng((seed, 9))
    frames = {"ground": sh.Pose()} | {b.name: random_pose(rng) for b in parts.bodies}
    b = sh.Model("other frames", parts.gravity, base)
    for body in parts.bodies:
        X = frames[body.name]
        R = X.rotation.matrix
        b.add_body(body.name, mass=body.mass, com=X.inverse() @ body.com, inertia=R.T @ body.inertia_matrix() @ R)
    for j in parts.joints:
        at, child_at = frames[j.parent].inverse() @ j.at, frames[j.child].inverse() @ j.child_at
        b.add_joint(j.name, j.type, j.parent, j.child, at=at, child_at=child_at)
    q, v, tau, wrenches = named_state(a, seed)
    expected = outcome(a, (q, v, tau, wrenches))
    actual = outcome(b, (q, v, tau, {body: in_frame(frames[body], w) for body, w in wrenches.items()}))
    for body, x in expected[1].items():  # what the other frame's origin does
        axes, arm = x["axes"], x["axes"] @ frames[body].position
        w, e = x["v"][3:], x["vdot"][3:]
        x["r"] = x["r"] + arm
        x["v"] = x["v"] + np.concatenate([np.cross(w, arm), np.zeros(3)])
        x["vdot"] = x["vdot"] + np.concatenate([np.cross(e, arm) + np.cross(w, np.cross(w, arm)), np.zeros(3)])
        x["R"] = x["R"] - np.concatenate([np.zeros(3), np.cross(arm, x["R"][:3])])
        x["axes"] = axes @ frames[body].rotation.matrix
    assert_same(actual, expected)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_axes_of_the_world_change_nothing(seed):
    """Gravity and the base turned together: every q̈ stays."""
    parts = sh.samples.all_joints(seed, moving_base=False)
    X = random_pose(np.random.default_rng(seed))
    a = rebuild(parts)
    b = rebuild(parts, gravity=X.rotation @ parts.gravity, base_motion=lambda t: X @ base(t))
    state = named_state(a, seed)
    expected, actual = outcome(a, state)[0], outcome(b, state)[0]
    size = max(np.abs(x).max(initial=0.0) for x in expected.values())
    for joint in expected:
        assert_close(actual[joint], expected[joint], scale=size)


def test_a_falling_frame_is_a_frame_without_gravity():
    """The base falls freely: inside, the mechanism does not know that there is gravity."""
    parts = sh.samples.all_joints(3, moving_base=False)
    g = parts.gravity
    falling = rebuild(parts, base_motion=lambda t: sh.Pose([x * t * t / 2 for x in g]))
    weightless = rebuild(parts, gravity=(0, 0, 0), base_motion=None)
    state = named_state(falling, 1)
    (a, x), (b, y) = outcome(falling, state), outcome(weightless, state)
    size = max(np.abs(v).max(initial=0.0) for v in b.values())
    for joint in a:
        assert_close(a[joint], b[joint], scale=size)
    for body in x:
        assert_close(x[body]["R"], y[body]["R"], scale=max(np.abs(z["R"]).max() for z in y.values()))


def test_a_quarter_turn_of_the_angle_and_of_the_frame_are_one():
    a, b = (sh.Model("hinge", gravity=(0, -9.81, 0)) for _ in range(2))
    for model in (a, b):
        model.add_body("bar", mass=1.0, com=(0.5, 0.1, 0.0), inertia=(0.01, 0.08, 0.09))
    a.add_joint("hinge", sh.Revolute("z"), "ground", "bar")
    b.add_joint("hinge", sh.Revolute("z"), "ground", "bar", at=sh.Pose(rotation=sh.Rotation.about("z", math.pi / 2)))
    assert_close(sh.Dynamics(b).forward([0.2], [1.0]), sh.Dynamics(a).forward([0.2 + math.pi / 2], [1.0]), 1e-14)
