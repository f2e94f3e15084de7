"""Lagrange's equations of the first kind in absolute coordinates: reactions as multipliers, R = Zλ + R_τ.

R_τ = A(AᵀA)⁻¹τ is the part of the reactions that the joint forces fix; F̂ = F + SᵀR_τ.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..errors import MethodError
from .blocks import Matrix, bordered, dense, solve_definite
from .matrices import Matrices
from .solution import Solution
from .system import System


def system(m: Matrices, tau: np.ndarray) -> System:
    """The multipliers alone (3.10): Lλ = Zᵀ(w* − SM⁻¹F̂), L symmetric positive definite."""
    _, F = joint_forces(m, tau)
    return System(m.L, m.Z.T @ (m.w_star - m.S @ (m.M_inverse @ F)), (("λ", m.L.shape[0]),))


def full_system(m: Matrices, tau: np.ndarray) -> System:
    """Accelerations and multipliers together (3.8), 12N − n unknowns: Mv̇ − SᵀZλ = F̂; −ZᵀSv̇ = −Zᵀw*."""
    _, F = joint_forces(m, tau)
    right = np.concatenate([F, -(m.Z.T @ m.w_star)])
    return System(bordered(m.M, m.Z.T @ m.S), right, (("v̇", 6 * m.N), ("λ", m.Z.shape[1])))


def solve(m: Matrices, tau: np.ndarray) -> Solution:
    """The multipliers by (3.10), then accelerations by (3.9)."""
    return solve_by(m, tau, solve_definite)


def solve_by(m: Matrices, tau: np.ndarray, solve_L: Callable[[Matrix, np.ndarray], np.ndarray]) -> Solution:
    """(3.10) with λ by a given solution of systems with the matrix L."""
    equations = system(m, tau)
    R = m.Z @ solve_L(equations.matrix, equations.right) + joint_forces(m, tau)[0]
    vdot = m.M_inverse @ (m.S.T @ R + m.F)  # (3.9)
    return _solution(m, vdot, R)


def solve_with_accelerations(m: Matrices, tau: np.ndarray) -> Solution:
    """Everything by (3.8)."""
    x = full_system(m, tau).solve()
    return _solution(m, x["v̇"], m.Z @ x["λ"] + joint_forces(m, tau)[0])


def joint_multipliers(m: Matrices) -> np.ndarray:
    """λ of all joints: by (3.10), and with loops from the reactions of the extended system of the graph."""
    if not m.model.constraints:
        return system(m, m.tau).solve()["λ"]
    equations = m.system("graph")
    whole = np.linalg.lstsq(equations.matrix, equations.right, rcond=1e-11)[0]
    return multipliers_of(m, whole[equations.places["R"]])


def multipliers_of(m: Matrices, R: np.ndarray) -> np.ndarray:
    """λ of these reactions of all joints, R = Zλ + R_τ."""
    free = R - np.pad(joint_forces(m, m.tau)[0], (0, 6 * len(m.cut_joints)))
    out: np.ndarray = np.linalg.lstsq(dense(m.Z_graph), free, rcond=None)[0]
    return out


def joint_forces(m: Matrices, tau: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """R_τ, what τ fixes of the reactions, and F̂ = F + SᵀR_τ."""
    m.needs_axes("lagrange1")
    if m.rotors.any():
        raise MethodError("the form 'lagrange1' is that of [I], without rotors; the method 'lagrange1' has them")
    R_tau = np.zeros(6 * m.N)
    for i, A in enumerate(m.A_blocks):
        R_tau[6 * i : 6 * i + 6] = A @ np.linalg.solve(A.T @ A, tau[m.axes(i)])
    return R_tau, m.F + m.S.T @ R_tau


def _solution(m: Matrices, vdot: np.ndarray, R: np.ndarray) -> Solution:
    return Solution(qdd=m.joint_accelerations(vdot), vdot=vdot.reshape(-1, 6), R=R.reshape(-1, 6))


def invert_masses(m: Matrices) -> list[np.ndarray]:
    """M_i⁻¹ of every body; a body without mass or inertia has none."""
    out = []
    for body, M in zip(m.structure.bodies, m.M_blocks, strict=True):
        if not body.is_solid:
            raise MethodError(
                f"M⁻¹ and L of (3.10) divide by the mass matrix of every body, but body {body.name!r} has "
                f"{'no mass' if body.mass == 0.0 else 'no inertia about some axis'}; take the form 'lagrange1-full', "
                "(3.8), or the method 'lagrange1'"
            )
        out.append(np.linalg.inv(M))
    return out
