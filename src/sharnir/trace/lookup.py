"""Lookups: operations of an expression graph that carry an array of constants. A table of ten thousand points is two kinds of
node: `Locate` finds the cell that an argument is in, and `CellNumber` reads a number of that cell.

Both are constant between jumps, so that they have no slope: the tangent of a table is that of the polynomial of the cell,
which is ordinary arithmetic on what was read. They stand in a graph where other nodes have the name of an operation.
"""

from __future__ import annotations

import hashlib
from bisect import bisect_right
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cached_property

import numpy as np


class Constants:
    """Numbers of a table, row by row, known by their digest: equal numbers are stored once in a piece of machine code."""

    def __init__(self, rows: np.ndarray) -> None:
        self.rows = np.ascontiguousarray(rows, dtype=float)
        self.rows.flags.writeable = False
        self.width = self.rows.shape[1]
        shape = str(self.rows.shape).encode()
        self.digest = hashlib.sha256(shape + self.rows.tobytes()).hexdigest()[:32]

    @cached_property
    def flat(self) -> list[float]:
        """The numbers as Python floats, quick to read one by one."""
        found: list[float] = self.rows.ravel().tolist()
        return found

    def __eq__(self, other: object) -> bool:
        return self.digest == other.digest if isinstance(other, Constants) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.digest)

    def __reduce__(self) -> tuple[type[Constants], tuple[np.ndarray]]:
        return Constants, (self.rows,)


class Lookup:
    """An operation of one argument without a slope. Two are one operation if their fields are equal."""

    name: str
    constants: Constants
    arity = 1
    commutative = False
    tangent = None

    def __repr__(self) -> str:
        return f"<{self.name} in {len(self.constants.rows)} rows>"


@dataclass(frozen=True, repr=False)
class Locate(Lookup):
    """How many of some ascending numbers are not above x: the index of the cell that x is in, as a number."""

    constants: Constants
    ends: str
    """The words where x is in the first or the last cell, outside of the range of a table that must not be left; else empty."""
    name = "locate"

    def value(self, x: float) -> float:
        breaks = self.constants.flat
        found = bisect_right(breaks, x) if x == x else 0
        if self.ends and found in (0, len(breaks)) and (seen := _watched.get(None)) is not None:
            seen.append(f"{self.ends}, got {x!r}")
        return float(found)


@dataclass(frozen=True, repr=False)
class CellNumber(Lookup):
    """The number in a column of row k."""

    constants: Constants
    column: int
    name = "entry"

    def value(self, k: float) -> float:
        return self.constants.flat[int(k) * self.constants.width + self.column]


_watched: ContextVar[list[str] | None] = ContextVar("ranges left")


@contextmanager
def ranges_left() -> Iterator[list[str]]:
    """Messages about ranges that are left while numbers are computed inside, on floats."""
    seen: list[str] = []
    token = _watched.set(seen)
    try:
        yield seen
    finally:
        _watched.reset(token)
