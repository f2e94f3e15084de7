"""Least squares among the numbers that bodies and joints can have.

A body is possible if its pseudo-inertia, the matrix of second moments of mass with m and m·com at its border, is positive
definite (P7); coefficients of joints are positive. These sets are convex, so that Newton's method on a barrier finds the one
minimum. Distances from the model's own values are measured in a metric that depends on no frame and no unit (P8).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.linalg import solve_triangular

from ..errors import ModelError
from ..types import FloatArray
from .base_parameters import triangular

SINGULAR = 1e-4
"""A pseudo-inertia with an eigenvalue below this share, in units of the body, has no room around it; it is thickened."""
THICKENED = 1e-2
SLACK = 1e-9
"""Error of the least eigenvalue of a possible body by rounding, in units of the body."""
DECADES = 12
"""Decades by which the weight of the squares may grow over that of the barrier; the sum of squares at the start is their unit."""
TIE = 1.0
"""Weight of ties to the model's own values beside the barrier."""
STEPS = 300
"""Limit on the steps of Newton's method for one weight of the squares; a few are typical."""


def _basis() -> FloatArray:
    """(10, 4, 4): the pseudo-inertia is the sum of these times m, mx … Iyz; Σ = ½ tr(J) E − J."""
    out = np.zeros((10, 4, 4))
    out[0, 3, 3] = 1.0
    for k in range(3):
        out[1 + k, k, 3] = out[1 + k, 3, k] = 1.0
        out[4 + k, :3, :3] = 0.5 * np.eye(3)
        out[4 + k, k, k] = -0.5
    for k, (i, j) in enumerate(((0, 1), (0, 2), (1, 2))):
        out[7 + k, i, j] = out[7 + k, j, i] = -1.0
    return out


BASIS = _basis()
UPPER = np.triu_indices(4)


def pseudo_inertia(parameters: FloatArray) -> FloatArray:
    """(…, 10) to (…, 4, 4)."""
    return np.tensordot(parameters, BASIS, axes=(-1, 0))


@dataclass(frozen=True)
class PhysicalLimits:
    """Which of the free parameters belong to one body (all ten of it named, fixed ones too), and which must be positive."""

    bodies: list[tuple[FloatArray, np.ndarray, np.ndarray]]
    """For every body with a free number: its ten values, which of them are free, and their places among all free ones."""
    coefficients: np.ndarray
    """Places of the coefficients of joints among the free parameters."""

    def matrices(self, x: FloatArray) -> FloatArray:
        """(bodies, 4, 4) with these values of the free parameters."""
        full = np.array([own for own, _, _ in self.bodies]).reshape(-1, 10)
        for row, (_, which, at) in zip(full, self.bodies, strict=True):
            row[which] = x[at]
        return pseudo_inertia(full)

    def hold(self, x: FloatArray, units: list[FloatArray], scale: FloatArray) -> bool:
        """Whether bodies and joints can have these values, to rounding."""
        least = [np.linalg.eigvalsh(P / np.outer(u, u))[0] for P, u in zip(self.matrices(x), units, strict=True)]
        return min(least, default=0.0) >= -SLACK and bool((x[self.coefficients] >= -SLACK * scale[self.coefficients]).all())


def body_units(limits: PhysicalLimits, mass: float, length: float) -> list[FloatArray]:
    """For every body (4,): what its pseudo-inertia is measured in, √m·(radius, radius, radius, 1)."""
    out = []
    for own, _, _ in limits.bodies:
        P = pseudo_inertia(own)
        m = own[0] if own[0] > 1e-6 * mass else 1e-2 * mass
        radius = np.sqrt(max(np.trace(P[:3, :3]) / m, 1e-4 * length**2))
        out.append(np.sqrt(m) * np.array([radius, radius, radius, 1.0]))
    return out


def thickened(own: FloatArray, unit: FloatArray, movable: bool, name: str) -> FloatArray:
    """The ten numbers of a body with some room around them: what the search starts from."""
    P = pseudo_inertia(own) / np.outer(unit, unit)
    values, vectors = np.linalg.eigh(P)
    if values[0] >= SINGULAR:
        return own
    if not movable:
        what = "has no inertia about some axis and some of its numbers are fixed, so that none of its values near the model's"
        raise ModelError(f"identify: body {name!r} {what} is possible; fix all of them or none")
    P = (vectors * np.maximum(values, THICKENED)) @ vectors.T * np.outer(unit, unit)
    J = np.trace(P[:3, :3]) * np.eye(3) - P[:3, :3]
    return np.array([P[3, 3], *P[:3, 3], J[0, 0], J[1, 1], J[2, 2], J[0, 1], J[0, 2], J[1, 2]])


