"""The extended system (3.6): Newton–Euler of every body, kinematics of every joint, ideal joints, all at once.

    M v̇ − SᵀR = F;   −S v̇ + A q̈ = −w*;   AᵀR + D q̈ = τ        (D: rotors of the drives, mostly zero)

Symmetric, indefinite, 12N + n unknowns. Dense and slow, and the oracle for everything else.
"""

from __future__ import annotations

import numpy as np

from .linear import solve as solve_system
from .matrices import Matrices
from .solution import Solution


def solve(m: Matrices, tau: np.ndarray) -> Solution:
    """All unknowns in one solve; by SuperLU where the matrices are sparse."""
    right = np.concatenate([m.F, -m.w_star, tau])
    N6 = 6 * m.N
    x = solve_system(m.extended, right, (N6, 2 * N6))
    return Solution(qdd=x[2 * N6 :], vdot=x[:N6].reshape(-1, 6), R=x[N6 : 2 * N6].reshape(-1, 6))
