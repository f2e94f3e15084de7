"""The arguments of a run, checked: every error is reported before anything runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite

import numpy as np
from numpy.typing import ArrayLike

from ..errors import MethodError, StateError
from ..types import real_array
from .methods import Integrator
from .system import System
from .trajectory import Event


@dataclass(slots=True)
class Request:
    x0: np.ndarray
    t0: float
    t1: float
    rtol: float
    atol: np.ndarray
    step: float
    first_step: float | None
    max_step: float
    times: np.ndarray
    every: int
    events: list[Event]
    looks: int

    @property
    def resolution(self) -> float:
        """The longest time between two rows of the result; a hundredth of the run where rows are steps."""
        return float(np.abs(np.diff(self.times)).max()) if len(self.times) > 1 else abs(self.t1 - self.t0) / 100.0

    @classmethod
    def checked(
        cls,
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
    ) -> Request:
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
        events = list(events) or [Event() for _ in range(system.n_events)]
        if len(events) != system.n_events:
            raise StateError(f"the system has {system.n_events} event functions, got {len(events)} events")
        return cls(
            x,
            float(t0),
            float(t1),
            float(rtol),
            np.full(system.n, atol, dtype=float),
            float(step or 0.0),
            first_step,
            float(max_step),
            checked_times(times, t0, t1),
            every,
            events,
            looks,
        )


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
