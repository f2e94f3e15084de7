"""Chatter: a right-hand side that jumps, and drives the state back across the jump from either side.

No step is small enough for it: every one that is accepted ends just beyond the jump, where the motion turns round. A run is
suspected when it would need a million steps more at the pace of the last thousands; found guilty only on evidence: over a few
hundred steps the derivative of one number changes its sign again and again, the number itself stays within the tolerances, and
between two of these states the derivative jumps however near they are taken. A slow run without this goes on.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .stepping import state as s
from .switching import UNWATCHED
from .system import System

WINDOW = 2000
"""Steps over which the pace is taken."""

SLOW = 1e6
"""Steps that a run would still need at that pace, to be suspected."""

RECORDED = 240
"""Steps that are recorded for the evidence."""

FLIPS = 12
"""Changes of sign among them."""

NARROW = 1e4
"""How far the number may be from a straight line over the recorded steps, in units of its tolerance."""

BISECTIONS = 60


@dataclass(frozen=True)
class Chatter:
    """Number `index` of the state is driven across a jump and back: its derivative changed its sign `flips` times over `steps`
    steps, which took `span` of time; it jumps between the states `before` and `after`, which differ by rounding alone."""

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
    """Its derivative there."""
    ahead: float
    """Steps the run would have needed."""


class ChatterWatch:
    def __init__(self, system: System, t0: float) -> None:
        self.system = system
        self.look_at = float(WINDOW)
        """Steps at which to look."""
        self.found: Chatter | None = None
        self._mark = (0.0, t0)  # steps and time where the window begins
        self._patience = 1.0
        self._record: list[tuple[float, np.ndarray, np.ndarray]] = []
        self._ahead = 0.0

    def chatters(self, state: s.Run) -> bool:
        """After a pause: whether the run is found to chatter; `found` says how."""
        steps, t = float(state.tally[s.STEPS]), float(state.clock[s.T])
        if steps < self.look_at:
            return False
        if self._record:
            return self._recorded(state, steps, t)
        pace = abs(t - self._mark[1]) / (steps - self._mark[0])
        self._mark = steps, t
        self._ahead = abs(state.clock[s.T_END] - t) / max(pace, 1e-300)
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
        weight = state.atol + state.rule[s.RTOL] * np.abs(state.x)
        watched = np.flatnonzero(weight < UNWATCHED)
        if not watched.size or t[-1] == t[0]:
            return None
        jumps = np.abs(np.diff(f, axis=0))
        turned = (f[1:] * f[:-1] < 0.0) & (jumps >= 0.25 * jumps.max(axis=0))
        j = int(watched[np.argmax((turned.sum(axis=0) >= FLIPS)[watched] * jumps.max(axis=0)[watched] / weight[watched])])
        flips = int(turned[:, j].sum())
        if flips < FLIPS:
            return None
        s_ = (t - t[0]) / (t[-1] - t[0])
        line = np.polynomial.Polynomial.fit(s_, x[:, j], 1)
        if np.ptp(x[:, j] - line(s_)) > NARROW * weight[j]:
            return None
        k = int(np.argmax(np.where(turned[:, j], jumps[:, j], 0.0)))
        across = self.jump((t[k], x[k]), (t[k + 1], x[k + 1]), j)
        if across is None:
            return None
        crossings = int((x[1:, j] * x[:-1, j] < 0.0).sum())
        return Chatter(j, float(t[k]), float(abs(t[-1] - t[0])), len(t) - 1, flips, crossings, *across, self._ahead)

    def jump(
        self, a: tuple[float, np.ndarray], b: tuple[float, np.ndarray], j: int
    ) -> tuple[np.ndarray, np.ndarray, tuple[float, float]] | None:
        """Two states as near each other as numbers allow between which the derivative of number j still jumps; None where it
        is continuous."""
        (ta, xa), (tb, xb) = a, b
        fa, fb = (float(self.system.derivative(t, x)[j]) for t, x in (a, b))
        whole = abs(fb - fa)
        for _ in range(BISECTIONS):
            t, x = 0.5 * (ta + tb), 0.5 * (xa + xb)
            if (x == xa).all() or (x == xb).all():
                break
            f = float(self.system.derivative(t, x)[j])
            if abs(f - fa) >= abs(fb - f):
                tb, xb, fb = t, x, f
            else:
                ta, xa, fa = t, x, f
        return (xa, xb, (fa, fb)) if abs(fb - fa) >= 0.5 * whole > 0.0 else None
