"""One joint: its pose, axes A, φ and ψ ([I] (2.2)–(2.6)) are those of the motion it stands for, from either end."""

from __future__ import annotations

import numpy as np
import pytest

import sharnir as sh
from joint_table import JOINTS, RESTATED, alone, moving, seen, wave
from sharnir.model import joints
from sharnir.model.pose import quaternion_of
from states import assert_close, derivative, random_pose

T0 = 0.7


def placed(rng):
    return {"at": random_pose(rng), "child_at": random_pose(rng)}


def state(model, seed=0):
    rng = np.random.default_rng(seed)
    return model.random_q(rng), rng.normal(size=model.nv)


def matrix(pose: sh.Pose) -> np.ndarray:
    out = np.eye(4)
    out[:3, :3], out[:3, 3] = pose.rotation.matrix, pose.position
    return out


def pose_of(values) -> np.ndarray:
    return matrix(sh.Pose(values["rho"], values["G"].T))


def test_the_table_contains_every_joint_type():
    assert {j.type_name for j in JOINTS.values()} >= set(joints.__all__) - {"Joint"}


@pytest.mark.parametrize("swapped", [False, True], ids=["", "swapped"])
@pytest.mark.parametrize("name", RESTATED)
def test_a_custom_joint_that_restates_a_built_in_one_is_the_same(name, swapped):
    built, dof, pose = RESTATED[name]
    where = placed(np.random.default_rng(3))
    a, b = alone(built, swapped, **where), alone(sh.CustomJoint(dof, pose), swapped, **where)
    q, v = state(a)
    expected, actual = seen(a, q, v, T0), seen(b, q, v, T0)
    for part in expected:
        assert_close(actual[part], expected[part], 1e-12, scale=1.0, what=part)


@pytest.mark.parametrize("swapped", [False, True], ids=["", "swapped"])
@pytest.mark.parametrize("name", [name for name, (_, dof, _) in RESTATED.items() if dof] + ["custom"])
def test_a_driven_joint_is_the_free_one_moved_by_hand(name, swapped):
    """q = f(t): the same pose, φ = A ḟ, ψ = ψ_free + A f̈."""
    free = RESTATED[name][0] if name in RESTATED else sh.CustomJoint(2, moving)
    waves = [wave(k + 1.0) for k in range(len(free.coordinates))]
    motion = {c: w[0] for c, w in zip(free.coordinates, waves, strict=True)}
    driven = free.driven(motion)
    where = placed(np.random.default_rng(4))
    q, v, a = (np.array([float(w[k](T0)) for w in waves]) for k in range(3))
    expected, actual = seen(alone(free, swapped, **where), q, v, T0), seen(alone(driven, swapped, **where), [], [], T0)
    assert actual["A"].shape == (6, 0)
    for part in ("rho", "G", "v_r"):
        assert_close(actual[part], expected[part], 1e-12, scale=1.0, what=part)
    assert_close(actual["phi"], expected["v_r"], 1e-12)
    assert_close(actual["psi"], expected["psi"] + expected["A"] @ a, 1e-12)


@pytest.mark.parametrize("swapped", [False, True], ids=["", "swapped"])
@pytest.mark.parametrize("free", [False, True], ids=["ball", "free"])
def test_euler_angles_restate_the_quaternion_joints(free, swapped):
    """Other coordinates, other speeds u = N(q)q̇: same pose, v^r and span of A; A_u(N q̈ + Ṅq̇) + ψ_u = A_q q̈ + ψ_q."""

    def pose(q, t):
        return sh.Pose(q[3:] if free else (0, 0, 0), sh.Rotation.rpy(*q[:3]))

    custom, built = sh.CustomJoint(6 if free else 3, pose), sh.Free() if free else sh.Ball()
    where = placed(np.random.default_rng(5))
    a, b = alone(custom, swapped, **where), alone(built, swapped, **where)
    q, v = state(a)
    here = pose(q, 0.0)
    other = (*(here.position if free else ()), *quaternion_of(here.rotation))
    own = seen(alone(custom), q, v, T0)  # without placements u is v^r, and its rate dA·v
    rows = slice(None) if free else slice(3, 6)
    u, u_rate = own["v_r"][rows], (own["dA"] @ v)[rows]
    x, y = seen(a, q, v, T0), seen(b, other, u, T0)
    for part in ("rho", "G", "v_r", "phi"):
        assert_close(y[part], x[part], 1e-12, scale=1.0, what=part)
    assert_close(y["psi"] + y["A"] @ u_rate, x["psi"], 1e-12)
    assert_close(y["A"] @ own["A"][rows], x["A"], 1e-12)


