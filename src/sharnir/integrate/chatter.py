"""Chatter: a right-hand side that jumps, and drives the state back across the jump from either side.

No step is small enough for it: every one that is accepted ends just beyond the jump, where the motion turns round. A run is
suspected when it would need a hundred thousand steps more at the pace of the last hundreds; it is found to chatter only if over a
hundred steps one number goes to and fro, no further than the tolerances, and between two of these states, however near they are
taken, its derivative jumps from one sign to the other. A slow run without this goes on.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .kernels import state as s
from .kernels.control import SLOW, WINDOW
from .switching import UNWATCHED
from .system import System

RECORDED = 120
"""Steps that are recorded for this decision."""

FLIPS = 8
"""Turns among them."""

NARROW = 1e4
"""How far the number may be from a straight line over the recorded steps, in units of its tolerance."""

NEAR = 0.01
"""Distance of two states, in units of the tolerances, between which a change is a jump."""

BISECTIONS = 60

SUSPECTS = 8
"""Numbers of the state that are looked at: those first that cross zero, then those whose derivative is largest."""

Pair = tuple[float, np.ndarray, float, np.ndarray]
"""Two times with their states."""


@dataclass(frozen=True)
class Chatter:
    """Number `index` of the state is driven to and fro across a jump: it turned round `flips` times in `steps` steps, which took
    `span` of time. Its derivative jumps between the states `before` and `after`, which are one step apart or nearer. With no
    steps at all: no step got past the jump."""

    index: int
    t: float
    span: float
    steps: int
    flips: int
    crossings: int
    """How often the number itself changed its sign."""
    before: np.ndarray
    after: np.ndarray
    rates: tuple[float, float]
    """Its derivative on either side of the jump."""
    ahead: float = np.inf
    """Steps the run would still have needed."""

    @property
    def words(self) -> str:
        if not self.steps:
            return "no step gets past it"
        return f"it turned round {self.flips} times in {self.steps} steps, {self.span:.2g} s"


class ChatterWatch:
    def __init__(self, system: System, t0: float, t1: float) -> None:
        self.system, self._end = system, t1
        self.look_at = float(WINDOW)
        """Steps at which to look."""
        self.turning = False
        """Whether at the last look something went to and fro that did not jump."""
        self.found: Chatter | None = None
        self._mark = (0.0, t0)  # steps and time where the window begins
        self._patience = 1.0
        self._record: list[tuple[float, np.ndarray, np.ndarray]] = []
        self._ahead = 0.0

    def chatters(self, state: s.Run) -> bool:
        """After a pause: whether the run is found to chatter; `found` says how."""
        steps, t, self.turning = float(state.tally[s.STEPS]), float(state.clock[s.T]), False
        if steps < self.look_at:
            return False
        if self._record:
            return self._recorded(state, steps, t)
        pace = abs(t - self._mark[1]) / (steps - self._mark[0])
        self._mark = steps, t
        self._ahead = abs(self._end - t) / max(pace, 1e-300)
        if self._ahead < SLOW:
            self.look_at = steps + WINDOW
            return False
        self._keep(state, steps, t)
        return False

    def _keep(self, state: s.Run, steps: float, t: float) -> None:
        self._record.append((t, state.x.copy(), state.dx.copy()))
        self.look_at = steps + 1.0

    def _recorded(self, state: s.Run, steps: float, t: float) -> bool:
        self._keep(state, steps, t)
        if len(self._record) <= RECORDED:
            return False
        with np.errstate(all="ignore"):
            self.found = self._evidence(state)
        self._record, self._mark, self._patience = [], (steps, t), 2.0 * self._patience
        self.look_at = steps + WINDOW * self._patience
        return self.found is not None

    def _evidence(self, state: s.Run) -> Chatter | None:
        t = np.array([one[0] for one in self._record])
        x, f = (np.array([one[k] for one in self._record]) for k in (1, 2))
        weight = self._weight(state)
        if t[-1] == t[0]:
            return None
        moves = np.diff(x, axis=0)
        flips = (moves[1:] * moves[:-1] < 0.0).sum(axis=0)
        part = (t - t[0]) / (t[-1] - t[0])
        line = np.stack([np.ones_like(part), part], axis=1)
        width = np.ptp(x - line @ np.linalg.lstsq(line, x, rcond=None)[0], axis=0)
        suspects = np.flatnonzero((weight < UNWATCHED) & (flips >= FLIPS) & (width <= NARROW * weight))
        crossings = (x[1:] * x[:-1] < 0.0).sum(axis=0)
        order = np.lexsort((-np.abs(f).max(axis=0)[suspects] / weight[suspects], crossings[suspects] < FLIPS))
        for j in suspects[order][:SUSPECTS]:
            self.turning = True
            k = int(np.argmax(np.abs(np.diff(f[:, j]))))
            h = float(np.abs(np.diff(t)).max() * np.sign(t[-1] - t[0]))
            pairs = [(t[k], x[k], t[k + 1], x[k + 1]), *self._ahead_of(t[-1], x[-1], f[-1], h * 2.0 ** np.arange(-2, 6))]
            for pair in pairs:
                if (across := self._jump(*pair, j, weight, float(np.ptp(f[:, j])))) is not None:
                    counts = (len(t) - 1, int(flips[j]), int(crossings[j]))
                    return Chatter(int(j), float(t[k]), float(abs(t[-1] - t[0])), *counts, *across, float(self._ahead))
        return None

    def blocked(self, state: s.Run) -> bool:
        """Where no step was small enough: whether a jump just ahead turns the motion back."""
        t, weight = float(state.clock[s.T]), self._weight(state)
        lengths = np.sign(state.clock[s.T_END] - t) * 10.0 ** np.arange(-15.0, -5.0)
        with np.errstate(all="ignore"):
            for pair in self._ahead_of(t, state.x.copy(), state.dx.copy(), lengths):
                change = np.abs(self.system.derivative(pair[2], pair[3]) - state.dx) / weight
                j = int(np.argmax(np.where((weight < UNWATCHED) & np.isfinite(change), change, 0.0))) if change.size else -1
                if j >= 0 and (across := self._jump(*pair, j, weight)) is not None:
                    self.found = Chatter(j, t, 0.0, 0, 0, 0, *across)
                    return True
        return False

    def _weight(self, state: s.Run) -> np.ndarray:
        weight: np.ndarray = state.atol + state.rule[s.RTOL] * np.abs(state.x)
        return weight

    def _ahead_of(self, t: float, x: np.ndarray, f: np.ndarray, lengths: np.ndarray) -> list[Pair]:
        """The state, with each of some further on along its derivative."""
        return [(t, x, t + h, x + h * f) for h in lengths.tolist()]

    def _jump(
        self, ta: float, xa: np.ndarray, tb: float, xb: np.ndarray, j: int, weight: np.ndarray, least: float = 0.0
    ) -> tuple[np.ndarray, np.ndarray, tuple[float, float]] | None:
        """The two states and the derivatives of number j on either side, where it jumps between them and changes its sign however
        near they are taken; None where it is continuous, as far as the tolerances see.

        least   twice the smallest jump that counts
        """
        ends = xa, xb
        fa, fb = (float(self.system.derivative(t, x)[j]) for t, x in ((ta, xa), (tb, xb)))
        whole = max(abs(fb - fa), least)
        if not (fa * fb < 0.0 and np.isfinite(whole)) or (np.abs(xb - xa) <= 8.0 * NEAR * weight).all():
            return None
        for _ in range(BISECTIONS):
            t, x = 0.5 * (ta + tb), 0.5 * (xa + xb)
            if (np.abs(xb - xa) <= NEAR * weight).all() or (x == xa).all() or (x == xb).all():
                break
            f = float(self.system.derivative(t, x)[j])
            if abs(f - fa) >= abs(fb - f):
                tb, xb, fb = t, x, f
            else:
                ta, xa, fa = t, x, f
        return (*ends, (fa, fb)) if fa * fb < 0.0 and abs(fb - fa) >= 0.5 * whole else None
