"""Refusals of what a number of unknown value cannot do: branches, rounding, conversions."""

from __future__ import annotations

import linecache
import re
import sys
from types import FrameType
from typing import Any

from ..errors import TraceError

UNKNOWN = "is not known while tracing"


OTHER_NAMES = {"fabs": "abs", "pow": "power", "fmod": "mod", "copysign": "sign"}
"""Functions of `math` whose place one of sharnir with another name takes."""


def _in_its_place(frame: FrameType) -> str:
    """The function to write in place of the call that this frame is making: functions of `math` have no frame of their own."""
    usual = "the one of sharnir (sharnir.sin, sharnir.cos, …; sharnir.table to interpolate) or of NumPy"
    line, last, start, end = list(frame.f_code.co_positions())[frame.f_lasti // 2]
    if line is None or line != last:
        return usual
    called = re.match(r"(?:\w+\.)*(\w+)\(", linecache.getline(frame.f_code.co_filename, line).encode()[start:end].decode())
    from .formula_parser import FUNCTIONS

    name = OTHER_NAMES.get(called[1], called[1]) if called else ""
    return f"sharnir.{name}" if name in FUNCTIONS else usual


class OneNumber:
    """Refuses what a symbol cannot do, and says what to write instead."""

    __slots__ = ()

    graph: Any

    def _refuse_parameter(self) -> None:
        """Refuse a parameter in other words: nothing is traced where a model is built."""
        if getattr(self.graph, "of_parameters", False):
            raise TraceError(
                f"{self!r} may change from call to call, so that neither float(), nor int(), nor a branch (if, min, max) can "
                "take its value: compute by + - * / ** and the functions of sharnir, and write sharnir.select(condition, a, b) "
                "for if; its present value is in model.parameters"
            )

    def __bool__(self) -> bool:
        self._refuse_parameter()
        raise TraceError(
            f"a branch depends on a value that {UNKNOWN} (if, and, or, not, min, max, or NumPy's maximum, clip or where of an "
            "array): write select(condition, a, b) instead of if, and sharnir.minimum and sharnir.maximum"
        )

    def __float__(self) -> float:
        self._refuse_parameter()
        raise TraceError(
            f"the value of a symbol {UNKNOWN}, so that neither float(), nor a function of `math`, nor an array of floats can "
            f"take it: use {_in_its_place(sys._getframe(1))}, and arrays of dtype object"
        )

    __complex__ = __float__

    def __int__(self) -> int:
        self._refuse_parameter()
        raise TraceError(
            f"the value of a symbol {UNKNOWN}: it can be neither rounded nor an index or a count; sharnir.floor rounds it to a "
            "whole number that is a symbol again, and sharnir.table looks up numbers"
        )

    __index__ = __trunc__ = __floor__ = __ceil__ = __int__

    def __round__(self, digits: int | None = None) -> int:
        return int(self)

    def __and__(self, other: object) -> Any:
        raise TraceError("conditions are not combined by &, | and ~: write select(one, select(other, a, b), b)")

    __rand__ = __or__ = __ror__ = __xor__ = __rxor__ = __and__

    def __invert__(self) -> Any:
        return self & self
