"""Directions and poses; values that consist of others."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ...errors import ModelError
from ..pose import Pose, unit_axis
from .kind import Fault, Kind, accepted, expected, items_of, listed, within
from .scalars import Scalar, ScalarOrVector, Vector
from .words import Name

# --- directions and poses
AXES = ("x", "y", "z", "-x", "-y", "-z")


class AxisValue(Kind):
    """A direction: a coordinate axis by name, or three numbers of length one."""

    def check(self, value: Any) -> str | tuple[float, ...]:
        values = listed(value)
        if values is None and (not isinstance(value, str) or value.removeprefix("+") not in AXES):
            raise expected("'x', 'y', 'z', '-x', '-y', '-z' or three numbers", value)
        axis = value if values is None else Vector(3).check(values)
        try:
            unit_axis(axis, "axis")
        except ModelError as error:
            raise Fault(str(error).removeprefix("axis: ")) from None
        return axis


HERE = Pose()
"""The identity, default of all poses: one object."""


class PoseValue(Kind):
    def check(self, value: Any) -> Pose:
        return HERE if value is None else accepted(isinstance(value, Pose), "a sharnir.Pose", value)


# --- mappings, rows, lists of elements, states, times
@dataclass(frozen=True)
class ByName(Kind):
    """A mapping from names to values of one kind."""

    of: Kind

    def check(self, value: Any) -> dict[str, Any]:
        accepted(isinstance(value, Mapping), "entries by name", value)
        return {Name().check(name): within(self.of, x, name) for name, x in value.items()}


@dataclass(frozen=True)
class Rows(Kind):
    """Tuples of values; in files mappings with these keys."""

    columns: Mapping[str, tuple[Kind, Any]]
    """By key: the kind, and the default (None: there must be a value)."""

    def check(self, value: Any) -> tuple[tuple[Any, ...], ...]:
        return tuple([self._row(row, k) for k, row in enumerate(items_of(value, "a list"))])

    def _row(self, row: Any, k: int) -> tuple[Any, ...]:
        values = listed(row) or ()
        accepted(len(values) == len(self.columns), f"({', '.join(self.columns)})", row, k)
        return tuple([within(kind, x, k, key) for (key, (kind, _)), x in zip(self.columns.items(), values, strict=True)])


@dataclass(frozen=True)
class Elements(Kind):
    """Several elements of a class."""

    of: type

    def check(self, value: Any) -> tuple[Any, ...]:
        what = f"a sharnir.{self.of.__name__}"
        return tuple([accepted(isinstance(x, self.of), what, x, k) for k, x in enumerate(items_of(value, "a list"))])


@dataclass(frozen=True)
class OneOf(Kind):
    """An element of one of some classes; in files selected by `type`."""

    classes: tuple[type, ...]
    base: type | None = None
    """A class of the user's own below it is accepted too, though not in files."""

    def check(self, value: Any) -> Any:
        names = [f"sharnir.{cls.__name__}" for cls in self.classes]
        what = f"sharnir.{self.base.__name__} such as {names[0]}" if self.base else " or ".join(names)
        return accepted(isinstance(value, self.base or self.classes), f"a {what}", value)


class State(Kind):
    """Values by joint, a number or one per coordinate; or all values in order."""

    def check(self, value: Any) -> dict[str, float | tuple[float, ...]] | tuple[float, ...]:
        if isinstance(value, Mapping):
            return {joint: within(ScalarOrVector(), x, joint) for joint, x in value.items()}
        return Vector().check(items_of(value, "{joint: value, …} or a list of all values"))


@dataclass(frozen=True)
class Times(Kind):
    """An interval, a list of times, or a word for every step."""

    word: str

    def check(self, value: Any) -> str | float | tuple[float, ...]:
        if isinstance(value, str) and value == self.word:
            return value
        if listed(value) is not None:
            return Vector().check(value)
        return Scalar().number(value, what=f"an interval, a list of times or {self.word!r}")
