"""Derivatives of h(q, v, t) − J(q)ᵀλ with respect to q, in the tangent, and to v."""

from __future__ import annotations

import numpy as np

from ..dynamics import Dynamics
from ..equations.constraint_table import ConstraintTable
from .tangent import moved

STEP = 6e-6


def force_derivatives(
    d: Dynamics, table: ConstraintTable | None, q: np.ndarray, v: np.ndarray, lam: np.ndarray, t: float
) -> tuple[np.ndarray, np.ndarray]:
    """(nv, nv) each."""
    n = len(v)
    steps = STEP * np.concatenate([np.eye(n), -np.eye(n)])
    qs = np.array([moved(d, q, s, t) for s in steps]).reshape(2 * n, len(q))
    f = d.bias(qs, v, t)
    if table is not None:
        f = f - np.array([lam @ table.evaluate(x, v, t)["J"] for x in qs])
    g = d.bias(q, v + steps, t)
    return ((f[:n] - f[n:]) / (2.0 * STEP)).T, ((g[:n] - g[n:]) / (2.0 * STEP)).T
