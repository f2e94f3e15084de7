"""Kinetostatics: the motion is given, the forces are sought. R = Tᵀ(Mv̇ − F), τ = AᵀR + D q̈."""

from __future__ import annotations

import numpy as np

from .matrices import Matrices
from .solution import Solution


def reactions(m: Matrices, vdot: np.ndarray, qdd: np.ndarray) -> np.ndarray:
    """R (N×6) from the accelerations of all bodies."""
    return m.inward(m.inertial_forces(vdot, qdd)).reshape(-1, 6)


def solve(m: Matrices, qdd: np.ndarray) -> tuple[np.ndarray, Solution]:
    """τ and everything else from given q̈: inverse dynamics with every joint reaction, drive forces included."""
    vdot = m.B @ qdd + m.psi
    R = reactions(m, vdot, qdd)
    return m.A.T @ R.ravel() + m.P.T @ vdot + m.D @ qdd - m.load, Solution(qdd=qdd, vdot=vdot.reshape(-1, 6), R=R)
