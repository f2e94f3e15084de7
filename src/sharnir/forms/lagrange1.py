"""Lagrange's equations of the first kind in absolute coordinates: reactions as multipliers, R = Zλ + R_τ.

R_τ = A(AᵀA)⁻¹τ = A⁺ᵀτ is the part of the reactions that the joint forces fix; F̂ = F + SᵀR_τ.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..errors import MethodError
from .blocks import Matrix, bordered, dense, solve_definite
from .independent import Rows, independent_rows
from .matrices import Matrices
from .solution import Solution
from .system import System


def full_system(m: Matrices, tau: np.ndarray, rows: Rows | None = None) -> System:
    """Accelerations and multipliers together (3.8), 12N − n unknowns: Mv̇ − SᵀZλ = F̂; −ZᵀSv̇ = −Zᵀw*.

    Rotors add D q̈ to the reactions, rows of constraints stand below those of the joints, independent ones of all:
    q̈ = A⁺(Sv̇ − w*) in both.
    """
    m.needs_axes("lagrange1")
    lift, w, M, S = m.A_inverse, m.w_star, m.M, m.S
    force, K, known = m.F + S.T @ (lift.T @ tau), m.Z.T @ m.S, m.Z.T @ m.w_star
    if m.rotors.any():
        rotors = S.T @ lift.T @ m.D
        M, force = M + rotors @ lift @ S, force + rotors @ (lift @ w)
    unknowns: tuple[tuple[str, int], ...] = (("v̇", 6 * m.N), ("λ", K.shape[0]))
    if rows is not None:
        J, gamma = rows
        used = independent_rows(whole := np.vstack([dense(K), J @ dense(lift @ S)]))
        joints = sum(k < K.shape[0] for k in used)
        M, K, known = dense(M), whole[used], np.concatenate([known, J @ (lift @ w) - gamma])[used]
        unknowns = (("v̇", 6 * m.N), ("λ", joints), ("λ_c", len(used) - joints))
    return System(bordered(M, K), np.concatenate([force, -known]), unknowns)


def system(m: Matrices, tau: np.ndarray, rows: Rows | None = None) -> System:
    """The multipliers alone (3.10): Lλ = Zᵀ(w* − SM⁻¹F̂), L symmetric positive definite."""
    if m.rotors.any():
        raise MethodError("(3.10) is without rotors; take the form 'lagrange1-full', (3.8), or the method 'lagrange1'")
    N6, full = 6 * m.N, full_system(m, tau, rows)
    K = -full.matrix[N6:, :N6]
    weighted = K @ m.M_inverse
    return System(weighted @ K.T, -full.right[N6:] - weighted @ full.right[:N6], full.unknowns[1:])


def solve(m: Matrices, tau: np.ndarray) -> Solution:
    """The multipliers by (3.10), then accelerations by (3.9)."""
    return solve_by(m, tau, solve_definite)


def solve_by(m: Matrices, tau: np.ndarray, solve_L: Callable[[Matrix, np.ndarray], np.ndarray]) -> Solution:
    """(3.10) with λ by a given solution of systems with the matrix L."""
    equations = system(m, tau)
    R = m.Z @ solve_L(equations.matrix, equations.right) + m.A_inverse.T @ tau
    vdot = m.M_inverse @ (m.S.T @ R + m.F)  # (3.9)
    return Solution(qdd=m.joint_accelerations(vdot), vdot=vdot.reshape(-1, 6), R=R.reshape(-1, 6))


def joint_multipliers(m: Matrices) -> np.ndarray:
    """λ of all joints: by (3.8), and with loops from the reactions of the extended system of the graph."""
    if not m.model.constraints:
        return full_system(m, m.tau).solve()["λ"]
    equations = m.system("graph")
    whole = np.linalg.lstsq(equations.matrix, equations.right, rcond=1e-11)[0]
    return multipliers_of(m, whole[equations.places["R"]])


def multipliers_of(m: Matrices, R: np.ndarray) -> np.ndarray:
    """λ of these reactions of all joints: R = Zλ + R_τ, and ZᵀR_τ = 0."""
    m.needs_axes("lagrange1")
    out: np.ndarray = np.linalg.lstsq(dense(m.Z_graph), R, rcond=None)[0]
    return out


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
