"""What is wrong with a file: all mistakes, each with its path."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from numpy.linalg import LinAlgError

from ...errors import SharnirError
from ...model.values import Fault, expected

REFUSALS = (SharnirError, ArithmeticError, LinAlgError, RecursionError)
"""What building raises on numbers that no mechanism has."""


class Faults(Exception):
    """Everything that is wrong with a value."""

    def __init__(self, faults: Sequence[Fault]) -> None:
        super().__init__("; ".join(fault.what for fault in faults))
        self.faults = list(faults)


@contextmanager
def at(*path: str | int) -> Iterator[None]:
    """What goes wrong inside belongs to this part of the file."""
    try:
        yield
    except Faults as error:
        raise Faults([Fault(fault.what, *path, *fault.path) for fault in error.faults]) from None
    except Fault as fault:
        raise Faults([Fault(fault.what, *path, *fault.path)]) from None
    except REFUSALS as error:
        raise Faults([Fault(str(error), *path)]) from None


def each(parts: Iterable[tuple[Any, Any]], read_one: Callable[[Any], Any]) -> dict[Any, Any]:
    """Parts of a value by their keys, read one by one; the faults of all of them are reported."""
    out, faults = dict[Any, Any](), list[Fault]()
    for key, part in parts:
        try:
            with at(key):
                out[key] = read_one(part)
        except Faults as error:
            faults += error.faults
    if faults:
        raise Faults(faults)
    return out


def items(value: Any, read_one: Callable[[Any], Any]) -> tuple[Any, ...]:
    if not isinstance(value, list):
        raise expected("a list", value)
    return tuple(each(enumerate(value), read_one).values())
