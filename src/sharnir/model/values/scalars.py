"""Numbers, one or several."""

from __future__ import annotations

import math
import numbers
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ...trace import at_values, has_parameters, is_parametric
from ..pose import three_floats
from .kind import Fault, Kind, accepted, expected, listed, unwrapped, within

COUNTS = {2: "two", 3: "three", 4: "four", 6: "six"}


@dataclass(frozen=True)
class Scalar(Kind):
    """A finite number within bounds; `endless`: may be infinite."""

    at_least: float | None = None
    above: float | None = None
    endless: bool = False
    nonzero: bool = False

    def check(self, value: Any) -> Any:
        return self.number(value)

    def number(self, value: Any, *path: str | int, what: str = "a number") -> Any:
        """A float; or as it is where it depends on parameters."""
        if is_parametric(value):
            self.number(at_values(value), *path, what=what)  # what it is now must be possible
            return value
        if type(value) is float:
            found = value
        elif isinstance(value := unwrapped(value), numbers.Real) and not isinstance(value, bool):
            try:
                found = float(value)
            except OverflowError:
                raise expected(what, value, *path) from None
        else:
            raise expected(what, value, *path)
        if math.isnan(found) or (math.isinf(found) and not self.endless):
            raise expected(what.replace("a number", "a finite number", 1), value, *path)
        if self.at_least is not None and found < self.at_least:
            raise expected(f"{what} of at least {self.at_least:g}", value, *path)
        if self.above is not None and found <= self.above:
            raise expected(f"{what} above {self.above:g}", value, *path)
        if self.nonzero and found == 0.0:
            raise expected(f"{what} other than 0", value, *path)
        return found


ANY = Scalar()


@dataclass(frozen=True)
class Vector(Kind):
    """Several numbers: `count` of them, or any count."""

    count: int | None = None
    of: Scalar = ANY

    def check(self, value: Any) -> tuple[float, ...]:
        if self.count == 3 and self.of is ANY and three_floats(value):
            return value
        values = listed(value)
        if values is None or (self.count is not None and len(values) != self.count):
            raise expected(self._words(), value)
        return tuple([self.of.number(x, k) for k, x in enumerate(values)])

    def _words(self) -> str:
        if self.count is None:
            return "a list of numbers"
        example = f" such as {[0.0] * self.count}" if self.count < 5 else ""
        return f"{COUNTS.get(self.count, self.count)} numbers{example}"


class Places(Kind):
    """One or more points, each of three numbers."""

    def check(self, value: Any) -> tuple[tuple[float, ...], ...]:
        points = listed(value)
        if not points:
            raise expected("a list of points, each of three numbers", value)
        return tuple([within(Vector(3), x, k) for k, x in enumerate(points)])


@dataclass(frozen=True)
class ScalarOrVector(Kind):
    """One number for all coordinates or speeds of a joint, or one for each."""

    of: Scalar = ANY
    most: int | None = None

    def check(self, value: Any) -> float | tuple[float, ...]:
        values = listed(value)
        if values is None:
            if not isinstance(unwrapped(value), numbers.Real) and not is_parametric(value):
                raise expected("a number or a list of them", value)
            return self.of.number(value)
        if self.most is not None and not 1 <= len(values) <= self.most:
            raise expected(f"a number or {COUNTS[self.most]}", value)
        return Vector(of=self.of).check(values)


class Limits(Kind):
    """(low, high) or one such pair per coordinate; None or infinity where there is no end."""

    def check(self, value: Any) -> tuple[Any, ...]:
        values = listed(value)
        if values and listed(values[0]) is not None:
            return tuple([self._pair(x, k) for k, x in enumerate(values)])
        return self._pair(value)

    def _pair(self, value: Any, *path: int) -> tuple[float | None, ...]:
        ends = listed(value)
        if ends is not None and has_parameters(tuple(ends)):
            raise Fault("limits cannot depend on a parameter; give numbers, or add a JointStop whose ends do", *path)
        if ends is None or len(ends) != 2:
            raise expected("[low, high] or one such pair per coordinate", value, *path)
        low, high = pair = tuple([None if x is None else Scalar(endless=True).number(x, *path, k) for k, x in enumerate(ends)])
        if low is not None and high is not None and low > high:
            raise Fault(f"the low end, {low:g}, is above the high end, {high:g}; give them as (low, high)", *path)
        return pair


def coordinate_limits(limits: Sequence[Any], k: int = 0) -> Sequence[float | None]:
    """(low, high) of coordinate k: the pair for all, or its own."""
    found: Sequence[float | None] = limits[k] if hasattr(limits[0], "__len__") else limits
    return found


@dataclass(frozen=True)
class Matrix(Kind):
    """Vector in one of some shapes: (3,), (6,), (3, 3) …; () is a single number."""

    shapes: tuple[tuple[int, ...], ...]

    def check(self, value: Any) -> Any:
        return self._numbers(accepted(_shape(value) in self.shapes, self._words(), value))

    def _numbers(self, value: Any, *path: int) -> Any:
        rows = listed(value)
        if rows is None:
            return Scalar().number(value, *path, what="a number" if path else self._words())
        return tuple([self._numbers(x, *path, k) for k, x in enumerate(rows)])

    def _words(self) -> str:
        words = {0: "one number", 1: "{} numbers", 2: "{}×{} numbers"}
        return " or ".join(words[len(shape)].format(*shape) for shape in self.shapes)


def _shape(value: Any) -> tuple[int, ...]:
    """() for what is not a list; (-1,) where rows differ in length."""
    rows = listed(value)
    if rows is None:
        return ()
    inside = {_shape(row) for row in rows}
    return (len(rows), *inside.pop()) if len(inside) == 1 else (-1,)


@dataclass(frozen=True)
class Whole(Kind):
    """An integer within bounds."""

    at_least: int | None = None
    at_most: int | None = None

    def check(self, value: Any) -> int:
        low, high = self.at_least, self.at_most
        bounds = f" from {low} to {high}" if high is not None else f" of at least {low}" if low is not None else ""
        value = unwrapped(value)
        whole = isinstance(value, numbers.Integral) and not isinstance(value, bool)
        within_bounds = whole and (low is None or value >= low) and (high is None or value <= high)
        return int(accepted(within_bounds, f"a whole number{bounds}", value))


class Flag(Kind):
    def check(self, value: Any) -> bool:
        return accepted(isinstance(value, bool), "true or false", value)
