"""'auto': an explicit method as long as it is the cheaper one, an implicit one where the problem is stiff, and back.

The compiled loop counts steps that stability limits (kernels/control.py) and pauses at an alarm. Here it is checked by the
eigenvalues of the Jacobian, by differences, before the implicit method and the exact Jacobian are compiled. The way back is
looked at every so many steps: where the explicit method would be stable with steps as long, it takes over. All of it follows from
the states alone, never from a clock, so that a run repeated is the same run.
"""

from __future__ import annotations

import numpy as np

from .kernels import state as s
from .kernels.control import BOUND, NEVER
from .kernels.problem import Problem
from .system import System
from .trajectory import Switch

EXPLICIT, IMPLICIT = "dop853", "radau"

ALARM = 14
"""Steps limited by stability, but for a few between them, before a problem is suspected to be stiff is one more than this."""

LOOK = 64
"""Steps of the implicit method after which the way back is considered."""

LARGEST = 400
"""Numbers of a state: beyond it a factorization of dense matrices takes longer than thousands of explicit steps."""

CHEAP = 30
"""Numbers of a state up to which a step of either method costs about the same."""

BACK = 3.0
"""h |λ| below which the explicit method is the better one: half of its bound, so that it does not turn back at once."""

POWERS = 40
"""Powers of the Jacobian of a large state; the second half is averaged, since a pair of conjugate modes turns round."""

UNWATCHED = 1e100
"""An absolute tolerance from which on a number does not steer the step."""


