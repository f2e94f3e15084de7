"""Random positions to search from, where the search from the given one fails."""

from __future__ import annotations

import math

import numpy as np

from ..model.model import Model
from .limits import Limits

START_CLOSING, STEP_CLOSING = 100, 15
"""Iterations in which loops must close, at a start and after a step of a search."""
CLOSINGS = 4
"""Starts after which a mechanism that was closed from none of them counts as one that cannot be closed."""


def random_start(model: Model, q0: np.ndarray, free: np.ndarray, limits: Limits, rng: np.random.Generator) -> np.ndarray:
    """Coordinates within half a turn (or π metres) of q0 and within the limits, quaternions anywhere; what is not free stays."""
    drawn, out = model.random_q(rng), q0.copy()
    x = limits.values(q0)
    low, high = np.maximum(limits.low, x - math.pi), np.minimum(limits.high, x + math.pi)
    uniform = rng.uniform(0.0, 1.0, model.nv)
    own = limits.coordinate >= 0
    for joint in model.joints:
        q, v = model.q_slice(joint.name), model.v_slice(joint.name)
        if not free[v].any():
            continue
        if not own[v].all():  # quaternions and what belongs to them: positions of a free joint stay near
            out[q] = drawn[q]
        for a in np.arange(v.start, v.stop)[own[v]]:
            bottom, top = (low[a], high[a]) if low[a] < high[a] else (limits.low[a], limits.high[a])
            out[limits.coordinate[a]] = bottom + uniform[a] * (top - bottom) if bottom < top else bottom
    return out
