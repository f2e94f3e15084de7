"""Lagrange's equations of the first kind in absolute coordinates: reactions as multipliers, R = Zλ + R_τ.

R_τ = A(AᵀA)⁻¹τ is the part of the reactions that the joint forces fix; F̂ = F + SᵀR_τ.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..errors import MethodError
from .blocks import Matrix, dense, solve_definite
from .linear import solve as solve_system
from .matrices import Matrices
from .solution import Solution


def solve(m: Matrices, tau: np.ndarray) -> Solution:
    """The multipliers alone (3.10): Lλ = Zᵀ(w* − SM⁻¹F̂), L symmetric positive definite."""
    return solve_by(m, tau, solve_definite)


def solve_by(m: Matrices, tau: np.ndarray, solve_L: Callable[[Matrix, np.ndarray], np.ndarray]) -> Solution:
    """(3.10) with λ by a given solution of systems with the matrix L."""
    R_tau, F = _joint_forces(m, tau)
    right = m.Z.T @ (m.w_star - m.S @ (m.M_inverse @ F))
    R = m.Z @ solve_L(m.L, right) + R_tau
    vdot = m.M_inverse @ (m.S.T @ R + m.F)  # (3.9)
    return _solution(m, vdot, R)


def solve_with_accelerations(m: Matrices, tau: np.ndarray) -> Solution:
    """Accelerations and multipliers together (3.8), 12N − n unknowns: Mv̇ − SᵀZλ = F̂; −ZᵀSv̇ = −Zᵀw*."""
    R_tau, F = _joint_forces(m, tau)
    ZS = dense(m.Z.T @ m.S)
    k = ZS.shape[0]
    matrix = np.block([[dense(m.M), -ZS.T], [-ZS, np.zeros((k, k))]])
    x = solve_system(matrix, np.concatenate([F, -(m.Z.T @ m.w_star)]), (6 * m.N,))
    return _solution(m, x[: 6 * m.N], m.Z @ x[6 * m.N :] + R_tau)


def _joint_forces(m: Matrices, tau: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    m.needs_axes("lagrange1")
    if m.rotors.any():
        raise MethodError("the form 'lagrange1' eliminates joints before their rotors are known; choose another method")
    R_tau = np.zeros(6 * m.N)
    for i, A in enumerate(m.A_blocks):
        R_tau[6 * i : 6 * i + 6] = A @ np.linalg.solve(A.T @ A, tau[m.axes(i)])
    return R_tau, m.F + m.S.T @ R_tau


def _solution(m: Matrices, vdot: np.ndarray, R: np.ndarray) -> Solution:
    return Solution(qdd=m.joint_accelerations(vdot), vdot=vdot.reshape(-1, 6), R=R.reshape(-1, 6))


def invert_masses(m: Matrices) -> list[np.ndarray]:
    """M_i⁻¹ of every body; a body without mass or inertia has none, and this form cannot be used."""
    out = []
    for body, M in zip(m.structure.bodies, m.M_blocks, strict=True):
        if not body.is_solid:
            raise MethodError(
                f"method 'lagrange1' divides by the mass matrix of every body, but body {body.name!r} has "
                f"{'no mass' if body.mass == 0.0 else 'no inertia about some axis'}; choose another method"
            )
        out.append(np.linalg.inv(M))
    return out
