"""Base class of kinds of values: a check, and words for the fault of a value."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from ...errors import ModelError, brief, comma_hint

T = TypeVar("T")
LONGEST_SHOWN = 60


class Fault(Exception):
    """A value that its field cannot take; `path` leads from the field to the wrong part of the value."""

    def __init__(self, what: str, *path: str | int) -> None:
        super().__init__(what)
        self.what, self.path = what, path


def shown(value: Any) -> str:
    """A value as the author of the file or of the call would recognize it."""
    if value is None:
        return "nothing"
    if isinstance(value, (dict, list)) and not value:
        return "an empty mapping" if isinstance(value, dict) else "an empty list"
    if isinstance(value, dict):
        return "a mapping"
    return str(value).lower() if isinstance(value, bool) else brief(value, LONGEST_SHOWN)


def expected(what: str, value: Any, *path: str | int) -> Fault:
    hint = comma_hint(value) if isinstance(value, str) and "number" in what else ""
    return Fault(f"expected {what}, got {shown(value)}{hint and '; '}{hint}", *path)


def accepted(holds: bool, what: str, value: Any, *path: str | int) -> Any:
    """The value where it `holds`; else it is refused."""
    if not holds:
        raise expected(what, value, *path)
    return value


def one_of(words: Sequence[str]) -> str:
    """`'a', 'b' or 'c'`"""
    return " or ".join(filter(None, (", ".join(map(repr, words[:-1])), repr(words[-1]))))


class Kind:
    """A kind of values that a field takes."""

    def check(self, value: Any) -> Any:
        """The value in the form in which elements hold it; raises `Fault`."""
        raise NotImplementedError


def of_kind(table: Mapping[type[Kind], T], kind: Kind) -> T:
    """The entry of a table for a kind, or for the nearest class above it."""
    return next(table[cls] for cls in type(kind).__mro__ if cls in table)


def within(kind: Kind, value: Any, *path: str | int) -> Any:
    """Check a value inside another one."""
    try:
        return kind.check(value)
    except Fault as fault:
        raise Fault(fault.what, *path, *fault.path) from None


def checked(kind: Kind, value: Any, label: str) -> Any:
    """The value as elements hold it; the error for a fault begins with the label."""
    try:
        return kind.check(value)
    except Fault as fault:
        raise ModelError(f"{label}: {fault.what}") from None


def listed(value: Any) -> Sequence[Any] | None:
    """The items of a list, a tuple or an array; None for anything else."""
    if isinstance(value, (list, tuple)):
        return value
    return value.tolist() if isinstance(getattr(value, "ndim", None), int) and value.ndim else None


def items_of(value: Any, what: str, *path: str | int) -> Sequence[Any]:
    """The items of a list; anything else is refused."""
    if (items := listed(value)) is None:
        raise expected(what, value, *path)
    return items


def unwrapped(value: Any) -> Any:
    """The number in an array without dimensions; anything else as it is."""
    shape = getattr(value, "shape", None)
    return value.item() if isinstance(shape, tuple) and not shape and hasattr(value, "item") else value
