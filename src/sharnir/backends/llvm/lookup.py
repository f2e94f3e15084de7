"""Lookups in constant arrays (trace/lookup.py) as LLVM assembly: the arrays are part of the module, each once.

A cell is found by halving: the number of steps depends on the length of the array alone, there are no branches. Lanes and the
first parts of double-double numbers are taken out one by one: each reads another place.
"""

from __future__ import annotations

from typing import Any

from ...dialect.double_double_code import PairWriter
from ...dialect.text import Writer
from ...trace.lookup import CellNumber, Constants, Locate, Lookup


class Lookups:
    """The lookups of one module."""

    def __init__(self, writer: Writer) -> None:
        self.w = writer
        self._constants: dict[Constants, None] = {}
        self._located: dict[Constants, None] = {}

    def write(self, lookup: Lookup, x: str) -> str:
        """The value of a lookup: a number, or a vector of them."""
        self._constants[lookup.constants] = None
        w = self.w
        if isinstance(w, PairWriter):
            return w.let(f"insertelement {w.T} zeroinitializer, double {self._one(lookup, w.high(x))}, i32 0")
        if w.lanes == 1:
            return self._one(lookup, x)
        out = "undef"
        for lane in range(w.lanes):
            one = self._one(lookup, w.let(f"extractelement {w.T} {x}, i32 {lane}"))
            out = w.let(f"insertelement {w.T} {out}, double {one}, i32 {lane}")
        return out

    def _one(self, lookup: Lookup, x: str) -> str:
        w, constants = self.w, lookup.constants
        if isinstance(lookup, Locate):
            self._located[constants] = None
            return w.let(f"call double @locate.{constants.digest}(double {x})")
        assert isinstance(lookup, CellNumber)
        row = w.let(f"fptosi double {x} to i64")
        place = w.let(f"add i64 {w.let(f'mul i64 {row}, {constants.width}')}, {lookup.column}")
        return _read(w, constants, place)

    def module(self) -> str:
        """Arrays and functions, to stand before the code that uses them."""
        arrays = [_array(constants) for constants in self._constants]
        return "\n".join([*arrays, *(_locate(constants) for constants in self._located)])


def _read(w: Writer, constants: Constants, place: str) -> str:
    at = w.let(f"getelementptr double, ptr @data.{constants.digest}, i64 {place}")
    return w.let(f"load double, ptr {at}, align 8")


def _array(constants: Constants) -> str:
    """The constants as bytes, which LLVM reads fastest."""
    data = constants.rows.tobytes()
    text = "\\" + data.hex("\\")
    return f'@data.{constants.digest} = private unnamed_addr constant [{len(data)} x i8] c"{text}", align 64'


def _locate(constants: Constants) -> str:
    """How many numbers are not above x: that many are found among `left` of them behind `first`."""
    w: Any = Writer(1)
    w.block("entry")
    first, left = "0", len(constants.rows)
    while left:
        half = max(1, left // 2)
        after = w.let(f"add i64 {first}, {half}")
        below = w.let(f"fcmp ole double {_read(w, constants, w.let(f'add i64 {first}, {half - 1}'))}, %x")
        first = w.let(f"select i1 {below}, i64 {after}, i64 {first}")
        left = left - half if left > 1 else 0
    w.line(f"ret double {w.let(f'sitofp i64 {first} to double')}")
    body = "\n".join(w.lines)
    return f"define internal double @locate.{constants.digest}(double %x) noinline nounwind {{\n{body}\n}}"
