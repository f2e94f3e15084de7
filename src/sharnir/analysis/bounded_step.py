"""The step of least squares within bounds and along constraints: a primal active-set method for a small convex program.

    minimise ½‖A x + b‖² + ½ μ‖x‖²   subject to   C x = 0,   low ≤ x ≤ high        (low ≤ 0 ≤ high)

x = 0 is allowed, so every iterate is, and the objective never grows: what is returned can always be used.
"""

from __future__ import annotations

import numpy as np

RANK = 1e-10
"""Singular values below this share of the largest count as zero."""


def null_space(C: np.ndarray) -> np.ndarray:
    """(n, k): orthonormal columns that C sends to zero. Rows of any length count alike."""
    n = C.shape[1]
    if not len(C) or not n:
        return np.eye(n)
    length = np.linalg.norm(C, axis=1, keepdims=True)
    unit = np.divide(C, length, where=length > 0.0, out=np.zeros_like(C))
    _, s, V = np.linalg.svd(unit)
    return V[int((s > RANK * max(float(s[0]), 1e-300)).sum()) :].T


def bounded_step(A: np.ndarray, b: np.ndarray, mu: float, C: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """x (n,)."""
    n = A.shape[1]
    H, c = A.T @ A + mu * np.eye(n), A.T @ b
    x, fixed = np.zeros(n), low >= high
    scale = float(np.abs(c).max(initial=0.0))
    for _ in range(10 * n + 20):
        free = ~fixed
        Z = null_space(C[:, free])
        slope = H @ x + c
        left = Z.T @ slope[free]
        if np.abs(left).max(initial=0.0) > 1e-12 * scale:
            p = np.zeros(n)
            p[free] = -Z @ np.linalg.lstsq(Z.T @ H[np.ix_(free, free)] @ Z, left, rcond=1e-14)[0]
            share, hit = _until_a_bound(x, p, low, high)
            x = x + share * p
            if hit < 0:
                continue
            x[hit] = high[hit] if p[hit] > 0.0 else low[hit]
            fixed[hit] = True
            continue
        release = _to_release(slope, C, free, x, low, high)
        if release < 0:
            break
        fixed[release] = False
    return x


def _until_a_bound(x: np.ndarray, p: np.ndarray, low: np.ndarray, high: np.ndarray) -> tuple[float, int]:
    """The share of p that stays within the bounds, and the index of the first bound that is met, −1 where none is."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        room = np.where(p > 0.0, (high - x) / p, np.where(p < 0.0, (low - x) / p, np.inf))
    hit = int(np.argmin(room)) if len(room) else -1
    return (1.0, -1) if hit < 0 or room[hit] >= 1.0 else (max(0.0, float(room[hit])), hit)


def _to_release(slope: np.ndarray, C: np.ndarray, free: np.ndarray, x: np.ndarray, low: np.ndarray, high: np.ndarray) -> int:
    """The bound whose release decreases the objective most, −1 where none does."""
    if free.all():
        return -1
    lam = np.linalg.lstsq(C[:, free].T, -slope[free], rcond=RANK)[0] if len(C) else np.zeros(0)
    inward = slope + C.T @ lam  # > 0: the objective falls where x falls
    gain = np.where(x >= high, inward, np.where(x <= low, -inward, 0.0))
    gain[free | (low >= high)] = 0.0
    worst = int(np.argmax(gain))
    return worst if gain[worst] > 1e-12 * max(float(np.abs(slope).max()), 1e-300) else -1
