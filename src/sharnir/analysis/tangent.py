"""The matrix N of q̇ = N v + n: how coordinates follow small motions given as speeds."""

from __future__ import annotations

import numpy as np

from ..dynamics import Dynamics


def rate_matrix(d: Dynamics, q: np.ndarray, t: float) -> np.ndarray:
    """N(q) (nq, nv)."""
    n = d.model.nv
    rates = d.rates(q, np.concatenate([np.eye(n), np.zeros((1, n))]), t)
    return (rates[:-1] - rates[-1]).T
