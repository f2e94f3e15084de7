"""Names of a function that is being compiled: bound to values outright, or to places in memory; and places of arrays."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import Any

from .arithmetic import Mismatch
from .expressions import Expressions
from .source import refuse
from .values import (
    COMPLEX,
    INTEGERS,
    SHARED,
    ArrayValue,
    Complex,
    Flag,
    Integer,
    Number,
    as_complex,
    describe,
    is_integer,
    is_known,
    is_number,
)

INTEGER, TRUTH, NUMBER = "an integer", "a truth", "a number"


@dataclass(frozen=True, slots=True)
class Slot:
    """A place in memory for one number, integer or truth; LLVM promotes it to a register."""

    pointer: str
    kind: str


class Unclear:
    """A name that is bound to different kinds of values on different paths through the function."""


class Names(Expressions):
    """The part of a Frame that handles names."""

    direct: frozenset[str]
    assigned: frozenset[str]

    def __init__(self) -> None:
        self.names: dict[str, Any] = {}
        self._other: dict[str, Any] = {}  # names as the other branch left them
        self.reads: set[tuple[str, int]] = set()  # names, and what they were bound to, that were read in the present loop

    def store(self, name: str, value: Any) -> None:
        """Bind a name to a value from here on. Where paths join on which its kinds differ, it becomes Unclear."""
        if name in self.direct or not self.storable(value):
            self.names[name] = value
            return
        slot = self.names.get(name, self._other.get(name))  # the same place as on the other branch
        if not fits(slot, value):
            slot = self.slot_for(value)
        self.names[name] = slot
        self.write(slot, value)

    def storable(self, value: Any) -> bool:
        if isinstance(value, tuple):
            return all(self.storable(x) for x in value)
        return is_known(value) or isinstance(value, (Integer, Number, Flag, Complex))

    def slot_for(self, value: Any) -> Any:
        if isinstance(value, tuple):
            return tuple(self.slot_for(x) for x in value)
        if isinstance(value, Complex):
            return Complex(self.slot_for(value.re), self.slot_for(value.im))
        kind = TRUTH if isinstance(value, (bool, Flag)) else INTEGER if is_integer(value) else NUMBER
        return Slot(self.into.room(self.w.T if kind == NUMBER else "i64"), kind)

    def write(self, slot: Any, value: Any) -> None:
        if isinstance(slot, tuple):
            for part, x in zip(slot, value, strict=True):
                self.write(part, x)
        elif isinstance(slot, Complex):
            value = as_complex(value)
            self.write(slot.re, value.re)
            self.write(slot.im, value.im)
        elif slot.kind != NUMBER:
            self.w.line(f"store i64 {self.a.integer(value)}, ptr {slot.pointer}")
        else:
            self.w.line(f"store {self.w.T} {self.a.number(value)}, ptr {slot.pointer}")

    def read(self, slot: Any) -> Any:
        if isinstance(slot, tuple):
            return tuple(self.read(x) for x in slot)
        if isinstance(slot, Complex) and isinstance(slot.re, Slot):
            return Complex(self.read(slot.re), self.read(slot.im))
        if not isinstance(slot, Slot):
            return slot
        if slot.kind != NUMBER:
            found = Integer(self.w.let(f"load i64, ptr {slot.pointer}"))
            return found if slot.kind == INTEGER else self.a.truth(found)
        return Number(self.w.let(f"load {self.w.T}, ptr {slot.pointer}"), self.w.lanes > 1)

    def value_Name(self, node: ast.Name) -> Any:
        if node.id in self.names:
            found = self.names[node.id]
            self.reads.add((node.id, id(found)))
            if isinstance(found, Unclear):
                raise refuse(self.function, node, f"{node.id!r} has different kinds of values on different paths to here")
            return found if node.id in self.direct else self.read(found)
        if node.id in self.assigned:
            raise refuse(self.function, node, f"{node.id!r} is read before it is assigned")
        return self.constant(node)

    # --- places of arrays ---------------------------------------------------------------------------------------------------
    def element(self, node: ast.Subscript) -> tuple[ArrayValue, str]:
        """The array a subscript is of, and the address of that place."""
        array = self.value(node.value)
        if not isinstance(array, ArrayValue):
            raise Mismatch(f"an assignment into {describe(array)}: only arrays store")
        return self.place(array, self.indices(node.slice))

    def put(self, array: ArrayValue, place: str, value: Any) -> None:
        if array.shape:
            raise Mismatch("an assignment to a whole row: take numbers one by one")
        if array.kind == INTEGERS:
            if not is_integer(value):
                raise Mismatch(f"{describe(value)} for an array of integers")
            self.w.line(f"store i64 {self.a.integer(value)}, ptr {place}{self.unit.tag(array.kind)}")
        elif array.kind == COMPLEX:
            value = as_complex(value)
            second = self.w.let(f"getelementptr inbounds {self.w.T}, ptr {place}, i64 1")
            self.w.line(f"store {self.w.T} {self.a.number(value.re)}, ptr {place}, align 8")
            self.w.line(f"store {self.w.T} {self.a.number(value.im)}, ptr {second}, align 8")
        elif not is_number(value) and not isinstance(value, Flag):
            raise Mismatch(f"{describe(value)} for an array of numbers")
        elif array.kind == SHARED and self.w.lanes > 1:
            raise Mismatch("an array that all lanes share is only read")
        else:
            self.w.line(f"store {self.w.T} {self.a.number(value)}, ptr {place}, align 8{self.unit.tag(array.kind)}")


def fits(slot: Any, value: Any) -> bool:
    """Whether a value can be put where another one was put first."""
    if isinstance(slot, tuple):
        return isinstance(value, tuple) and len(slot) == len(value) and all(fits(s, x) for s, x in zip(slot, value, strict=True))
    if isinstance(slot, Complex):
        return isinstance(value, Complex) or is_number(value)
    if isinstance(slot, Slot):
        truth = isinstance(value, (bool, Flag))
        return truth if slot.kind == TRUTH else is_integer(value) if slot.kind == INTEGER else is_number(value) and not truth
    return False


def described(slot: Any) -> str:
    return slot.kind if isinstance(slot, Slot) else describe(slot)
