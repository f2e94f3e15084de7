"""Lagrange's equations of the second kind (3.12): M_r q̈ = τ + Q, by both orders of multiplication."""

from __future__ import annotations

import numpy as np

from .blocks import dense, solve_definite
from .kinetostatics import reactions
from .matrices import Matrices
from .solution import Solution


def solve_direct(m: Matrices, tau: np.ndarray) -> Solution:
    """The direct method: M_r = BᵀMB, Q = Bᵀ(F − Mψ)."""
    return _solve(m, m.M_r, tau + m.Q)


def solve_composite(m: Matrices, tau: np.ndarray) -> Solution:
    """Composite bodies: M_r = AᵀM*A, Q = AᵀQ*, with M* and Q* gathered from the leaves inward."""
    inertia = composite_inertia(m, m.M_blocks, dense(m.D))
    if m.deformed:
        carried = m.A.T @ np.array([m.inward(column) for column in dense(m.P).T]).T
        inertia = inertia + carried + carried.T
    gathered = m.inward(m.F - m.M @ m.psi)  # Q*_i = F_i − M_iψ_i + Σ C_lᵀQ*_l over the children l (D2)
    return _solve(m, inertia, tau + m.A.T @ gathered - m.P.T @ m.psi)


def composite_inertia(m: Matrices, masses: list[np.ndarray], D: np.ndarray) -> np.ndarray:
    """M_r (n×n) of such masses and D: M*_i = M_i + Σ C_lᵀM*_lC_l over the children l; off the diagonal along the path."""
    star = [M.copy() for M in masses]
    for i in range(m.N - 1, -1, -1):
        if m.k[i] >= 0:
            star[m.k[i]] += m.C[i].T @ star[i] @ m.C[i]  # (D1)
    axes = m.structure.na
    out = np.zeros((axes, axes))
    for i in range(m.N):
        X = star[i] @ m.A_blocks[i]  # momenta of the composite body i per unit of its speeds
        j = i
        while j >= 0:
            out[m.axes(j), m.axes(i)] = m.A_blocks[j].T @ X
            out[m.axes(i), m.axes(j)] = out[m.axes(j), m.axes(i)].T
            X, j = m.C[j].T @ X, m.k[j]
    return m.folded(out) + D


def _solve(m: Matrices, M_r: np.ndarray, right: np.ndarray) -> Solution:
    qdd = solve_definite(M_r, right) if m.n else np.zeros(0)
    vdot = m.B @ qdd + m.psi  # [I] (2.22)
    return Solution(qdd=qdd, vdot=vdot.reshape(-1, 6), R=reactions(m, vdot, qdd))
