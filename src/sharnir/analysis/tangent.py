"""Small motions as vectors of speeds: q ⊕ δ on compiled rates, and the matrix N of q̇ = N v + n."""

from __future__ import annotations

import numpy as np

from ..dynamics import Dynamics
from ..equations.normalization import normalize


def moved(d: Dynamics, q: np.ndarray, delta: np.ndarray, t: float) -> np.ndarray:
    """q ⊕ δ, the retraction of `equations/retraction.py`."""
    rates = d.rates(q, np.stack([delta, np.zeros_like(delta)]), t)
    out = q + rates[0] - rates[1]
    return np.array(normalize(d.model, out.tolist(), t), dtype=float) if len(d.structure.quaternions) else out


def rate_matrix(d: Dynamics, q: np.ndarray, t: float) -> np.ndarray:
    """N(q) (nq, nv)."""
    n = d.model.nv
    rates = d.rates(q, np.concatenate([np.eye(n), np.zeros((1, n))]), t)
    return (rates[:-1] - rates[-1]).T
