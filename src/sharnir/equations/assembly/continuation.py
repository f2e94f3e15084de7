"""The range of one coordinate: along the closed positions of a mechanism, to a value asked for or to where it turns back.

The coordinate x is driven up (or down) along the closed positions: steps along the part of its gradient that the constraints
allow, each followed by a return onto them. Where nothing is left of the gradient, x is at a limit of its range. With one freedom
this follows the only curve there is; with more it is an ascent by conjugate gradients.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ...model.model import Model
from ..motion.retraction import retract
from .fixed_coordinates import angles, coordinate_rows, own_speeds
from .least_motion import along
from .loop_closure import Closing, Closure

MAX_STEPS = 300
FIRST_STEP, LONGEST_STEP = 0.1, 0.4
"""Lengths of steps, rad; steps of slides alone may be longer."""
SHORTEST_STEP = 1e-9
FLAT = 1e-5
"""Change of the coordinate per unit of motion below which it is at its limit: that is then known to the square of this."""
CORRECTIONS, ENOUGH = 12, 1e-9
"""Iterations in which the loops must close after a step, and how well."""


@dataclass(frozen=True)
class Reached:
    """The end of a drive: a closed position, and whether the value asked for was reached or there is no limit."""

    q: np.ndarray
    value: float
    there: bool = False
    endless: bool = False


class Drive:
    """Moves coordinate k along the closed positions that the speeds in `closure.free` lead to."""

    def __init__(self, closure: Closure, k: int) -> None:
        self.closure, self.k, self.model = closure, k, closure.model
        own = own_speeds(self.model.structure)[k]
        self.is_angle = bool(own >= 0 and angles(self.model.structure)[own])
        self._turning = angles(self.model.structure)

    def towards(self, q: np.ndarray, target: float) -> Reached:
        """The end of a drive from the closed position q to the value asked for, or to the limit on the way."""
        ended = self._driven(q, math.copysign(1.0, target - q[self.k]), target)
        if (ended.value - target) * (q[self.k] - target) > 0.0:
            return ended
        found = self._held_at(ended.q, target)
        return Reached(found.q, target, there=True) if found.closed else ended

    def range_beyond(self, q: np.ndarray, ended: Reached) -> tuple[float, float]:
        """The least and the largest value, infinite where there is no limit, one of them being where `towards` ended."""
        sign = math.copysign(1.0, q[self.k] - ended.value)
        other = self._driven(q, sign, sign * math.inf)
        ends = (ended.value, sign * math.inf if other.endless else other.value)
        return min(ends), max(ends)

    def _held_at(self, q: np.ndarray, value: float) -> Closing:
        c, own = self.closure, own_speeds(self.model.structure)[self.k]
        at = np.array(q)
        at[self.k] = value
        if own >= 0:
            free = c.free.copy()
            free[own] = False
            return Closure(c.model, c.table, c.t, free, c.held, c.values).close(at)
        values = np.append(np.zeros(0) if c.values is None else c.values, value)
        return Closure(c.model, c.table, c.t, c.free, [*c.held, self.k], values).close(at)

    def _driven(self, q: np.ndarray, sign: float, target: float) -> Reached:
        """The end of a drive to the limit in that direction, or past the target."""
        step, begun, way, last = FIRST_STEP, float(q[self.k]), None, None
        p = self._gradient(q, sign)
        for _ in range(MAX_STEPS):
            slope = float(np.linalg.norm(p))
            if slope < FLAT:
                break
            if way is None or last is None:
                way = p / slope
            else:  # conjugate to the step before, but never downward (Polak, Ribière)
                share = max(0.0, float(p @ (p - last)) / float(last @ last)) * float(np.linalg.norm(last))
                way = p + share * along(self.closure.at(q)[1], way)
                way = way / np.linalg.norm(way) if way @ p > 0.1 * slope * np.linalg.norm(way) else p / slope
            rise = float(way @ p)
            length = min(step, LONGEST_STEP / max(float(np.abs(way[self._turning]).max(initial=0.0)), 1e-300))
            if math.isfinite(target):
                length = min(length, 1.0001 * abs(target - q[self.k]) / rise)
            found = self._moved(q, length * way)
            if found is None:
                step = 0.25 * length
                if step < SHORTEST_STEP:
                    break
                continue
            after = self._gradient(found, sign)
            if (falling := float(after @ way)) < 0.0:  # past the top: back to where it is level, by the secant
                nearer = self._moved(q, length * max(0.05, rise / (rise - falling)) * way)
                if nearer is not None:
                    found, after = nearer, self._gradient(nearer, sign)
            if sign * (found[self.k] - q[self.k]) <= 0.0 and length < 1e-6:
                break
            if sign * (found[self.k] - q[self.k]) < 0.0:
                step = 0.25 * length
                continue
            step = 1.5 * length if falling >= 0.0 else length
            q, last, p = found, p, after
            if sign * (q[self.k] - target) >= 0.0:
                return Reached(q, float(q[self.k]))
            if abs(q[self.k] - begun) > (2.0 * math.pi if self.is_angle else 1e4 * (1.0 + abs(begun))):
                return Reached(q, float(q[self.k]), endless=True)
        return Reached(q, float(q[self.k]))

    def _gradient(self, q: np.ndarray, sign: float) -> np.ndarray:
        c = self.closure
        return sign * along(c.at(q)[1], coordinate_rows(c.model, q, [self.k], c.t)[0] * c.free)

    def _moved(self, q: np.ndarray, motion: np.ndarray) -> np.ndarray | None:
        """After a motion and the return onto the constraints; None where that leads elsewhere."""
        c = self.closure
        trial = retract(c.model, q, motion, c.t)
        found = c.closed(trial, CORRECTIONS, ENOUGH)
        if found is None or distance(c.model, trial, found) > 0.5 * float(np.linalg.norm(motion)) + 1e-12:
            return None
        return found


def distance(model: Model, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Length of the motion between positions (…, nq) that are not far apart."""
    d, at = turned_alike(model, a, b) - b, model.structure.quaternions[:, None] + np.arange(4)
    d[..., at] *= 2.0
    return np.asarray(np.linalg.norm(d, axis=-1))


def turned_alike(model: Model, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Coordinates a (…, nq) with quaternions of length one, of the two that mean the same turn the nearer to those of b."""
    out, at = np.array(a), model.structure.quaternions[:, None] + np.arange(4)
    if len(at):
        part = a[..., at]
        sign = np.where((part * b[..., at]).sum(axis=-1, keepdims=True) < 0.0, -1.0, 1.0)
        out[..., at] = sign * part / np.linalg.norm(part, axis=-1, keepdims=True)
    return out
