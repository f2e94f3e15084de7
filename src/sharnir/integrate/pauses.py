"""Times at which a run pauses: a step ends exactly there, and a function of the caller's may change the system or its state."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from ..errors import MethodError, StateError
from ..types import real_array
from .methods import Integrator

Change = Callable[[float, np.ndarray], np.ndarray | None]
"""(t, x) -> the new state, or None: the same. It may alter parameters of the system."""


@dataclass
class Pauses:
    """The times still to come, and the function that is called at each."""

    times: np.ndarray = field(default_factory=lambda: np.zeros(0))
    function: Change | None = None
    at: int = 0

    @classmethod
    def checked(cls, times: ArrayLike, function: Change | None, t0: float, t1: float, method: Integrator) -> Pauses:
        t = real_array(times, "pauses").ravel()
        if not t.size:
            return cls(t, function)
        if function is None:
            raise StateError("`pauses` need a function `at_pause`")
        if method.entry is None:
            raise MethodError(f"{method.name!r} cannot pause at given times: take an integrator of sharnir's own")
        sign = 1.0 if t1 >= t0 else -1.0
        if not np.isfinite(t).all() or (np.diff(t) * sign <= 0.0).any():
            raise StateError("`pauses` must run strictly from t0 to t1")
        if (t[0] - t0) * sign < 0.0 or (t1 - t[-1]) * sign <= 0.0:
            raise StateError(f"`pauses` from {t[0]:g} to {t[-1]:g} exceed the run from {t0:g} to {t1:g}, or fall on its end")
        return cls(t, function)

    def due(self, t: float) -> bool:
        return self.at < len(self.times) and self.times[self.at] == t

    def call(self, t: float, x: np.ndarray) -> np.ndarray | None:
        assert self.function is not None
        self.at += 1
        return self.function(t, x)

    def next(self, end: float) -> float:
        """The next pause, or the end."""
        return float(self.times[self.at]) if self.at < len(self.times) else end
