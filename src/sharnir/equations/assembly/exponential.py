"""Exponential and logarithm of turns (quaternions w x y z) and of rigid motions, rows at once; the exponential also on symbols.

A frame that moves with constant velocity (u, ω) in its own axes for unit time turns by exp(ω) and shifts by V(ω) u:

    V(ω) = 1 + (1 − cos θ)/θ ñ + (1 − sin θ/θ) ñ²,    V⁻¹ = 1 − ω̃/2 + (1 − θ/2 cot θ/2)/θ² ω̃²,    θ = |ω|,  n = ω/θ.
"""

from __future__ import annotations

import numpy as np

from ...trace import functions

SMALL = 1e-4
"""rad: below it the coefficient of V⁻¹ is its limit; the next term is below rounding."""
NO_ANGLE = 1e-300
"""Added to θ²: sin θ/θ then needs no branch, which symbols do not have, and no other angle is changed."""


def _apply(name: str, x: np.ndarray) -> np.ndarray:
    """An elementary function, of floats or of symbols."""
    found: np.ndarray = np.frompyfunc(getattr(functions, name), 1, 1)(x) if x.dtype == object else getattr(np, name)(x)
    return found


def _angle(omega: np.ndarray) -> np.ndarray:
    """θ, above zero."""
    return _apply("sqrt", (omega * omega).sum(axis=-1, keepdims=True) + NO_ANGLE)


def turn_of(omega: np.ndarray) -> np.ndarray:
    """(n, 4): the quaternion of the turn ω (n, 3)."""
    theta = _angle(omega)
    return np.concatenate([_apply("cos", 0.5 * theta), _apply("sin", 0.5 * theta) / theta * omega], axis=-1)


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
    return q / _apply("sqrt", (q * q).sum(axis=-1, keepdims=True))


def rotated(q: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Vectors in the moved axes, in the fixed ones; q of unit length."""
    w, u = q[..., :1], q[..., 1:]
    twice = 2.0 * np.cross(u, x)
    return x + w * twice + np.cross(u, twice)


def shift_of(omega: np.ndarray, u: np.ndarray) -> np.ndarray:
    """V(ω) u."""
    theta = _angle(omega)
    n, half = omega / theta, _apply("sin", 0.5 * theta)
    x = np.cross(n, u)
    return u + 2.0 * half * half / theta * x + (1.0 - _apply("sin", theta) / theta) * np.cross(n, x)


def velocity_of(omega: np.ndarray, shift: np.ndarray) -> np.ndarray:
    """u of a shift V(ω) u."""
    theta = np.linalg.norm(omega, axis=-1, keepdims=True)
    safe = np.where(theta < SMALL, 1.0, theta)
    second = np.where(theta < SMALL, 1.0 / 12.0, (1.0 - 0.5 * safe / np.tan(0.5 * safe)) / safe**2)
    x = np.cross(omega, shift)
    return shift - 0.5 * x + second * np.cross(omega, x)
