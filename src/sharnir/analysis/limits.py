"""Limits of joints as bounds of the coordinates that speeds move one to one, followers included; random starts within them; the
step of least squares within bounds and along constraints, by a primal active-set method for a small convex program:

    minimise ½‖A x + b‖² + ½ μ‖x‖²   subject to   C x = 0,   low ≤ x ≤ high        (low ≤ 0 ≤ high)

x = 0 is allowed, so every iterate is, and the objective never grows: what is returned can always be used.
"""

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
    """Bounds `low` and `high` (nv,): infinite where a speed has no coordinate of its own (quaternions) or there is no end.

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
        """(nv,): which coordinates are beyond a limit by more than `slack`."""
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
        low, high = sorted((x - joint.follows.offset) / joint.follows.ratio for x in _ends(given, 0))
        where = model.v_slice(joint.follows.leader)
        if where.stop > where.start:
            yield where.start, low, high
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
        if (q := closed(k)) is not None:
            any_closed = True
            yield k, q
        elif not any_closed and k + 1 >= CLOSINGS:
            return


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
    """The solution x (n,) of this convex program."""
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
            if hit >= 0:
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
