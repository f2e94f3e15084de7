"""Maggi's equations in redundant quasi-velocities: both spaces at once, no multipliers.

BᵀM v̇ + D q̈ = τ + BᵀF;   ZᵀS v̇ = Zᵀw*        (6N unknowns v̇; D: rotors, q̈ = A⁺(Sv̇ − w*))
"""

from __future__ import annotations

import numpy as np

from ..errors import MethodError
from ..model.mobility import degrees_of_freedom
from .blocks import block_diagonal, stacked
from .closed import independent, maggi_system
from .constraint_rows import Rows
from .kinetostatics import reactions
from .matrices import Matrices
from .solution import Solution
from .system import System


def system(m: Matrices, tau: np.ndarray) -> System:
    """Both projections, one above the other."""
    m.needs_axes("maggi")
    top, bottom = m.B.T @ m.M, m.Z.T @ m.S
    tau = tau + m.B.T @ m.F
    if m.rotors.any():  # q̈ = A⁺(Sv̇ − w*) turns the rotors
        D = block_diagonal([r[:, None] * np.linalg.pinv(A) for A, r in zip(m.A_blocks, m.rotor_blocks, strict=True)], m.sparse)
        top, tau = top + D @ m.S, tau + D @ m.w_star
    return System(stacked(top, bottom), np.concatenate([tau, m.Z.T @ m.w_star]), (("v̇", 6 * m.N),))


def solve(m: Matrices, tau: np.ndarray) -> Solution:
    if m.structure.coupled:  # speeds that bodies share, elastic coordinates: q̈ is kept beside v̇, as with closed loops
        qdd = maggi_system(m, tau, (np.zeros((0, m.n)), np.zeros(0))).solve()["q̈"]
        vdot = m.B @ qdd + m.psi
        return Solution(qdd=qdd, vdot=vdot.reshape(-1, 6), R=reactions(m, vdot, qdd))
    vdot = system(m, tau).solve()["v̇"]
    qdd = m.joint_accelerations(vdot)
    return Solution(qdd=qdd, vdot=vdot.reshape(-1, 6), R=reactions(m, vdot, qdd))


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
