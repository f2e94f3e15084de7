"""What every constraint has in common, and constraints of the user's own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ...trace import Number

if TYPE_CHECKING:
    from ..motion import Motion

Row = tuple[str, Number]
"""What a row forbids, in a few words, and the number it keeps at zero."""


class Constraint:
    """Numbers that the motion keeps at zero. A subclass says which, on numbers of any kind."""

    name: str | None = None

    def positions(self, on: Motion) -> Sequence[Row]:
        """Functions of position and time (holonomic)."""
        return ()

    def speeds(self, on: Motion) -> Sequence[Row]:
        """Functions of position and time, linear in the speeds, that follow from no function of position (non-holonomic)."""
        return ()

    def bodies(self) -> Sequence[str]:
        """Names of bodies it speaks of, checked when it is added."""
        return ()

    def joints(self) -> Sequence[str]:
        return ()


class UserConstraint(Constraint):
    """g(q, t) = 0: a plain Python function of one argument, `sharnir.Motion`, that reads positions and returns what is
    kept at zero, a number or several."""

    def __init__(self, function: Callable[[Any], Any], name: str | None = None) -> None:
        self.function = function
        self.name = name or _name_of(function)

    def positions(self, on: Motion) -> Sequence[Row]:
        return _rows(self.function(on))


class SpeedConstraint(Constraint):
    """a(q, t)·v = b(q, t): a function that reads positions and, linearly, speeds, and returns what is kept at zero."""

    def __init__(self, function: Callable[[Any], Any], name: str | None = None) -> None:
        self.function = function
        self.name = name or _name_of(function)

    def speeds(self, on: Motion) -> Sequence[Row]:
        return _rows(self.function(on))


def _rows(values: Any) -> list[Row]:
    if not isinstance(values, (list, tuple)):
        return [("", values)]
    return [(f"row {k + 1}", value) for k, value in enumerate(values)]


def _name_of(function: Any) -> str | None:
    name = getattr(function, "__name__", "<lambda>")
    return None if name == "<lambda>" else name
