"""Maggi's equations in redundant quasi-velocities: both spaces at once, no multipliers.

BᵀM v̇ + D q̈ = τ + BᵀF;   ZᵀS v̇ = Zᵀw*        (6N unknowns v̇; D: rotors, q̈ = A⁺(Sv̇ − w*))
"""

from __future__ import annotations

import numpy as np

from ..errors import MethodError
from ..model.mobility import degrees_of_freedom
from .blocks import dense, stacked
from .independent import Rows, independent, partition
from .matrices import Matrices
from .system import System


def system(m: Matrices, tau: np.ndarray, rows: Rows | None = None) -> System:
    """Both projections, one above the other. Beside v̇ stands q̈ where it has rows, or does not follow from v̇ joint by joint."""
    if rows is not None or m.structure.coupled:
        return closed_system(m, tau, rows or (np.zeros((0, m.n)), np.zeros(0)))
    top, bottom = m.B.T @ m.M, m.Z.T @ m.S
    tau = tau + m.B.T @ m.F
    if m.rotors.any():  # q̈ = A⁺(Sv̇ − w*) turns the rotors
        D = m.D @ m.A_inverse
        top, tau = top + D @ m.S, tau + D @ m.w_star
    return System(stacked(top, bottom), np.concatenate([tau, m.Z.T @ m.w_star]), (("v̇", 6 * m.N),))


def closed_system(m: Matrices, tau: np.ndarray, rows: Rows) -> System:
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


def own_system(m: Matrices, tau: np.ndarray, own: Rows, rows: Rows) -> System:
    """Maggi's equations in quasi-velocities π of the user's own, π̇ = W q̈ + γ, as many as there are degrees of freedom.

    NᵀM_rN π̇ = Nᵀ(τ + Q − M_r n),   q̈ = N π̇ + n by W q̈ = π̇ − γ and the constraints J q̈ = −γ_c.
    """
    (W, gamma), (J, gamma_c) = own, independent(rows)
    whole, k = np.vstack([W, J]), len(W)
    if k != m.n - len(J):
        raise MethodError(f"the model has {degrees_of_freedom(m.n - len(J))} here: as many quasi-velocities are needed, got {k}")
    sizes, ways = np.linalg.svd(whole)[1:]
    if not sizes[-1] > 1e-10 * sizes[0]:
        name = m.model.v_names[int(np.argmax(np.abs(ways[-1])))]
        raise MethodError(f"the quasi-velocities do not determine the motion: with all of them zero, {name!r} can still move")
    inverse = np.linalg.inv(whole)
    N, n = inverse[:, :k], inverse @ -np.concatenate([gamma, gamma_c])
    return System(N.T @ m.M_r @ N, N.T @ (tau + m.Q - m.M_r @ n), (("π̇", k),))
