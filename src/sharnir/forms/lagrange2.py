"""Lagrange's equations of the second kind (3.12): M_r q̈ = τ + Q, by both orders of multiplication."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from .blocks import dense, solve_definite
from .kinetostatics import reactions
from .matrices import Matrices
from .solution import Solution
from .system import System


def direct_system(m: Matrices, tau: np.ndarray) -> System:
    """The direct method: M_r = BᵀMB, Q = Bᵀ(F − Mψ)."""
    return System(m.M_r, tau + m.Q, (("q̈", m.n),))


def composite_system(m: Matrices, tau: np.ndarray) -> System:
    """Composite bodies: M_r = AᵀM*A, Q = AᵀQ*, with M* and Q* gathered from the leaves inward."""
    inertia = composite_inertia(m, m.M_blocks, dense(m.D))
    if m.deformed:
        carried = m.A.T @ np.array([m.inward(column) for column in dense(m.P).T]).T
        inertia = inertia + carried + carried.T
    return System(inertia, tau + m.A.T @ m.Q_star - m.P.T @ m.psi, (("q̈", m.n),))


def solve_direct(m: Matrices, tau: np.ndarray) -> Solution:
    return _solve(m, direct_system(m, tau))


def solve_composite(m: Matrices, tau: np.ndarray) -> Solution:
    return _solve(m, composite_system(m, tau))


def composite_bodies(m: Matrices, masses: list[np.ndarray]) -> list[np.ndarray]:
    """M*_i (6×6) = M_i + Σ C_lᵀM*_lC_l over the children l, of such masses: body i and all it carries, welded together."""
    star = [M.copy() for M in masses]
    for i in range(m.N - 1, -1, -1):
        if m.k[i] >= 0:
            star[m.k[i]] += m.C[i].T @ star[i] @ m.C[i]  # (D1)
    return star


def composite_blocks(m: Matrices) -> Iterator[tuple[int, int, np.ndarray]]:
    """Blocks of M* = TᵀMT: M*_ij = M*_iT_ij where body j carries body i, and their transposes."""
    for i, block in enumerate(composite_bodies(m, m.M_blocks)):
        yield i, i, block
        X, j = block, i
        while m.k[j] >= 0:
            X, j = X @ m.C[j], m.k[j]
            yield i, j, X
            yield j, i, X.T


def composite_inertia(m: Matrices, masses: list[np.ndarray], D: np.ndarray) -> np.ndarray:
    """M_r (n×n) of such masses and D, from the composite bodies: off the diagonal along the path."""
    star = composite_bodies(m, masses)
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


def _solve(m: Matrices, equations: System) -> Solution:
    qdd = solve_definite(equations.matrix, equations.right) if m.n else np.zeros(0)
    vdot = m.B @ qdd + m.psi  # [I] (2.22)
    return Solution(qdd=qdd, vdot=vdot.reshape(-1, 6), R=reactions(m, vdot, qdd))
