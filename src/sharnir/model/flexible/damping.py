"""Damping of elastic coordinates: ratios of critical damping, and Rayleigh's."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...errors import ModelError
from ...types import FloatArray


def damping_matrix(
    mass: FloatArray, stiffness: FloatArray, ratio: float | Sequence[float], rayleigh: Sequence[float], label: str
) -> FloatArray:
    """C = M V diag(2 ζ ω) Vᵀ M + α M + β K, where K V = M V ω², Vᵀ M V = 1.

    Ratios are those of the coordinates, in their order, where M and K are diagonal; otherwise of the modes by ascending
    frequency.
    """
    m = len(mass)
    ratios = np.full(m, ratio) if isinstance(ratio, float) else np.array(ratio)
    if ratios.shape != (m,):
        raise ModelError(f"{label}: damping has {ratios.size} numbers for {m} modes; give one per mode, or one for all")
    alpha, beta = rayleigh
    if _diagonal(mass) and _diagonal(stiffness):
        found = np.diag(2 * ratios * np.sqrt(np.diag(mass) * np.diag(stiffness)))
    else:
        import scipy.linalg  # here: files of rigid bodies do without it

        squares, V = scipy.linalg.eigh(stiffness, mass)
        MV = mass @ V
        found = (MV * (2 * ratios * np.sqrt(squares))) @ MV.T
    return found + alpha * mass + beta * stiffness


def _diagonal(a: FloatArray) -> bool:
    return not np.any(a - np.diag(np.diag(a)))
