"""Maggi's equations in redundant quasi-velocities: both spaces at once, no multipliers.

BᵀM v̇ + D q̈ = τ + BᵀF;   ZᵀS v̇ = Zᵀw*        (6N unknowns v̇; D: rotors, q̈ = A⁺(Sv̇ − w*))
"""

from __future__ import annotations

import numpy as np

from . import closed
from .blocks import block_diagonal, stacked
from .kinetostatics import reactions
from .linear import solve as solve_system
from .matrices import Matrices
from .solution import Solution


def solve(m: Matrices, tau: np.ndarray) -> Solution:
    if m.structure.coupled:  # speeds that bodies share, elastic coordinates: q̈ is kept beside v̇, as with closed loops
        qdd, _ = closed.maggi(m, tau, (np.zeros((0, m.n)), np.zeros(0)))
        vdot = m.B @ qdd + m.psi
        return Solution(qdd=qdd, vdot=vdot.reshape(-1, 6), R=reactions(m, vdot, qdd))
    top, bottom = m.B.T @ m.M, m.Z.T @ m.S
    tau = tau + m.B.T @ m.F
    if m.rotors.any():  # q̈ = A⁺(Sv̇ − w*) turns the rotors
        D = block_diagonal([r[:, None] * np.linalg.pinv(A) for A, r in zip(m.A_blocks, m.rotor_blocks, strict=True)], m.sparse)
        top, tau = top + D @ m.S, tau + D @ m.w_star
    right = np.concatenate([tau, m.Z.T @ m.w_star])
    vdot = solve_system(stacked(top, bottom), right)
    return Solution(qdd=m.joint_accelerations(vdot), vdot=vdot.reshape(-1, 6), R=reactions(m, vdot, m.joint_accelerations(vdot)))
