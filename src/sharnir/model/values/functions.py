"""Functions, which are formulas in files; formulas themselves."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from ...trace.table import Table
from .kind import Fault, Kind, accepted, expected, listed, shown, within
from .scalars import Scalar, Vector


@dataclass(frozen=True)
class Function(Kind):
    """A function of the named variables; `or_number`: a constant is accepted too. In files a formula."""

    variables: tuple[str, ...]
    or_number: bool = False

    def check(self, value: Any) -> Any:
        words = f"a function of {', '.join(self.variables)}"
        if self.or_number and not callable(value):
            return Scalar().number(value, what=f"a number or {words}")
        return accepted(callable(value), words, value)


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
        return accepted(callable(value), "a function that returns a sharnir.Pose", value)


class DriveFunction(Kind):
    """The drive of a joint: a function of t, or functions by coordinate."""

    def check(self, value: Any) -> Any:
        if isinstance(value, Mapping):
            return dict(value)
        return accepted(callable(value), "a function of t or a mapping from coordinate names to functions of t", value)


@dataclass(frozen=True)
class NamedFormula(Kind):
    """A function that `make` builds from formulas; in files the formulas, with their named parts beside them in `where`."""

    make: Callable[..., Any]
    several: bool = False
    example: str = ""

    def check(self, value: Any) -> Any:
        return accepted(callable(value), "a function", value)


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
