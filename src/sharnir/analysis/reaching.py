"""The search of inverse kinematics: damped least squares along the constraints and within the limits of joints.

Every accepted position is closed, within the limits, and nearer to the targets than the last (Levenberg–Marquardt; each step a
small convex program, `bounded_step.py`). Where more joints are free than targets need, the solution then slides along the
positions that meet them toward the start.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..dynamics import Dynamics
from ..equations.assembly.least_motion import FIRST_DAMPING, Step, damped_newton
from ..equations.assembly.loop_closure import Closure
from ..equations.motion.retraction import retract
from ..equations.rows.constraint_table import ConstraintTable
from .bounded_step import bounded_step
from .limits import START_CLOSING, STEP_CLOSING, Limits
from .tangent_space import rate_matrix
from .targets import Target

MAX_ITERATIONS = 100
LEAST_DAMPING = 1e-12
"""Redundant joints leave the step open without any."""
CONVERGED = 1e-13
"""Weighted misses, m and rad, below which there is nothing to gain."""
SLOW = 1e-10
"""The share of the objective that a step must promise to take away for the search to go on."""
NEAREST = 1e-7
"""The share of the squared distance from the start that a step must promise to take away for the slide to go on."""
SLIDES = 40
"""Steps toward the start along the positions that meet the targets, at most."""


@dataclass(frozen=True)
class Reached:
    """A position, its misses r with their Jacobian, and the iterations spent on it."""

    q: np.ndarray
    r: np.ndarray
    J: np.ndarray
    iterations: int = 0

    @property
    def cost(self) -> float:
        return float(self.r @ self.r)


class Search:
    """The search for one set of targets; `free` (nv,) are the speeds of joints that may move."""

    def __init__(
        self, d: Dynamics, table: ConstraintTable | None, targets: Sequence[Target], free: np.ndarray, limits: Limits, t: float
    ) -> None:
        self.d, self.model, self.table, self.targets, self.t = d, d.model, table, targets, t
        self.free, self.limits = free, limits

    # --- positions that are allowed -----------------------------------------------------------------------------------------
    def allowed(self, q: np.ndarray, iterations: int = START_CLOSING) -> np.ndarray | None:
        """The nearest position that is closed and within the limits; None where none is found."""
        q = self.limits.clipped(q, self.free)
        if self.table is None:
            return q
        held = ~self.free
        for _ in range(1 + int(self.free.sum())):
            closed = Closure(self.model, self.table, self.t, ~held).closed(q, iterations)
            if closed is None:
                return None
            beyond = self.limits.beyond(closed, 1e-12) & self.free
            if not beyond.any():
                return closed
            if (beyond & held).all():
                return None
            held = held | beyond  # on its limit from here on; the others close the loops
            q = self.limits.clipped(closed, self.free)
        return None

    def at(self, q: np.ndarray, iterations: int = 0) -> Reached:
        found = [target.rows(self.d, q, self.t) for target in self.targets]
        return Reached(q, np.concatenate([r for r, _ in found]), np.concatenate([J for _, J in found]), iterations)

    def closing(self, q: np.ndarray) -> np.ndarray:
        """(rows, nv): the Jacobian of the constraints of position."""
        if self.table is None:
            return np.zeros((0, self.model.nv))
        return self.table.finite(q, np.zeros(self.model.nv), self.t)["J"][: self.table.n_holonomic]

    def _step(self, q: np.ndarray, A: np.ndarray, b: np.ndarray, mu: float, C: np.ndarray) -> np.ndarray:
        """(nv,): of the free speeds, within the limits."""
        free, x = self.free, self.limits.values(q)
        low, high = np.minimum(self.limits.low - x, 0.0), np.maximum(self.limits.high - x, 0.0)
        out = np.zeros(self.model.nv)
        out[free] = bounded_step(A[:, free], b, mu, C[:, free], low[free], high[free])
        return out

    def _moved(self, q: np.ndarray, step: np.ndarray) -> np.ndarray | None:
        return self.allowed(retract(self.model, q, step, self.t), STEP_CLOSING)

    # --- the search ---------------------------------------------------------------------------------------------------------
    def descend(self, start: Reached) -> Reached:
        """The end of a search for the least distance from the targets."""
        spent = start.iterations

        def step(now: Reached, damping: float, gain: float) -> Step | None:
            nonlocal spent
            if np.abs(now.r).max(initial=0.0) <= CONVERGED:
                return None
            spent += 1
            mu = max(damping, LEAST_DAMPING) * max(float((now.J**2).sum(axis=0).max(initial=0.0)), 1e-300)
            motion = self._step(now.q, now.J, now.r, mu, self.closing(now.q))
            promised = now.cost - float(((now.r + now.J @ motion) ** 2).sum())
            # the last step moves the joints by more than it changes the misses
            return Step(motion, promised, 0.0 if promised <= SLOW * now.cost else None)

        def moved(now: Reached, motion: np.ndarray) -> Reached | None:
            q = self._moved(now.q, motion)
            return None if q is None else self.at(q)

        now = damped_newton(start, step, moved, MAX_ITERATIONS, FIRST_DAMPING)
        return Reached(now.q, now.r, now.J, spent)

    def slide(self, reached: Reached, start: np.ndarray, enough: float) -> Reached:
        """The position nearest to the start, Σ(q − start)², with the targets still met to `enough`."""
        now = reached
        for _ in range(SLIDES):
            off = now.q - start
            N = rate_matrix(self.d, now.q, self.t)
            step = self._step(now.q, N, off, 1e-12, np.concatenate([self.closing(now.q), now.J]))
            before = float(off @ off)
            promised = before - float(((off + N @ step) ** 2).sum())
            if promised <= NEAREST * before:
                break
            share = min(1.0, 0.5 / max(float(np.abs(step).max()), 1e-300))
            for _ in range(8):
                q = self._moved(now.q, share * step)
                if q is not None:
                    trial = self.descend(self.at(q, now.iterations))
                    nearer = before - float(((trial.q - start) ** 2).sum())
                    if np.abs(trial.r).max() <= enough and nearer > 1e-3 * share * promised:
                        now = trial
                        break
                share *= 0.5
            else:
                break
        return now
