"""Events: what is looked for while a model moves, and what is done about it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import StateError

DIRECTIONS = {"rising": 1, "falling": -1, "both": 0}


@dataclass(frozen=True)
class Event:
    """Something happens where `when` crosses zero.

    when       plain Python function of one argument, `sharnir.Motion`: reads t, q, v, points … and returns a number
    action     "record" (default), "stop", or a function of a `EventState` that may change its q, v and parameters
    direction  "rising", "falling" or "both"
    """

    when: Callable[[Any], Any]
    action: str | Callable[[EventState], Any] = "record"
    direction: str = "both"
    name: str = ""

    def __post_init__(self) -> None:
        if not callable(self.when):
            raise StateError(f"an event needs a function of the state, got {self.when!r}")
        if self.direction not in DIRECTIONS:
            raise StateError(f"event {self.name!r}: direction must be 'rising', 'falling' or 'both', got {self.direction!r}")
        if not callable(self.action) and self.action not in ("record", "stop"):
            raise StateError(f"event {self.name!r}: action must be 'record', 'stop' or a function, got {self.action!r}")


@dataclass
class EventState:
    """The state at an event, for its action to look at and to change."""

    t: float
    q: np.ndarray
    v: np.ndarray
    parameters: dict[str, float]