class Switching:
    """Which method a run of 'auto' has, since when, and whether another should go on with it."""

    def __init__(self, system: System, longest: float, resolution: float) -> None:
        """`longest`: step of any method; `resolution`: time between rows of the result. An implicit method at rest takes steps as
        long as the run, over a bump in the road or a gust of wind: none of its steps is longer than the resolution."""
        self.system, self._longest, self._resolution = system, longest, resolution
        self.method = EXPLICIT
        self.switches: list[Switch] = []
        self.held_at: float | None = None
        """When the problem was found to be stiff, and was too large to switch."""
        self.look_at = np.inf
        """Steps at which to reconsider."""
        self.alarm = float(ALARM)
        self._mark = (0.0, 0.0)  # steps and time of the last look
        self._first_look = True
        self._gave_up_at: float | None = None

    def reconsider(self, state: s.Run, problem: Problem) -> bool:
        """Whether the other method is to go on from here; if so `method` is its name, and clock[H] its first step."""
        tally, rule, clock = state.tally, state.rule, state.clock
        if self.method == EXPLICIT:
            if tally[s.STIFF] <= rule[s.ALARM]:
                return False
            tally[s.STIFF] = tally[s.CALM] = 0.0
            if self.is_stiff(state):
                return self._to_implicit(state)
            rule[s.ALARM] = self.alarm = 4.0 * self.alarm  # a false alarm: the next one has to be louder
            return False
        if tally[s.STEPS] < self.look_at:
            return False
        steps, t = self._mark
        h, radius = abs(clock[s.T] - t) / max(tally[s.STEPS] - steps, 1.0), spectral_radius(problem.J, clock[s.H])
        self._mark, self.look_at = (tally[s.STEPS], clock[s.T]), tally[s.STEPS] + LOOK
        if h * radius >= BACK * max(1.0, (self.system.n / CHEAP) ** 2):
            self._first_look = False
            return False
        self.alarm = 4.0 * self.alarm if self._first_look else float(ALARM)
        if radius > 0.0:
            clock[s.H] = np.copysign(min(abs(clock[s.H]), BOUND / radius), clock[s.H])
        return self._switch(state, EXPLICIT)

    def rescued(self, state: s.Run, code: int) -> bool:
        """Whether the other method may go on where this one cannot."""
        if self.method == EXPLICIT:
            stuck = code == s.STEP_TOO_SMALL and state.clock[s.T] != self._gave_up_at
            return stuck and self.is_stiff(state) and self._to_implicit(state)
        if code not in (s.STEP_TOO_SMALL, s.NO_CONVERGENCE):
            return False
        self._gave_up_at = float(state.clock[s.T])
        self.alarm *= 16.0
        state.clock[s.H] = np.nan
        return self._switch(state, EXPLICIT)

    def suspected(self, state: s.Run) -> None:
        """The state goes to and fro without a jump: it leaps over a slope that the Jacobian of one state does not show."""
        if self.method == EXPLICIT:
            self._to_implicit(state)

    def is_stiff(self, state: s.Run) -> bool:
        """Whether stability limits the step: h |λ| is beyond half of the bound, for two lengths of the differences. Across a jump
        they do not agree, and no method takes longer steps."""
        t, h = float(state.clock[s.T]), float(state.clock[s.H])
        if not np.isfinite(h) or self.system.n == 0:
            return False
        weight = state.atol + state.rule[s.RTOL] * np.abs(state.x)
        x = state.x.copy()
        if self.system.n > LARGEST:
            return self._growth(t, x, weight) * abs(h) > BACK
        delta = np.maximum(np.maximum(0.1 * weight, 1e-9 * np.abs(x)), 1e-12)  # within the tolerance, above rounding
        with np.errstate(all="ignore"):
            near, nearer = (spectral_radius(self._differences(t, x, d), h) for d in (delta, delta / 16.0))
        return min(near, nearer) * abs(h) > BACK and max(near, nearer) <= 4.0 * min(near, nearer)

    def _growth(self, t: float, x: np.ndarray, weight: np.ndarray) -> float:
        """|λ| of the fastest mode by powers of the Jacobian, each a difference of two derivatives: for states that are large."""
        watched = weight < UNWATCHED
        d, sizes = np.where(watched, np.random.default_rng(1).standard_normal(len(x)), 0.0), []
        with np.errstate(all="ignore"):
            for _ in range(POWERS):
                shift = np.where(watched, weight * d, 0.0)
                change = (self.system.derivative(t, x + shift) - self.system.derivative(t, x - shift)) / 2.0
                d = np.where(watched, change / weight, 0.0)
                sizes.append(float(np.linalg.norm(d)) or 1e-300)
                d *= np.sqrt(watched.sum()) / sizes[-1]
        norms = np.array(sizes[POWERS // 2 :]) / np.sqrt(max(watched.sum(), 1))
        return float(np.exp(np.log(norms).mean())) if np.isfinite(norms).all() else 0.0

    def _differences(self, t: float, x: np.ndarray, delta: np.ndarray) -> np.ndarray:
        """The Jacobian by columns as in Problem.J; of numbers that do not steer the step it is zero."""
        J = np.zeros((len(x), len(x)))
        for j in np.flatnonzero(delta < UNWATCHED):
            ends = x.copy(), x.copy()
            ends[0][j] += delta[j]
            ends[1][j] -= delta[j]
            J[j] = (self.system.derivative(t, ends[0]) - self.system.derivative(t, ends[1])) / (ends[0][j] - ends[1][j])
        J[:, delta >= UNWATCHED] = 0.0
        return J

    def _to_implicit(self, state: s.Run) -> bool:
        if self.system.n > LARGEST:
            self.held_at, state.rule[s.ALARM] = float(state.clock[s.T]), NEVER
            return False
        steps = float(state.tally[s.STEPS])
        self._mark, self.look_at, self._first_look = (steps, float(state.clock[s.T])), steps + LOOK, True
        return self._switch(state, IMPLICIT)

    def _switch(self, state: s.Run, method: str) -> bool:
        self.switches.append(Switch(float(state.clock[s.T]), self.method, method))
        self.method = method
        if method == EXPLICIT:
            self.look_at = np.inf
        state.rule[s.ALARM] = self.alarm if method == EXPLICIT else NEVER
        state.rule[s.MAX_STEP] = self._longest if method == EXPLICIT else min(self._longest, self._resolution)
        state.tally[s.STIFF] = state.tally[s.CALM] = 0.0
        return True

    @property
    def note(self) -> str:
        """Addition to a message where the problem is stiff and stayed with the explicit method; else empty."""
        if self.held_at is None:
            return ""
        return (
            f"; the problem is stiff from t = {self.held_at:.6g} on, and with {self.system.n} numbers in its state too large for "
            f"'auto' to go over to {IMPLICIT!r}: make stiff springs and dampers softer, or insist with integrator={IMPLICIT!r}"
        )


def spectral_radius(J: np.ndarray, h: float) -> float:
    """The largest |λ| of those that do not make a solution grow in a step of h; 0 where the numbers are not finite."""
    if not np.isfinite(J).all():
        return 0.0
    values = np.linalg.eigvals(J)
    return float(np.abs(values[(values * np.sign(h)).real <= 0.1 * np.abs(values)]).max(initial=0.0))