def scaled_basis(P: FloatArray) -> FloatArray:
    """(10, 10): upper triangles of L⁻¹ E_k L⁻ᵀ, LLᵀ = P, as columns; those off the diagonal count twice in a square."""
    L = np.linalg.cholesky(P)
    once = solve_triangular(L, BASIS.transpose(1, 0, 2).reshape(4, -1), lower=True).reshape(4, 10, 4).transpose(1, 2, 0)
    both = solve_triangular(L, once.transpose(1, 0, 2).reshape(4, -1), lower=True).reshape(4, 10, 4).transpose(1, 0, 2)
    return (both[:, UPPER[0], UPPER[1]] * np.where(UPPER[0] == UPPER[1], 1.0, np.sqrt(2.0))).T


def metric(own: FloatArray, which: np.ndarray) -> FloatArray:
    """G with |Gδ|² = ‖L⁻¹ P(δ) L⁻ᵀ‖², LLᵀ = P(own), for changes δ of some of the ten numbers; upper triangular.   (P8)"""
    return triangular(scaled_basis(pseudo_inertia(own))[:, which])


Equations = tuple[FloatArray, FloatArray]


def within_limits(
    equations: Equations, ties: Equations, start: FloatArray, limits: PhysicalLimits, gap: float, step: Callable[[float], None]
) -> FloatArray:
    """min ½|Ax − b|² within the limits; where this leaves x open, near C x = d and away from the limits.

    `equations` A, b; `ties` C, d; the start is inside of the limits. Ties and distance from the limits cost about `gap` of the
    sum of squares: without a gap x would go to extremes for gains that noise outweighs. `step` is told the progress, 0 to 1.
    """
    (A, b), (C, d) = equations, ties
    x, size = start, max(float(np.sum((A @ start - b) ** 2)), 1e-300)
    count = max(1, 4 * len(limits.bodies) + len(limits.coefficients))
    for k in range(1, DECADES + 1):
        weight = np.sqrt(count * 10.0**k / size)
        x = _centre(np.concatenate([weight * A, TIE * C]), np.concatenate([weight * b, TIE * d]), x, limits)
        step(k / DECADES)
        if 10.0**-k < gap * float(np.sum((A @ x - b) ** 2)) / size:
            break
    return x


def _centre(A: FloatArray, b: FloatArray, x: FloatArray, limits: PhysicalLimits) -> FloatArray:
    """Newton's method on ½|Ax − b|² − Σ ln det P − Σ ln c: each step is itself a problem of least squares.          (P9)"""
    value = _value(A, b, x, limits)
    for _ in range(STEPS):
        rows, left = _barrier(x, limits)
        Q, R = np.linalg.qr(np.concatenate([A, rows]))
        move = solve_triangular(R, Q.T @ np.concatenate([b - A @ x, left]))
        decrease = float(np.sum((R @ move) ** 2))
        if decrease < max(1e-9, 1e-14 * abs(value)):
            break
        t = 1.0
        while not (new := _value(A, b, x + t * move, limits)) <= value - 0.1 * t * decrease:
            t *= 0.5
            if t < 1e-8:
                return x  # rounding: no better point can be told from this one
        x, value = x + t * move, new
    return x


def _value(A: FloatArray, b: FloatArray, x: FloatArray, limits: PhysicalLimits) -> float:
    coefficients = x[limits.coefficients]
    if (coefficients <= 0.0).any():
        return np.inf
    out = 0.5 * float(np.sum((A @ x - b) ** 2)) - float(np.log(coefficients).sum())
    if limits.bodies:
        try:
            L = np.linalg.cholesky(limits.matrices(x))
        except np.linalg.LinAlgError:
            return np.inf
        out -= 2.0 * float(np.log(np.einsum("bii->bi", L)).sum())
    return out


def _barrier(x: FloatArray, limits: PhysicalLimits) -> tuple[FloatArray, FloatArray]:
    """Rows B and numbers e: the barrier's second derivative is BᵀB and its first −Bᵀe."""
    c = limits.coefficients
    rows, left = [np.zeros((len(c), len(x)))], [np.ones(len(c))]
    rows[0][np.arange(len(c)), c] = 1.0 / x[c]
    for P, (_, which, at) in zip(limits.matrices(x), limits.bodies, strict=True):
        rows.append(np.zeros((len(UPPER[0]), len(x))))
        rows[-1][:, at] = scaled_basis(P)[:, which]
        left.append((UPPER[0] == UPPER[1]).astype(float))
    return np.concatenate(rows), np.concatenate(left)
