"""Where the methods are compared: random states that meet the constraints, and a short motion through one of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..equations.retraction import retract as moved
from ..errors import AssemblyError
from ..model.model import Model

STEP = 1e-3
"""Seconds between neighbouring states of the motion: what a method that improves its last answer would meet in a run."""
LENGTH = 33
"""States of the motion, which is then followed back again: a round of 64 without a jump."""
_REACH = (1.0, 0.3, 0.1, 0.0)
"""How far from neutral a start of assembly is looked for, once a random position could not be assembled."""


@dataclass(frozen=True)
class States:
    """Rows of q, v, τ; all at their time t."""

    q: np.ndarray
    v: np.ndarray
    tau: np.ndarray
    t: np.ndarray

    def __len__(self) -> int:
        return len(self.q)

    def taken(self, which: np.ndarray) -> States:
        """These rows, in this order."""
        return States(*(np.ascontiguousarray(x[which]) for x in (self.q, self.v, self.tau, self.t)))


def random_states(model: Model, n: int, seed: int) -> States:
    """Coordinates anywhere in [−1, 1], speeds and joint forces of order one, times within the first second."""
    rng = np.random.default_rng(seed)
    rows = [_random_state(model, rng, float(rng.uniform())) for _ in range(n)]
    return States(*(np.array([row[k] for row in rows], dtype=float) for k in range(4)))


def _random_state(model: Model, rng: np.random.Generator, t: float) -> tuple[np.ndarray, np.ndarray, np.ndarray, float]:
    q, v, tau = model.random_q(rng), rng.normal(size=model.nv), rng.normal(size=model.nv)
    if not model.constraints:
        return q, v, tau, t
    for reach in (None, *_REACH):
        start = q if reach is None else moved(model, model.neutral(), reach * rng.uniform(-1.0, 1.0, model.nv), t)
        try:
            return *model.assemble(start, v, t), tau, t
        except AssemblyError:
            if reach == 0.0:
                raise
    raise AssertionError


def motion(model: Model, start: States) -> States:
    """From the first state on at constant speed, in steps of `STEP`, there and back."""
    q, v, tau, t = start.q[0], start.v[0], start.tau[0], float(start.t[0])
    rows = [(q, v)]
    while len(rows) < LENGTH:
        q = moved(model, q, STEP * v, t)
        if model.constraints:
            try:
                q, v = model.assemble(q, v, t)
            except AssemblyError:  # an end of the way: it is followed back from here
                break
        rows.append((q, v))
    rows += rows[-2:0:-1]
    n = len(rows)
    way_q, way_v = (np.array([row[k] for row in rows]) for k in range(2))
    return States(way_q, way_v, np.tile(tau, (n, 1)), np.full(n, t))
