"""The extended system (3.6): Newton–Euler of every body, kinematics of every joint, ideal joints, all at once.

    M v̇ − SᵀR = F;   −S v̇ + A q̈ = −w*;   AᵀR + D q̈ = τ        (D: rotors of the drives, mostly zero)

Symmetric, indefinite, 12N + n unknowns. Dense and slow, and the oracle for everything else.
"""

from __future__ import annotations

import numpy as np

from .matrices import Matrices
from .solution import Solution
from .system import System


def system(m: Matrices, tau: np.ndarray) -> System:
    """(3.6), assembled."""
    N6 = 6 * m.N
    return System(m.extended, np.concatenate([m.F, -m.w_star, tau]), (("v̇", N6), ("R", N6), ("q̈", m.n)))


def solve(m: Matrices, tau: np.ndarray) -> Solution:
    """All unknowns in one solve; by SuperLU where the matrices are sparse."""
    x = system(m, tau).solve()
    return Solution(qdd=x["q̈"], vdot=x["v̇"].reshape(-1, 6), R=x["R"].reshape(-1, 6))
