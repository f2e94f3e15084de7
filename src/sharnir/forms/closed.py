"""The forms of the equations with rows for closed loops: J q̈ + γ = 0 beside the equations of the tree. The oracle.

Rows may depend on one another: multipliers are then those of least length, and accelerations are unique all the same.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .blocks import bordered, dense
from .constraint_rows import Rows
from .lagrange1 import joint_forces
from .linear import solve
from .matrices import Matrices
from .system import System

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
    return free + W @ lam, least(J, J[used].T @ lam)


def lagrange2_system(m: Matrices, tau: np.ndarray, rows: Rows) -> System:
    """The same before λ is eliminated, with independent rows."""
    J, gamma = independent(rows)
    return System(bordered(m.M_r, J), np.concatenate([tau + m.Q, gamma]), (("q̈", m.n), ("λ_c", len(J))))


def extended_system(m: Matrices, tau: np.ndarray, rows: Rows) -> System:
    """The extended system with independent rows below: AᵀR + Dq̈ − Jᵀλ = τ; J q̈ = −γ."""
    J, gamma = independent(rows)
    N6, n = 6 * m.N, m.n
    matrix = bordered(dense(m.extended), np.hstack([np.zeros((len(J), 2 * N6)), J]))
    right = np.concatenate([m.F, -m.w_star, tau, gamma])
    return System(matrix, right, (("v̇", N6), ("R", N6), ("q̈", n), ("λ_c", len(J))))


def extended(m: Matrices, tau: np.ndarray, rows: Rows) -> tuple[np.ndarray, np.ndarray]:
    equations = extended_system(m, tau, rows)
    x, at = equations.solve(), equations.places
    return x["q̈"], least(rows[0], -equations.matrix[at["q̈"], at["λ_c"]] @ x["λ_c"])


def lagrange1_system(m: Matrices, tau: np.ndarray, rows: Rows) -> System:
    """Absolute coordinates: independent ones of the joints' own rows Zᵀ(Sv̇ − w*) = 0 and of K v̇ = −γ + JA⁺w*, K = JA⁺S."""
    J, gamma = rows
    m.needs_axes("lagrange1")
    S, Z, w, lift = dense(m.S), dense(m.Z), m.w_star, np.linalg.pinv(dense(m.A))
    rotors = S.T @ lift.T @ dense(m.D)  # D q̈ with q̈ = A⁺(Sv̇ − w*)
    force = m.F + S.T @ (lift.T @ tau) + rotors @ lift @ w
    K = np.vstack([Z.T @ S, J @ lift @ S])
    used = independent_rows(K)
    known = np.concatenate([Z.T @ w, -gamma + J @ lift @ w])[used]
    joints = sum(k < Z.shape[1] for k in used)
    unknowns = (("v̇", 6 * m.N), ("λ", joints), ("λ_c", len(used) - joints))
    return System(bordered(dense(m.M) + rotors @ lift @ S, K[used]), np.concatenate([force, -known]), unknowns)


def multiplier_system(m: Matrices, tau: np.ndarray, rows: Rows) -> System:
    """The multipliers alone, as (3.10): KM⁻¹Kᵀλ = known − KM⁻¹F̂."""
    joint_forces(m, tau)  # rotors are refused: the matrix at v̇ would not be M
    N6, full = 6 * m.N, lagrange1_system(m, tau, rows)
    K = -full.matrix[N6:, :N6]
    weighted = K @ dense(m.M_inverse)
    return System(weighted @ K.T, -full.right[N6:] - weighted @ full.right[:N6], full.unknowns[1:])


def lagrange1(m: Matrices, tau: np.ndarray, rows: Rows) -> tuple[np.ndarray, np.ndarray]:
    equations = lagrange1_system(m, tau, rows)
    x, at = equations.solve(), equations.places
    force = m.A.T @ m.inward(-equations.matrix[at["v̇"], at["λ_c"]] @ x["λ_c"])
    return m.joint_accelerations(x["v̇"]), least(rows[0], force)


def maggi(m: Matrices, tau: np.ndarray, rows: Rows) -> tuple[np.ndarray, np.ndarray]:
    """Maggi's equations: independent speeds by partition of the coordinates, no multipliers; λ afterwards."""
    x = maggi_system(m, tau, rows).solve()
    B, P, D = dense(m.B), dense(m.P), dense(m.D)
    forces = (B.T @ dense(m.M) + P.T) @ x["v̇"] + (D + B.T @ P) @ x["q̈"] - tau - B.T @ m.F
    return x["q̈"], np.linalg.lstsq(rows[0].T, forces, rcond=1e-10)[0]


def maggi_system(m: Matrices, tau: np.ndarray, rows: Rows) -> System:
    """Nᵀ(BᵀM + Pᵀ) v̇ + Nᵀ(D + BᵀP) q̈ = Nᵀ(τ + BᵀF);   v̇ − B q̈ = ψ;   J q̈ = −γ        (JN = 0)"""
    J, gamma = rows
    independent, dependent, used = partition(J)
    N = np.zeros((m.n, len(independent)))
    N[independent] = np.eye(len(independent))
    N[dependent] = -np.linalg.solve(J[np.ix_(used, dependent)], J[np.ix_(used, independent)])
    B, P, D, N6 = dense(m.B), dense(m.P), dense(m.D), 6 * m.N
    matrix = np.zeros((N6 + m.n, N6 + m.n))
    matrix[:N6] = np.hstack([np.eye(N6), -B])
    projected = N.T @ np.hstack([B.T @ dense(m.M) + P.T, D + B.T @ P])
    matrix[N6:] = np.vstack([projected, np.hstack([np.zeros((len(used), N6)), J[used]])])
    return System(matrix, np.concatenate([m.psi, N.T @ (tau + B.T @ m.F), -gamma[used]]), (("v̇", N6), ("q̈", m.n)))


def graph_system(m: Matrices, tau: np.ndarray, rows: Rows) -> System:
    """The extended system of the whole graph, S rectangular, R and q̈ of all joints; `rows`: of constraints that are no joints.
    [B] (1)"""
    J, gamma = independent(rows)
    A, S, N6 = dense(m.A_graph), dense(m.S_graph), 6 * m.N
    cut = A.shape[1] - m.n
    P, D = np.pad(dense(m.P), ((0, 0), (0, cut))), np.pad(dense(m.D), (0, cut))
    matrix = np.block([[dense(m.M), -S.T, P], [-S, np.zeros((len(S), len(S))), A], [P.T, A.T, D]])
    border = np.hstack([np.zeros((len(J), N6 + len(S))), J, np.zeros((len(J), cut))])
    right = np.concatenate([m.F, -m.w_star_graph, tau, np.zeros(cut), gamma])
    return System(bordered(matrix, border), right, (("v̇", N6), ("R", len(S)), ("q̈", m.n + cut), ("λ_c", len(J))))


def independent(rows: Rows) -> Rows:
    """As many rows as are independent."""
    used = independent_rows(rows[0])
    return rows[0][used], rows[1][used]


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


def least(J: np.ndarray, force: np.ndarray) -> np.ndarray:
    """The multipliers of all rows, of least length, with this force Jᵀλ."""
    return np.linalg.lstsq(J.T, force, rcond=RANK)[0]


CLOSED_FORMS: dict[str, Callable[[Matrices, np.ndarray, Rows], tuple[np.ndarray, np.ndarray]]] = {
    "lagrange2": lagrange2,
    "extended": extended,
    "lagrange1": lagrange1,
    "maggi": maggi,
}
