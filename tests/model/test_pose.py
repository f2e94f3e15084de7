"""Rotations and poses: a group, in every way of writing its elements."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import sharnir as sh
from sharnir.model.pose import quaternion_of
from states import EPS, random_pose

parts = st.floats(-1.0, 1.0)
angles = st.floats(-7.0, 7.0)
vectors = st.tuples(parts, parts, parts)


def unit(x):
    length = math.sqrt(sum(c * c for c in x))
    assume(length > 1e-3)
    return tuple(c / length for c in x)


def homogeneous(pose: sh.Pose) -> np.ndarray:
    return np.block([[pose.rotation.matrix, np.array(pose.position)[:, None]], [np.zeros(3), 1.0]])


def assert_rotation(R: np.ndarray) -> None:
    assert np.abs(R @ R.T - np.eye(3)).max() <= 16 * EPS
    assert np.linalg.det(R) > 0.0


@given(st.tuples(parts, parts, parts, parts))
def test_quaternion_of_inverts_rotation_quaternion(x):
    x = unit(x)
    q = quaternion_of(sh.Rotation.quaternion(*x))
    assert q[0] >= 0.0
    sign = math.copysign(1.0, sum(a * b for a, b in zip(q, x, strict=True)))
    assert q == pytest.approx([sign * a for a in x], abs=8 * EPS)


@pytest.mark.parametrize("x", [(0, 1, 0, 0), (0, 0, 1, 0), (0, 0, 0, 1), (1, 0, 0, 0), (1e-9, 0.6, 0.8, 0)])
def test_quaternion_of_half_turns(x):
    assert quaternion_of(sh.Rotation.quaternion(*x)) == pytest.approx(x, abs=4 * EPS)


@given(st.tuples(parts, parts, parts, parts), st.floats(0.1, 10.0))
def test_a_quaternion_of_any_length_is_its_unit(x, length):
    x = unit(x)
    a, b = sh.Rotation.quaternion(*x), sh.Rotation.quaternion(*(length * c for c in x))
    assert_rotation(a.matrix)
    assert b.entries == pytest.approx(a.entries, abs=16 * EPS)


@given(vectors, angles)
def test_a_turn_about_an_axis_is_the_quaternion_of_half_the_angle(axis, angle):
    axis = unit(axis)
    s = math.sin(angle / 2)
    expected = sh.Rotation.quaternion(math.cos(angle / 2), *(s * c for c in axis))
    R = sh.Rotation.about(axis, angle)
    assert R.entries == pytest.approx(expected.entries, abs=16 * EPS)
    assert R @ axis == pytest.approx(axis, abs=16 * EPS)


@given(angles, angles, angles)
def test_rpy_turns_about_fixed_axes_in_turn(roll, pitch, yaw):
    def elementary(k, x):
        c, s = math.cos(x), math.sin(x)
        R = np.eye(3)
        i, j = (k + 1) % 3, (k + 2) % 3
        R[i, i] = R[j, j] = c
        R[j, i], R[i, j] = s, -s
        return R

    expected = elementary(2, yaw) @ elementary(1, pitch) @ elementary(0, roll)
    assert np.abs(sh.Rotation.rpy(roll, pitch, yaw).matrix - expected).max() <= 16 * EPS


@given(vectors)
def test_align_z_brings_z_to_the_direction(direction):
    direction = unit(direction)
    R = sh.Rotation.align_z(direction)
    assert_rotation(R.matrix)
    assert pytest.approx(direction, abs=4 * EPS) == R @ (0, 0, 1)


@pytest.mark.parametrize("axis", ["x", "y", "z", "-x", "-y", "-z"])
def test_align_z_of_a_coordinate_axis_is_a_signed_permutation(axis):
    direction = [0.0, 0.0, 0.0]
    direction["xyz".index(axis[-1])] = -1.0 if axis[0] == "-" else 1.0
    R = sh.Rotation.align_z(direction)
    assert_rotation(R.matrix)
    assert set(map(abs, R.entries)) == {0.0, 1.0}
    assert tuple(direction) == R @ (0, 0, 1)
    assert sh.Rotation.about(axis, 0.3).entries == pytest.approx(sh.Rotation.about(direction, 0.3).entries)


@pytest.mark.parametrize("seed", range(10))
def test_poses_multiply_and_invert_as_their_matrices(seed):
    rng = np.random.default_rng(seed)
    a, b = random_pose(rng), random_pose(rng)
    x = rng.normal(size=3)
    A, B = homogeneous(a), homogeneous(b)
    assert np.abs(homogeneous(a @ b) - A @ B).max() <= 16 * EPS
    assert np.abs(homogeneous(a.inverse()) - np.linalg.inv(A)).max() <= 64 * EPS
    assert np.abs(homogeneous(a @ a.inverse()) - np.eye(4)).max() <= 16 * EPS
    assert a @ x == pytest.approx((A @ [*x, 1.0])[:3], abs=16 * EPS)
    assert a.rotation @ x == pytest.approx(A[:3, :3] @ x, abs=16 * EPS)
    assert np.array_equal(a.rotation.T.matrix, a.rotation.matrix.T)


def test_every_way_to_write_a_rotation():
    turn = sh.Rotation.about("z", math.pi / 2)
    assert turn.entries == pytest.approx((0, -1, 0, 1, 0, 0, 0, 0, 1), abs=EPS)  # moved axes into fixed ones
    q = (math.sqrt(0.5), 0, 0, math.sqrt(0.5))
    for written in (turn, turn.matrix, turn.matrix.tolist(), list(turn.entries), q, np.array(q)):
        assert sh.Pose((0, 0, 0), written).rotation.entries == pytest.approx(turn.entries, abs=2 * EPS)
    assert sh.Pose().is_identity and sh.Pose(rotation=sh.Rotation.identity()).is_identity
    assert not sh.Pose((0, 0, 1e-9)).is_identity
    assert repr(sh.Pose((1, 2, 3))).startswith("Pose((1.0, 2.0, 3.0)")
