"""The two bases of a joint from one another (theory J6, J7): A spans its motions, Z its reactions, ZᵀA = 0."""

from __future__ import annotations

import numpy as np


def orthogonal_by_projector(A: np.ndarray) -> np.ndarray:
    """Z (6×m): independent columns of E − A(AᵀA)⁻¹Aᵀ."""
    n = A.shape[1]
    projector = np.eye(6) - A @ np.linalg.solve(A.T @ A, A.T) if n else np.eye(6)
    return projector[:, _independent(projector, 6 - n)]


def orthogonal_by_blocks(A: np.ndarray) -> np.ndarray:
    """Z (6×m): with A split by rows into an invertible block A_н and the rest A_з, Z = (−(A_н⁻¹)ᵀA_зᵀ ; E)."""
    n = A.shape[1]
    chosen = _independent(A.T, n)
    rest = np.setdiff1d(np.arange(6), chosen)
    Z = np.zeros((6, 6 - n))
    Z[rest] = np.eye(6 - n)
    if n:
        Z[chosen] = -np.linalg.solve(A[chosen].T, A[rest].T)
    return Z


def _independent(x: np.ndarray, n: int) -> np.ndarray:
    """Which n columns of x are the most independent, in order."""
    from scipy.linalg import qr

    return np.sort(qr(x, mode="r", pivoting=True)[1][:n])
