"""Values of expressions of the dialect while they are compiled.

Python's own ints, floats, bools, functions and tuples of values stand for themselves: they are known. The rest is here,
each with the name of the LLVM value that holds it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

INTEGERS, NUMBERS, SHARED, COMPLEX = "integers", "numbers", "shared numbers", "complex numbers"
"""Kinds of arrays. Of NUMBERS and COMPLEX every lane has its own; INTEGERS and SHARED are the same for all lanes."""


@dataclass(frozen=True, slots=True)
class Integer:
    """An i64, the same for all lanes."""

    name: str


@dataclass(frozen=True, slots=True)
class Flag:
    """The outcome of a comparison; `wide`: one for each lane."""

    name: str
    wide: bool = False
    of_numbers: bool = False


@dataclass(frozen=True, slots=True)
class Number:
    """A double; `wide`: one for each lane."""

    name: str
    wide: bool


@dataclass(frozen=True, slots=True)
class Complex:
    re: Any
    im: Any


@dataclass(frozen=True, slots=True)
class ArrayValue:
    pointer: str
    shape: tuple[Any, ...]
    """Known ints and Integers."""
    kind: str


@dataclass(frozen=True, slots=True)
class GroupValue:
    """A NamedTuple of arrays: `at` words behind the pointer `base` stands the list of their addresses and shapes."""

    declared: Any
    base: str
    at: int
    shared: bool


def as_complex(x: Any) -> Complex:
    return x if isinstance(x, Complex) else Complex(x, 0.0)


def is_known(x: Any) -> bool:
    """Whether a value is a number, or a truth, known while compiling."""
    return isinstance(x, (int, float))


def is_integer(x: Any) -> bool:
    return isinstance(x, (int, Integer, Flag)) and not (isinstance(x, Flag) and x.wide)


def is_number(x: Any) -> bool:
    return isinstance(x, (int, float, Integer, Number))


def describe(x: Any) -> str:
    """A value in the words of messages."""
    if isinstance(x, tuple):
        return f"a tuple of {len(x)}"
    if isinstance(x, (bool, Flag)):
        return "a truth"
    if isinstance(x, (int, Integer)):
        return "an integer"
    if isinstance(x, (float, Number)):
        return "a number"
    if isinstance(x, Complex):
        return "a complex number"
    if isinstance(x, ArrayValue):
        return f"an array of {len(x.shape)} dimension{'s' if len(x.shape) > 1 else ''}"
    if isinstance(x, GroupValue):
        return f"the group {x.declared.__name__}"
    return "nothing" if x is None else f"{x!r}"
