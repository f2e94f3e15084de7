"""Exponential and logarithm of turns (quaternions w x y z) and of rigid motions, rows at once.

A frame that moves with constant velocity (u, ω) in its own axes for unit time turns by exp(ω) and shifts by V(ω) u:

    V(ω) = 1 + (1 − cos θ)/θ² ω̃ + (θ − sin θ)/θ³ ω̃²,    V⁻¹ = 1 − ω̃/2 + (1 − θ/2 cot θ/2)/θ² ω̃²,    θ = |ω|.
"""

from __future__ import annotations

import numpy as np

SMALL = 1e-4
"""rad: below it the coefficients of V are their limits; their next terms are below rounding."""


def turn_of(omega: np.ndarray) -> np.ndarray:
    """(n, 4): the quaternion of the turn ω (n, 3)."""
    half = 0.5 * np.linalg.norm(omega, axis=-1, keepdims=True)
    return np.concatenate([np.cos(half), 0.5 * np.sinc(half / np.pi) * omega], axis=-1)


def angle_of(q: np.ndarray) -> np.ndarray:
    """(n, 3): the turn ω of unit quaternions, the shorter way round, |ω| ≤ π."""
    q = np.where(q[..., :1] < 0.0, -q, q)
    sine = np.linalg.norm(q[..., 1:], axis=-1, keepdims=True)
    ratio = np.arctan2(sine, q[..., :1]) / np.where(sine > 0.0, sine, 1.0)
    return 2.0 * np.where(sine > 0.0, ratio, 1.0) * q[..., 1:]


def product(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """a ⊗ b, rows."""
    u, v = a[..., 1:], b[..., 1:]
    w = a[..., :1] * b[..., :1] - (u * v).sum(axis=-1, keepdims=True)
    return np.concatenate([w, a[..., :1] * v + b[..., :1] * u + np.cross(u, v)], axis=-1)


def conjugate(q: np.ndarray) -> np.ndarray:
    return q * np.array([1.0, -1.0, -1.0, -1.0])


def unit(q: np.ndarray) -> np.ndarray:
    length: np.ndarray = np.linalg.norm(q, axis=-1, keepdims=True)
    return q / length


def rotated(q: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Vectors in the moved axes, in the fixed ones; q of unit length."""
    w, u = q[..., :1], q[..., 1:]
    twice = 2.0 * np.cross(u, x)
    return x + w * twice + np.cross(u, twice)


def shift_of(omega: np.ndarray, u: np.ndarray) -> np.ndarray:
    """V(ω) u."""
    theta = np.linalg.norm(omega, axis=-1, keepdims=True)
    safe = np.where(theta < SMALL, 1.0, theta)
    first = 0.5 * np.sinc(0.5 * theta / np.pi) ** 2
    second = np.where(theta < SMALL, 1.0 / 6.0, (safe - np.sin(safe)) / safe**3)
    x = np.cross(omega, u)
    return u + first * x + second * np.cross(omega, x)


def velocity_of(omega: np.ndarray, shift: np.ndarray) -> np.ndarray:
    """u of a shift V(ω) u."""
    theta = np.linalg.norm(omega, axis=-1, keepdims=True)
    safe = np.where(theta < SMALL, 1.0, theta)
    second = np.where(theta < SMALL, 1.0 / 12.0, (1.0 - 0.5 * safe / np.tan(0.5 * safe)) / safe**2)
    x = np.cross(omega, shift)
    return shift - 0.5 * x + second * np.cross(omega, x)