@pytest.mark.parametrize("swapped", [False, True], ids=["", "swapped"])
@pytest.mark.parametrize("name", JOINTS)
def test_velocity_axes_and_acceleration_are_derivatives_of_the_pose(name, swapped):
    """v^r from ρ̇ and Ġ (2.3), (2.4); v^r = A q̇ + φ (2.5); Ȧ; ψ = d/dt v^r at q̈ = 0, and ω×v (2.6)."""
    model = alone(JOINTS[name], swapped, **placed(np.random.default_rng(6)))
    q, v = state(model, 1)
    x = seen(model, q, v, T0)

    def d_dt(part):
        return derivative(lambda s: seen(model, q + s * x["rate"], v, T0 + s)[part])

    spin = x["G"] @ d_dt("G").T  # G Ġᵀ = ω̃
    velocity = np.concatenate([x["G"] @ d_dt("rho"), (spin[2, 1], spin[0, 2], spin[1, 0])])
    assert_close(x["v_r"], velocity, 1e-9, scale=1.0)
    assert_close(x["A"] @ v + x["phi"], x["v_r"], 1e-13, scale=1.0)
    assert_close(x["dA"], d_dt("A"), 1e-9, scale=1.0)
    psi = d_dt("v_r")
    psi[:3] += np.cross(x["v_r"][3:], x["v_r"][:3])
    assert_close(x["psi"], psi, 1e-9, scale=1.0)


@pytest.mark.parametrize("name", JOINTS)
def test_a_swapped_joint_has_the_inverse_pose(name):
    """Naming the joint from its other end keeps the coordinate: the pose is at · X(q, t) · child_at⁻¹, or its inverse."""
    where = placed(np.random.default_rng(8))
    bare, model, swapped = alone(JOINTS[name]), alone(JOINTS[name], **where), alone(JOINTS[name], True, **where)
    q, v = state(bare, 2)
    expected = matrix(where["at"]) @ pose_of(seen(bare, q, v, T0)) @ matrix(where["child_at"].inverse())
    assert_close(pose_of(seen(model, q, v, T0)), expected, 1e-14)
    assert_close(pose_of(seen(swapped, q, v, T0)), np.linalg.inv(expected), 1e-13)
    assert np.array_equal(seen(swapped, q, v, T0)["rate"], seen(model, q, v, T0)["rate"])


def test_columns_of_A_span_as_many_directions_as_the_joint_has_speeds():
    for name, joint in JOINTS.items():
        model = alone(joint, **placed(np.random.default_rng(9)))
        assert np.linalg.matrix_rank(seen(model, *state(model), 0.0)["A"]) == model.nv == len(joint.v_names()), name


@pytest.mark.parametrize(
    "name", [name for name, (joint, _, _) in RESTATED.items() if type(joint).driven_pose is not sh.Joint.driven_pose]
)
def test_a_driven_joint_knows_its_pose(name):
    """What a cut joint that is driven welds its bodies by is the pose that it has in a tree."""
    joint = RESTATED[name][0]
    driven = joint.driven({c: wave(k + 1.0)[0] for k, c in enumerate(joint.coordinates)})
    assert driven.can_be_cut
    assert_close(matrix(driven.driven_pose(T0, name)), pose_of(seen(alone(driven), [], [], T0)), 1e-14)
