"""Quaternions (w x y z) of many rotations at once, as arrays."""

from __future__ import annotations

import numpy as np

from ..types import FloatArray


def quaternions_of(R: FloatArray) -> FloatArray:
    """(…, 4) of length one with w ≥ 0, of rotations (…, 3, 3)."""
    trace = np.trace(R, axis1=-2, axis2=-1)
    diagonal = np.diagonal(R, axis1=-2, axis2=-1)
    both, apart = R + R.swapaxes(-1, -2), R.swapaxes(-1, -2) - R
    K = np.empty((*R.shape[:-2], 4, 4))  # 4 q qᵀ: the row of the largest part is the most accurate
    K[..., 0, 0] = 1.0 + trace
    K[..., 0, 1:] = K[..., 1:, 0] = np.stack([apart[..., 1, 2], apart[..., 2, 0], apart[..., 0, 1]], axis=-1)
    K[..., 1:, 1:] = both
    for k in range(3):
        K[..., k + 1, k + 1] = 1.0 - trace + 2.0 * diagonal[..., k]
    largest = np.diagonal(K, axis1=-2, axis2=-1).argmax(axis=-1)
    q: FloatArray = np.take_along_axis(K, largest[..., None, None], axis=-2)[..., 0, :]
    q /= np.linalg.norm(q, axis=-1, keepdims=True)
    q[q[..., 0] < 0.0] *= -1.0
    return q


RPY = ("roll", "pitch", "yaw")


def roll_pitch_yaw_of(q: FloatArray) -> FloatArray:
    """(…, T, 3) angles of `Rotation.rpy` of the rotations q (…, T, 4) as they follow each other in time: they count turns, and a
    pitch that passes 90° goes on, where roll and yaw would jump by half a turn."""
    w, x, y, z = np.moveaxis(q / np.linalg.norm(q, axis=-1, keepdims=True), -1, 0)
    roll, yaw = (
        np.arctan2(2.0 * (w * x + y * z), 1.0 - 2.0 * (x * x + y * y)),
        np.arctan2(2.0 * (w * z + x * y), 1.0 - 2.0 * (y * y + z * z)),
    )
    a = np.stack([roll, np.arcsin(np.clip(2.0 * (w * y - x * z), -1.0, 1.0)), yaw], axis=-1)
    b = np.stack([a[..., 0] + np.pi, np.pi - a[..., 1], a[..., 2] + np.pi], axis=-1)  # the same rotation

    def apart(next_ones: FloatArray) -> FloatArray:
        return (1.0 - np.cos(next_ones[..., 1:, :] - a[..., :-1, :])).sum(axis=-1)

    other = np.cumsum(apart(b) < apart(a), axis=-1) % 2 == 1
    a[..., 1:, :] = np.where(other[..., None], b[..., 1:, :], a[..., 1:, :])
    return np.unwrap(a, axis=-2)


def without_jumps(q: FloatArray, axis: int = -2) -> FloatArray:
    """The same rotations over time, which is along `axis`: of q and −q the one nearer to the one before."""
    q = np.moveaxis(q, axis, -2)
    flips = np.where((q[..., 1:, :] * q[..., :-1, :]).sum(axis=-1) < 0.0, -1.0, 1.0)
    signs = np.concatenate([np.ones_like(q[..., :1, 0]), np.cumprod(flips, axis=-1)], axis=-1)
    return np.moveaxis(q * signs[..., None], -2, axis)
