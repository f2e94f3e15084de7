"""Eigenvalues and eigenvectors of a linear model, with those that are zero told apart from those that are small.

A mechanism free to drift has the eigenvalue zero several times with fewer eigenvectors than that; an ordinary routine spreads
such a group to a circle of radius √ε. Here the group is split off first, by its null spaces: docs/theory/linearization.md.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import matrix_balance, qr

ZERO = 1e-12
"""Singular values below this share of the largest are zero, time measured in periods of the fastest oscillation."""

SLOW = 1e-6
"""Of the fastest eigenvalue: what rounding may leave of one that is zero."""


@dataclass(frozen=True)
class Spectrum:
    values: np.ndarray
    """Zeros first, then by absolute value; of a pair the one with positive imaginary part first."""
    zeros: int
    """How many are zero."""
    null: np.ndarray
    """(n, k): what belongs to the eigenvalue zero, k ≤ zeros: states that remain as they are."""
    vectors: np.ndarray
    """(n, n − zeros): eigenvectors of the others, in their order."""


def spectrum(A: np.ndarray, positions: int, others: int = 0) -> Spectrum:
    """The first states are displacements, so many; then come speeds; the last are `others`, of forces, in units of their own:
    pressures beside metres, which are made comparable by balancing."""
    n = len(A)
    if not n:
        return Spectrum(np.zeros(0, complex), 0, np.zeros((0, 0)), np.zeros((0, 0), complex))
    stiffness = float(np.linalg.norm(A[positions:, :positions]))
    scale = np.where(np.arange(n) < positions, 1.0, np.sqrt(stiffness) if stiffness > 0.0 else 1.0)
    balanced = scale * matrix_balance(A * scale / scale[:, None], permute=False, separate=True)[1][0]
    if others:
        scale = balanced
    R, Q, sizes = _zeros_first(A * scale / scale[:, None])
    if sizes and not others:  # of coordinates as unlike as angles and amplitudes of modes, balancing may tell more
        again = _zeros_first(A * balanced / balanced[:, None])
        moving = np.abs(np.linalg.eigvals(again[0][sum(again[2]) :, sum(again[2]) :]))
        if sum(again[2]) < sum(sizes) and moving.min() > SLOW * moving.max():
            scale, (R, Q, sizes) = balanced, again
    k = sum(sizes)
    null = scale[:, None] * Q[:, : sizes[0]] if sizes else np.zeros((n, 0))
    values, Y = np.linalg.eig(R[k:, k:])
    order = _sorted(values)
    values, Y = values[order], Y[:, order]
    upper = [np.linalg.solve(x * np.eye(k) - R[:k, :k], R[:k, k:] @ y) for x, y in zip(values, Y.T, strict=True)]
    vectors = np.vstack([np.array(upper, dtype=complex).reshape(len(values), k).T, Y])
    return Spectrum(np.concatenate([np.zeros(k), values]), k, _by_coordinates(null), scale[:, None] * (Q @ vectors))


def _zeros_first(R: np.ndarray) -> tuple[np.ndarray, np.ndarray, list[int]]:
    """Qᵀ R Q, block triangular: null spaces one after another, then what is regular; and the sizes of the null spaces."""
    R, Q, done, sizes = R.copy(), np.eye(len(R)), 0, list[int]()
    enough = ZERO * np.linalg.norm(R, 2)
    while done < len(R):
        _, s, Vt = np.linalg.svd(R[done:, done:])
        k = int((s <= enough).sum())
        if not k:
            break
        V = Vt[::-1].T  # null vectors first
        R[:, done:] = R[:, done:] @ V
        R[done:] = V.T @ R[done:]
        Q[:, done:] = Q[:, done:] @ V
        R[done:, done : done + k] = 0.0
        sizes.append(k)
        done += k
    return R, Q, sizes


def _sorted(values: np.ndarray) -> list[int]:
    """By absolute value, pairs together."""
    leaders = [k for k, x in enumerate(values) if x.imag >= 0.0]
    leaders.sort(key=lambda k: (abs(values[k]), values[k].real))
    out = list[int]()
    for k in leaders:
        out.append(k)
        if values[k].imag > 0.0:  # LAPACK puts the conjugate behind it
            out.append(k + 1)
    return out


def _by_coordinates(null: np.ndarray) -> np.ndarray:
    """The same space with a basis of vectors that each move one coordinate of their own."""
    if not null.shape[1]:
        return null
    rows = qr(null.T, mode="r", pivoting=True)[1][: null.shape[1]]
    found = null @ np.linalg.inv(null[np.sort(rows)])
    return np.where(np.abs(found) < 1e-12, 0.0, found)
