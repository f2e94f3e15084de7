"""Values that consist of others, and functions; in files these are formulas."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from ...errors import ModelError
from ...trace.table import Table
from ..pose import Pose, unit_axis
from .scalars import Fault, Kind, Scalar, ScalarOrVector, Vector, expected, listed, shown, within
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
        if value is None:
            return HERE
        if not isinstance(value, Pose):
            raise expected("a sharnir.Pose", value)
        return value


# --- several
@dataclass(frozen=True)
class ByName(Kind):
    """A mapping from names to values of one kind."""

    of: Kind

    def check(self, value: Any) -> dict[str, Any]:
        if not isinstance(value, Mapping):
            raise Fault(f"expected entries by name, got {shown(value)}")
        return {Name().check(name): within(self.of, x, name) for name, x in value.items()}


@dataclass(frozen=True)
class Rows(Kind):
    """Tuples of values; in files mappings with these keys."""

    columns: Mapping[str, tuple[Kind, Any]]
    """By key: the kind, and the default (None: there must be a value)."""

    def check(self, value: Any) -> tuple[tuple[Any, ...], ...]:
        rows = listed(value)
        if rows is None:
            raise expected("a list", value)
        return tuple([self._row(row, k) for k, row in enumerate(rows)])

    def _row(self, row: Any, k: int) -> tuple[Any, ...]:
        values = listed(row)
        if values is None or len(values) != len(self.columns):
            raise expected(f"({', '.join(self.columns)})", row, k)
        kinds = [(kind, key) for key, (kind, _) in self.columns.items()]
        return tuple([within(kind, x, k, key) for (kind, key), x in zip(kinds, values, strict=True)])


@dataclass(frozen=True)
class Elements(Kind):
    """Several elements of a class."""

    of: type

    def check(self, value: Any) -> tuple[Any, ...]:
        values = listed(value)
        if values is None:
            raise expected("a list", value)
        for k, x in enumerate(values):
            if not isinstance(x, self.of):
                raise expected(f"a sharnir.{self.of.__name__}", x, k)
        return tuple(values)


@dataclass(frozen=True)
class OneOf(Kind):
    """An element of one of some classes; in files selected by `type`."""

    classes: tuple[type, ...]
    base: type | None = None
    """A class of the user's own below it is accepted too, though not in files."""

    def check(self, value: Any) -> Any:
        if not isinstance(value, self.base or self.classes):
            names = [f"sharnir.{cls.__name__}" for cls in self.classes]
            what = f"sharnir.{self.base.__name__} such as {names[0]}" if self.base else " or ".join(names)
            raise expected(f"a {what}", value)
        return value


class State(Kind):
    """Values by joint, a number or one per coordinate; or all values in order."""

    def check(self, value: Any) -> dict[str, float | tuple[float, ...]] | tuple[float, ...]:
        if isinstance(value, Mapping):
            return {joint: within(ScalarOrVector(), x, joint) for joint, x in value.items()}
        if listed(value) is None:
            raise expected("{joint: value, …} or a list of all values", value)
        return Vector().check(value)


@dataclass(frozen=True)
class Times(Kind):
    """An interval, a list of times, or a word for every step."""

    word: str

    def check(self, value: Any) -> str | float | tuple[float, ...]:
        if isinstance(value, str) and value == self.word:
            return value
        return (
            Vector().check(value)
            if listed(value) is not None
            else Scalar().number(value, what=f"an interval, a list of times or {self.word!r}")
        )


# --- functions
@dataclass(frozen=True)
class Function(Kind):
    """A function of the named variables; `or_number`: a constant is accepted too. In files a formula."""

    variables: tuple[str, ...]
    or_number: bool = False

    def check(self, value: Any) -> Any:
        words = f"a function of {', '.join(self.variables)}"
        if callable(value):
            return value
        if self.or_number:
            return Scalar().number(value, what=f"a number or {words}")
        raise expected(words, value)


@dataclass(frozen=True)
class FunctionOrElement(Function):
    """A function, a number, or an element that says what the function is; in files selected by `type`."""

    classes: tuple[type, ...] = ()

    def check(self, value: Any) -> Any:
        return value if isinstance(value, self.classes) else super().check(value)


class VectorFunction(Kind):
    """Three numbers, or a function of t or of (t, on) that returns them."""

    def check(self, value: Any) -> Any:
        return value if callable(value) else Vector(3).check(value)


@dataclass(frozen=True)
class PoseFunction(Kind):
    """A function that returns a Pose; in files a pose by formulas of `variables`, which may depend on fields read before."""

    variables: Callable[[Mapping[str, Any]], tuple[str, ...]]

    def check(self, value: Any) -> Any:
        if not callable(value):
            raise expected("a function that returns a sharnir.Pose", value)
        return value


class DriveFunction(Kind):
    """The drive of a joint: a function of t, or functions by coordinate."""

    def check(self, value: Any) -> Any:
        if not callable(value) and not isinstance(value, Mapping):
            raise expected("a function of t or a mapping from coordinate names to functions of t", value)
        return dict(value) if isinstance(value, Mapping) else value


@dataclass(frozen=True)
class NamedFormula(Kind):
    """A function that `make` builds from formulas; in files the formulas, with their named parts beside them in `where`."""

    make: Callable[..., Any]
    several: bool = False
    example: str = ""

    def check(self, value: Any) -> Any:
        if not callable(value):
            raise expected("a function", value)
        return value


# --- formulas themselves ------------------------------------------------------------------------------------------------------
class Item(Kind):
    """A formula as text, or a number."""

    def check(self, value: Any) -> str | float:
        return value if isinstance(value, str) else Scalar().number(value, what="a formula or a number")


@dataclass(frozen=True)
class Items(Kind):
    """Several formulas or numbers: `count`, or any number of them."""

    count: int | None = None

    def check(self, value: Any) -> tuple[str | float, ...]:
        values = listed(value)
        if values is None or (self.count is not None and len(values) != self.count):
            cut = any(isinstance(x, str) and x.count("(") != x.count(")") for x in values or ())
            hint = "; put a formula that contains a comma in quotes" if cut else ""
            raise Fault(f"expected {self.count or 'a list of'} formulas or numbers, got {shown(value)}{hint}")
        return tuple([within(Item(), x, k) for k, x in enumerate(values)])


class Where(Kind):
    """Named parts of formulas, each a formula of the variables and of the parts before it, or a table."""

    def check(self, value: Any) -> dict[str, Any]:
        if not isinstance(value, Mapping):
            raise expected("named formulas {a: …, b: …}", value)
        return {name: x if isinstance(x, Table) else within(Item(), x, name) for name, x in value.items()}
