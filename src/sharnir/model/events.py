"""Events: zero crossings that are detected while a model moves, and the actions they trigger."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import StateError
from .element import Element, element, element_field
from .formulas import SignalFormula
from .motion import Motion
from .values import Choice, ChoiceOrFunction, Label, NamedFormula

DIRECTIONS = {"rising": 1, "falling": -1, "both": 0}


@element()
class Event(Element):
    """Something that happens where `when` crosses zero."""

    when: Callable[[Motion], Any] = element_field(
        NamedFormula(SignalFormula, example="sharnir.SignalFormula('position.hand.z - 0.05')"),
        meaning="a function of sharnir.Motion: reads t, q, v, points … and returns a number; in files a formula such as "
        "position.ball.z - 0.05",
    )
    action: str | Callable[[EventState], Any] = element_field(
        ChoiceOrFunction(("record", "stop")),
        default="record",
        meaning="record or stop; in Python also a function of an EventState that may change its q, v and parameters",
    )
    direction: str = element_field(Choice(tuple(DIRECTIONS)), default="both", meaning="in which direction zero is crossed")
    name: str = element_field(Label(), default="", meaning="its name in the result")
    _error = StateError

    @property
    def label(self) -> str:
        return f"event {self.name!r}" if isinstance(self.name, str) and self.name else "event"


@dataclass
class EventState:
    """The state at an event, which its action may read and change."""

    t: float
    q: np.ndarray
    v: np.ndarray
    parameters: dict[str, float]
    states: dict[str, float]
    """States of forces, by name."""
