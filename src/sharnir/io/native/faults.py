"""Mistakes of a file: all of them, each with its path."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from numpy.linalg import LinAlgError

from ...errors import SharnirError
from ...model.values import Fault, expected


class Faults(Exception):
    """Everything that is wrong with a value."""

    def __init__(self, faults: Sequence[Fault]) -> None:
        super().__init__("; ".join(fault.what for fault in faults))
        self.faults = list(faults)


REFUSALS = (Faults, Fault, SharnirError, ArithmeticError, LinAlgError, RecursionError)
"""Exceptions that reading raises; the last three on numbers that no mechanism has."""


@contextmanager
def at(*path: str | int) -> Iterator[None]:
    """Errors raised inside get the path of this part of the file."""
    try:
        yield
    except REFUSALS as error:
        raise Faults(located(error, *path)) from None


def located(error: Exception, *path: str | int) -> list[Fault]:
    """The faults of an error in a part of the file."""
    inside = error.faults if isinstance(error, Faults) else [error if isinstance(error, Fault) else Fault(str(error))]
    return [Fault(fault.what, *path, *fault.path) for fault in inside]


def each(parts: Iterable[tuple[Any, Any]], read_one: Callable[[Any], Any]) -> dict[Any, Any]:
    """Parts of a value by their keys, read one by one; the faults of all of them are reported."""
    out, faults = dict[Any, Any](), list[Fault]()
    for key, part in parts:
        try:
            out[key] = read_one(part)
        except REFUSALS as error:
            faults += located(error, key)
    if faults:
        raise Faults(faults)
    return out


def items(value: Any, read_one: Callable[[Any], Any]) -> tuple[Any, ...]:
    if not isinstance(value, list):
        raise expected("a list", value)
    return tuple(each(enumerate(value), read_one).values())
