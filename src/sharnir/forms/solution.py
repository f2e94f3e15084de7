"""The solution of a form of the equations of motion."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Solution:
    """Accelerations and reactions of one state."""

    qdd: np.ndarray
    """q̈ (n): accelerations of the generalised coordinates (rates of the speeds)."""
    vdot: np.ndarray
    """v̇ (N×6): true accelerations of body origins and angular accelerations, body axes."""
    R: np.ndarray
    """R (N×6): force and moment of joint i on body i at its origin, body axes; AᵀR = τ (less what turns the rotors)."""
