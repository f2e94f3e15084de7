"""The arguments of a run and its pauses, checked: every error is reported before anything runs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import isfinite

import numpy as np
from numpy.typing import ArrayLike

from ..errors import MethodError, StateError
from ..types import real_array
from .methods import Integrator
from .system import System
from .trajectory import Event

Change = Callable[[float, np.ndarray], np.ndarray | None]
"""(t, x) -> the new state, or None: the same. It may alter parameters of the system."""


class Request:
    """The arguments of `run`."""

    def __init__(
        self,
        system: System,
        x0: ArrayLike,
        t0: float,
        t1: float,
        method: Integrator,
        rtol: float,
        atol: float | ArrayLike,
        step: float | None,
        first_step: float | None,
        max_step: float,
        times: ArrayLike | None,
        every: int,
        events: Sequence[Event],
        looks: int,
        pauses: ArrayLike = (),
        at_pause: Change | None = None,
    ) -> None:
        self.pauses = Pauses(pauses, at_pause, t0, t1, method)
        x = real_array(x0, "x0").ravel().copy()
        if x.size != system.n:
            raise StateError(f"the state has {system.n} numbers, got {x.size}")
        if not np.isfinite(x).all():
            raise StateError(f"number {int(np.argmin(np.isfinite(x)))} of the initial state is not finite")
        if not isinstance(atol, float) and np.ndim(atol) and np.shape(atol) != (system.n,):
            raise StateError(f"atol: expected a number or ({system.n},), got {np.shape(atol)}")
        if not (isfinite(t0) and isfinite(t1)):
            raise StateError(f"t0 and t1 must be finite and differ, got t0 = {t0}, t1 = {t1}")
        if method.adaptive:
            if step is not None:
                raise MethodError(f"{method.name!r} chooses its own steps: give rtol and atol, not `step`")
            tightest = float(atol) if isinstance(atol, (float, int)) else np.min(real_array(atol, "atol"), initial=np.inf)
            if not rtol >= 0.0 or not tightest >= 0.0:
                raise MethodError("rtol and atol must not be negative")
            if rtol < 1e-15 and not tightest > 0.0:
                raise MethodError("with rtol = 0 every atol must be positive")
        elif step is None or not 0.0 < step < np.inf:
            raise MethodError(f"{method.name!r} needs a positive `step`, got {step!r}")
        elif (latest := max(abs(t0), abs(t1))) + step == latest:
            raise MethodError(
                f"`step`: {step:g} is lost in rounding at t = {latest:g}, and time would stand still; give a larger one"
            )
        if not max_step > 0.0 or (first_step is not None and not first_step > 0.0):
            raise MethodError("max_step and first_step must be positive, also in a run backward in time")
        if every < 0 or looks < 1:
            raise MethodError(f"`every` must be at least 0 and `looks` at least 1, got {every} and {looks}")
        self.events = list(events) or [Event() for _ in range(system.n_events)]
        if len(self.events) != system.n_events:
            raise StateError(f"the system has {system.n_events} event functions, got {len(self.events)} events")
        self.x0, self.t0, self.t1 = x, float(t0), float(t1)
        self.rtol, self.atol = float(rtol), np.full(system.n, atol, dtype=float)
        self.step, self.first_step, self.max_step = float(step or 0.0), first_step, float(max_step)
        self.times, self.every, self.looks = checked_times(times, t0, t1), every, looks

    @property
    def resolution(self) -> float:
        """The longest time between two rows of the result; a hundredth of the run where rows are steps."""
        return float(np.abs(np.diff(self.times)).max()) if len(self.times) > 1 else abs(self.t1 - self.t0) / 100.0


def checked_times(times: ArrayLike | None, t0: float, t1: float) -> np.ndarray:
    if times is None:
        return np.zeros(0)
    t = real_array(times, "times").ravel().copy()
    sign = 1.0 if t1 >= t0 else -1.0
    if not t.size:
        raise StateError("`times` is empty; leave it out to get every step")
    if not np.isfinite(t).all() or (np.diff(t) * sign <= 0.0).any():
        raise StateError("`times` must run strictly from t0 to t1")
    if (t[0] - t0) * sign < 0.0 or (t1 - t[-1]) * sign < 0.0:
        raise StateError(f"`times` from {t[0]:g} to {t[-1]:g} exceed the run from {t0:g} to {t1:g}")
    return t


class Pauses:
    """Times at which a step ends exactly, and the function that is called there: it may change the system or its state."""

    def __init__(self, times: ArrayLike, function: Change | None, t0: float, t1: float, method: Integrator) -> None:
        self.times, self.function, self.at = real_array(times, "pauses").ravel(), function, 0
        if not (t := self.times).size:
            return
        if function is None:
            raise StateError("`pauses` need a function `at_pause`")
        if method.entry is None:
            raise MethodError(f"{method.name!r} cannot pause at given times: take an integrator of sharnir's own")
        sign = 1.0 if t1 >= t0 else -1.0
        if not np.isfinite(t).all() or (np.diff(t) * sign <= 0.0).any():
            raise StateError("`pauses` must run strictly from t0 to t1")
        if (t[0] - t0) * sign < 0.0 or (t1 - t[-1]) * sign <= 0.0:
            raise StateError(f"`pauses` from {t[0]:g} to {t[-1]:g} exceed the run from {t0:g} to {t1:g}, or fall on its end")

    def due(self, t: float) -> bool:
        return self.at < len(self.times) and self.times[self.at] == t

    def call(self, t: float, x: np.ndarray) -> np.ndarray | None:
        assert self.function is not None
        self.at += 1
        return self.function(t, x)

    def next(self, end: float) -> float:
        """The next pause, or the end."""
        return float(self.times[self.at]) if self.at < len(self.times) else end
