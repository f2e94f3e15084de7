"""States to compare methods in: random ones that satisfy the constraints, and a short motion through one of them."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..dynamics import Dynamics
from ..equations.motion.retraction import retract as moved
from ..errors import AssemblyError
from ..model.model import Model

STEP = 1e-3
"""Seconds between neighbouring states of the motion: what a warm-started method would meet in a simulation."""
LENGTH = 33
"""States of the motion, which is then followed back: a cycle of 64 without a jump."""
_DISTANCES = (1.0, 0.3, 0.1, 0.0)
"""Distances from neutral from which assembly starts, once a random position could not be assembled."""

Arguments = tuple[np.ndarray, np.ndarray, np.ndarray, float | np.ndarray]
"""q, v (or p), τ, t of one evaluation."""


@dataclass(frozen=True)
class States:
    """Rows of q, v, τ, and their times t."""

    q: np.ndarray
    v: np.ndarray
    tau: np.ndarray
    t: np.ndarray
    p: np.ndarray | None = None
    """Momenta, where the form in momenta is compared."""

    def __len__(self) -> int:
        return len(self.q)

    def _speeds(self, gives: str) -> np.ndarray:
        found = self.v if gives == "q̈" else self.p
        assert found is not None
        return found

    def single(self, gives: str, k: int) -> Arguments:
        """Arguments of an evaluation that gives q̈ or ṗ in state k."""
        return self.q[k].copy(), self._speeds(gives)[k].copy(), self.tau[k].copy(), float(self.t[k])

    def batch(self, gives: str, which: np.ndarray) -> Arguments:
        """Arguments for these states, in this order."""
        return self.q[which], self._speeds(gives)[which], self.tau[which], self.t[which]

    def with_momenta(self, model: Model) -> States:
        """The states with momenta, by the interpreter: only that they belong to the velocities matters."""
        d = Dynamics(model, "momentum", "python")
        return replace(self, p=np.array([d.momenta(q, v, float(t)) for q, v, t in zip(self.q, self.v, self.t, strict=True)]))


def random_states(model: Model, n: int, seed: int) -> States:
    """Random states: coordinates in [−1, 1], velocities and joint forces of order one, times within the first second."""
    rng = np.random.default_rng(seed)
    rows = [_random_state(model, rng, float(rng.uniform())) for _ in range(n)]
    return States(*(np.array([row[k] for row in rows], dtype=float) for k in range(4)))


def _random_state(model: Model, rng: np.random.Generator, t: float) -> tuple[np.ndarray, np.ndarray, np.ndarray, float]:
    q, v, tau = model.random_q(rng), rng.normal(size=model.nv), rng.normal(size=model.nv)
    if not model.constraints:
        return q, v, tau, t
    for distance in _DISTANCES:
        try:
            return *model.assemble(q, v, t), tau, t
        except AssemblyError:
            q = moved(model, model.neutral(), distance * rng.uniform(-1.0, 1.0, model.nv), t)
    return *model.assemble(q, v, t), tau, t


def motion(model: Model, start: States) -> States:
    """Motion from the first state at constant velocity, in steps of `STEP`, there and back."""
    q, v, tau, t = start.q[0], start.v[0], start.tau[0], float(start.t[0])
    rows = [(q, v)]
    while len(rows) < LENGTH:
        q = moved(model, q, STEP * v, t)
        if model.constraints:
            try:
                q, v = model.assemble(q, v, t)
            except AssemblyError:  # the end of the range of motion: back from here
                break
        rows.append((q, v))
    rows += rows[-2:0:-1]
    n = len(rows)
    return States(np.array([q for q, _ in rows]), np.array([v for _, v in rows]), np.tile(tau, (n, 1)), np.full(n, t))
