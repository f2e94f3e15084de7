"""The forms of the equations with rows for closed loops: J q̈ + γ = 0 beside the equations of the tree. The oracle.

Rows may depend on one another: multipliers are then those of least length, and accelerations are unique all the same.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from .blocks import dense
from .constraint_rows import Rows
from .linear import solve
from .matrices import Matrices

RANK = 1e-11
"""Largest remainder of a row that depends on others, of rows scaled to one length."""
RANK_OF_SQUARE = 3e-7
"""The same where rows enter squared, JM⁻¹Jᵀ: the remainder must exceed the rounding of the squares."""


def lagrange2(m: Matrices, tau: np.ndarray, rows: Rows) -> tuple[np.ndarray, np.ndarray]:
    """Lagrange's first kind in generalised coordinates: M_r q̈ − Jᵀλ = τ + Q, J q̈ = −γ. Returns q̈ and λ."""
    J, gamma = rows
    M, used = m.M_r, independent_rows(J, RANK_OF_SQUARE)
    free, W = np.linalg.solve(M, tau + m.Q), np.linalg.solve(M, J[used].T)
    lam = solve(J[used] @ W, -gamma[used] - J[used] @ free)
    return free + W @ lam, least(J, used, lam)


def extended(m: Matrices, tau: np.ndarray, rows: Rows) -> tuple[np.ndarray, np.ndarray]:
    """The extended system with rows below: AᵀR + Dq̈ − Jᵀλ = τ; J q̈ = −γ."""
    J, gamma = rows
    used = independent_rows(J)
    N6, n = 12 * m.N, m.n
    right = np.concatenate([m.F, -m.w_star, tau, gamma[used]])
    matrix = np.zeros((len(right), len(right)))
    matrix[: N6 + n, : N6 + n] = dense(m.extended)
    matrix[N6 : N6 + n, N6 + n :] = -J[used].T
    matrix[N6 + n :, N6 : N6 + n] = -J[used]
    x = solve(matrix, right, (6 * m.N, N6, N6 + n))
    return x[N6 : N6 + n], least(J, used, x[N6 + n :])


def lagrange1(m: Matrices, tau: np.ndarray, rows: Rows) -> tuple[np.ndarray, np.ndarray]:
    """Absolute coordinates: multipliers of the joints' own rows Zᵀ(Sv̇ − w*) = 0 and of K v̇ = −γ + JA⁺w*, K = JA⁺S."""
    J, gamma = rows
    m.needs_axes("lagrange1")
    lift = np.linalg.pinv(dense(m.A))
    S, Z, w = dense(m.S), dense(m.Z), m.w_star
    K = np.vstack([Z.T @ S, J @ lift @ S])
    known = np.concatenate([Z.T @ w, -gamma + J @ lift @ w])
    R = S.T @ lift.T @ dense(m.D)  # rotors: D q̈ with q̈ = A⁺(Sv̇ − w*)
    force = m.F + S.T @ (lift.T @ tau) + R @ lift @ w
    used, N6 = independent_rows(K), 6 * m.N
    matrix = np.block([[dense(m.M) + R @ lift @ S, -K[used].T], [-K[used], np.zeros((len(used), len(used)))]])
    x = solve(matrix, np.concatenate([force, -known[used]]), (N6,))
    vdot, lam = x[:N6], np.zeros(len(K))
    lam[used] = x[N6:]
    return lift @ (S @ vdot - w), least(J, range(len(J)), lam[Z.shape[1] :])


def maggi(m: Matrices, tau: np.ndarray, rows: Rows) -> tuple[np.ndarray, np.ndarray]:
    """Maggi's equations: independent speeds by partition of the coordinates, no multipliers; λ afterwards.

    Nᵀ(BᵀM + Pᵀ) v̇ + Nᵀ(D + BᵀP) q̈ = Nᵀ(τ + BᵀF);   v̇ − B q̈ = ψ;   J q̈ = −γ        (JN = 0)
    """
    J, gamma = rows
    independent, dependent, used = partition(J)
    N = np.zeros((m.n, len(independent)))
    N[independent] = np.eye(len(independent))
    N[dependent] = -np.linalg.solve(J[np.ix_(used, dependent)], J[np.ix_(used, independent)])
    B, P, D, N6 = dense(m.B), dense(m.P), dense(m.D), 6 * m.N
    momenta, right = B.T @ dense(m.M), tau + B.T @ m.F
    matrix = np.zeros((N6 + m.n, N6 + m.n))
    matrix[:N6] = np.hstack([np.eye(N6), -B])
    matrix[N6:] = np.vstack([N.T @ np.hstack([momenta + P.T, D + B.T @ P]), np.hstack([np.zeros((len(used), N6)), J[used]])])
    x = solve(matrix, np.concatenate([m.psi, N.T @ right, -gamma[used]]), (N6,))
    qdd = x[N6:]
    return qdd, np.linalg.lstsq(J.T, (momenta + P.T) @ x[:N6] + (D + B.T @ P) @ qdd - right, rcond=1e-10)[0]


def partition(J: np.ndarray, zero: float = 1e-9) -> tuple[list[int], list[int], list[int]]:
    """Independent coordinates, dependent ones, and the rows that determine them: Gauss with full pivoting."""
    left, rows, columns = J.copy(), list[int](), list[int]()
    size = np.abs(J).max(initial=0.0)
    while left.size:
        i, j = np.unravel_index(np.abs(left).argmax(), left.shape)
        if not abs(left[i, j]) > zero * size:
            break
        rows.append(int(i))
        columns.append(int(j))
        left = left - np.outer(left[:, j] / left[i, j], left[i])
        left[:, columns] = 0.0
        left[rows] = 0.0
    return [k for k in range(J.shape[1]) if k not in columns], columns, rows


def independent_rows(J: np.ndarray, zero: float = RANK) -> list[int]:
    """As many independent rows as the rank of J, rows of any length counted alike. J alone decides, not masses."""
    length = np.abs(J).max(axis=1, initial=0.0)[:, None]
    return sorted(partition(np.divide(J, length, where=length > 0.0, out=np.zeros_like(J)), zero)[2])


def least(J: np.ndarray, used: Sequence[int], lam: np.ndarray) -> np.ndarray:
    """The multipliers of all rows, of least length, with the same forces as `lam` of the rows `used`."""
    return np.linalg.lstsq(J.T, J[used].T @ lam, rcond=RANK)[0]


CLOSED_FORMS: dict[str, Callable[[Matrices, np.ndarray, Rows], tuple[np.ndarray, np.ndarray]]] = {
    "lagrange2": lagrange2,
    "extended": extended,
    "lagrange1": lagrange1,
    "maggi": maggi,
}
