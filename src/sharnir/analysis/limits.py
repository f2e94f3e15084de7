"""Limits of joints as bounds of the coordinates that speeds move one to one, followers included; random starts within them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ..model.model import Model
from ..model.placed_joint import PlacedJoint
from ..model.values import coordinate_limits

ON_LIMIT = 1e-9
"""A coordinate this close to a limit stands on it, relative to the limit where that is large."""
START_CLOSING, STEP_CLOSING = 100, 15
"""Iterations in which loops must close, at a start and after a step of a search."""
CLOSINGS = 4
"""Starts after which a mechanism that was closed from none of them counts as one that cannot be closed."""


class Limits:
    """`low` and `high` (nv,): infinite where a speed has no coordinate of its own (quaternions) or there is no end.

    `coordinate` (nv,): the index in q of the coordinate whose rate a speed is, −1 where there is none.
    """

    def __init__(self, model: Model, apply: bool = True) -> None:
        self.low, self.high = np.full(model.nv, -np.inf), np.full(model.nv, np.inf)
        self.coordinate = np.full(model.nv, -1)
        for joint in model.joints:
            q, v = model.q_slice(joint.name).start, model.v_slice(joint.name).start
            for a, name in enumerate(joint.v_names):
                if name in joint.q_names:
                    self.coordinate[v + a] = q + joint.q_names.index(name)
        for joint in model.joints if apply else ():
            for at, low, high in _pairs(model, joint):
                self.low[at], self.high[at] = max(self.low[at], low), min(self.high[at], high)

    def values(self, q: np.ndarray) -> np.ndarray:
        """(nv,): the coordinate of every speed, zero where it has none."""
        return np.where(self.coordinate >= 0, q[self.coordinate], 0.0)

    def clipped(self, q: np.ndarray, free: np.ndarray) -> np.ndarray:
        """The nearest coordinates within the limits; those that are not free stay."""
        out, own = q.copy(), free & (self.coordinate >= 0)
        at = self.coordinate[own]
        out[at] = np.minimum(np.maximum(q[at], self.low[own]), self.high[own])
        return out

    def beyond(self, q: np.ndarray, slack: float = 0.0) -> np.ndarray:
        """(nv,): which stand beyond a limit by more than `slack`."""
        x = self.values(q)
        return (x < self.low - slack) | (x > self.high + slack)

    def on(self, q: np.ndarray) -> np.ndarray:
        """(nv,): −1 at the lower limit, 1 at the upper one, 0 between."""
        x = self.values(q)
        with np.errstate(invalid="ignore"):
            at_low = x <= self.low + ON_LIMIT * np.maximum(1.0, np.abs(self.low))
            at_high = x >= self.high - ON_LIMIT * np.maximum(1.0, np.abs(self.high))
        return np.where(at_high, 1, np.where(at_low, -1, 0))


def _pairs(model: Model, joint: PlacedJoint) -> Iterator[tuple[int, float, float]]:
    """(index of a speed, low, high) of a joint; a follower's limits as those of its leader."""
    given: Any = joint.type.limits
    if given is None:
        return
    if joint.follows:
        low, high = _ends(given, 0)
        ends = sorted((x - joint.follows.offset) / joint.follows.ratio for x in (low, high))
        where = model.v_slice(joint.follows.leader)
        if where.stop > where.start:
            yield where.start, ends[0], ends[1]
        return
    first = model.v_slice(joint.name).start
    for a, name in enumerate(joint.v_names):
        if name in joint.q_names:
            yield first + a, *_ends(given, joint.q_names.index(name))


def _ends(given: Any, k: int) -> tuple[float, float]:
    low, high = coordinate_limits(given, k)
    return -np.inf if low is None else float(low), np.inf if high is None else float(high)


def closed_starts(closed: Callable[[int], np.ndarray | None], starts: int) -> Iterator[tuple[int, np.ndarray]]:
    """Starts that can be closed, with their numbers; none where the first few cannot."""
    any_closed = False
    for k in range(starts):
        q = closed(k)
        any_closed |= q is not None
        if not any_closed and k + 1 >= CLOSINGS:
            return
        if q is not None:
            yield k, q


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
