"""The method of separate bodies (Vereshchagin): the extended system eliminated from the leaves to the root, O(N).

Inward, body i with all it carries becomes one body with inertia M^A and force F^A; outward, accelerations follow.
"""

from __future__ import annotations

import numpy as np

from .massless import check_inertia
from .matrices import Matrices
from .solution import Solution


def solve(m: Matrices, tau: np.ndarray) -> Solution:
    m.needs_axes("separate")
    check_inertia(m)
    (MA, U), w = articulated_inertias(m), m.w_star.reshape(-1, 6)
    FA = articulated_forces(m, MA, U, tau)
    qdd, vdot, R = np.zeros(m.n), np.zeros((m.N, 6)), np.zeros((m.N, 6))
    for i in range(m.N):  # (D4)
        A, k = m.A_blocks[i], m.k[i]
        known = (m.C[i] @ vdot[k] if k >= 0 else 0.0) + w[i]  # w* of a body on the base contains C_i v̇_0 already
        x = np.linalg.solve(U[i], tau[m.axes(i)] + A.T @ (FA[i] - MA[i] @ known))
        qdd[m.axes(i)] = x
        vdot[i] = known + A @ x
        R[i] = MA[i] @ vdot[i] - FA[i]
    return Solution(qdd=qdd, vdot=vdot, R=R)


def articulated_forces(m: Matrices, MA: list[np.ndarray], U: list[np.ndarray], tau: np.ndarray) -> np.ndarray:
    """F^A (N×6) of every body, from the leaves inward."""
    FA, w = m.F.reshape(-1, 6).copy(), m.w_star.reshape(-1, 6)
    for i in range(m.N - 1, -1, -1):  # (D3)
        A, k = m.A_blocks[i], m.k[i]
        if k >= 0:
            free = FA[i] - MA[i] @ w[i]
            FA[k] += m.C[i].T @ (free - MA[i] @ A @ np.linalg.solve(U[i], A.T @ free + tau[m.axes(i)]))
    return FA


def articulated_inertias(m: Matrices) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """M_i^A and U_i = A_iᵀM_i^A A_i + D_i of every body, from the leaves inward.                                         (D3)"""
    MA, U = [M.copy() for M in m.M_blocks], [np.zeros((0, 0))] * m.N
    axes, rotors, C, k = m.A_blocks, m.rotor_blocks, m.C, m.k
    for i in range(m.N - 1, -1, -1):
        A = axes[i]
        U[i] = A.T @ MA[i] @ A + np.diag(rotors[i])
        if k[i] >= 0:
            MA[k[i]] += C[i].T @ (MA[i] - MA[i] @ A @ np.linalg.solve(U[i], A.T @ MA[i])) @ C[i]
    return MA, U
