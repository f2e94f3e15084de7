"""Expressions of the dialect: their values, and the instructions they become. Their form has been checked (rules.py)."""

from __future__ import annotations

import ast
import builtins
import types
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from . import memory, ops
from .arithmetic import Arithmetic, Mismatch
from .source import is_foreign, refuse
from .text import Writer
from .values import (
    COMPLEX,
    INTEGERS,
    NUMBERS,
    SHARED,
    ArrayValue,
    Complex,
    Flag,
    GroupValue,
    Integer,
    Number,
    describe,
    is_integer,
    is_known,
)

if TYPE_CHECKING:
    from .compiler import Function, Unit

_ARGUMENTS = {
    "select": 3, "invoke": 2, "numbers_at": 2, "transpose": 5, "atomic_load": 2, "atomic_store": 3, "fetch_add": 3,
}  # fmt: skip
_ATOMIC = {
    "atomic_load": "load atomic i64, ptr {place} seq_cst, align 8",
    "atomic_store": "store atomic i64 {value}, ptr {place} seq_cst, align 8",
    "fetch_add": "atomicrmw add ptr {place}, i64 {value} seq_cst",
}
_BUILTINS = {abs, complex, int, max, min}


class Expressions:
    """The part of a Frame that compiles expressions."""

    into: Function
    unit: Unit
    w: Writer
    a: Arithmetic
    function: Any

    def value(self, node: ast.expr) -> Any:
        try:
            return getattr(self, "value_" + type(node).__name__)(node)
        except Mismatch as error:
            raise refuse(self.function, node, f"{error}, in {ast.unparse(node)!r}") from None

    def value_Constant(self, node: ast.Constant) -> Any:
        return node.value

    def value_Tuple(self, node: ast.Tuple) -> Any:
        return tuple(self.value(x) for x in node.elts)

    def constant(self, node: ast.Name) -> Any:
        """A name of the module: a function, a constant."""
        space = self.function.__globals__
        found = space[node.id] if node.id in space else getattr(builtins, node.id, None)
        if found is None:
            raise Mismatch(f"{node.id!r} is not defined here; the functions are {', '.join(ops.__all__)} and those of the module")
        if node.id not in space and found not in _BUILTINS:
            better = "; the length of an array is x.shape[0]" if node.id == "len" else ""
            raise Mismatch(f"{node.id!r} is not in the dialect{better}")
        if not (_is_constant(found) or callable(found)):
            raise Mismatch(f"{node.id!r} is {type(found).__name__}: a module holds numbers and tuples of numbers only")
        return found

    def value_Attribute(self, node: ast.Attribute) -> Any:
        owner = self.value(node.value)
        if isinstance(owner, ArrayValue) and node.attr == "shape":
            return owner.shape
        if node.attr in ("real", "imag"):
            if isinstance(owner, Complex):
                return owner.re if node.attr == "real" else owner.im
            if is_known(owner) or isinstance(owner, Number):
                return owner if node.attr == "real" else 0.0
        if not isinstance(owner, GroupValue) or node.attr not in owner.declared.__annotations__:
            raise Mismatch(f"{describe(owner)} has no {node.attr!r}")
        return self.into.field(owner, node.attr)

    # --- places of arrays ---------------------------------------------------------------------------------------------------
    def value_Subscript(self, node: ast.Subscript) -> Any:
        owner, at = self.value(node.value), self.indices(node.slice)
        if isinstance(owner, tuple):
            return self._part(owner, at)
        if not isinstance(owner, ArrayValue):
            raise Mismatch(f"an index into {describe(owner)}")
        array, place = self.place(owner, at)
        return array if array.shape else self.load(array, place)

    def _part(self, owner: tuple[Any, ...], at: tuple[Any, ...]) -> Any:
        if len(at) != 1:
            raise Mismatch("a tuple has one index")
        if isinstance(at[0], int):
            if not -len(owner) <= at[0] < len(owner):
                raise Mismatch(f"index {at[0]} of a tuple of {len(owner)}")
            return owner[at[0]]
        if not all(is_known(x) for x in owner):
            raise Mismatch(
                "the index of a tuple must be known: a loop over it is short, and counts from a known number to another"
            )
        table = self.unit.table(owner)
        place = self.w.let(f"getelementptr inbounds double, ptr {table}, i64 {self.a.integer(at[0])}")
        return Number(self.w.let(f"load double, ptr {place}"), False)

    def indices(self, node: ast.expr) -> tuple[Any, ...]:
        at = self.value(node)
        at = at if isinstance(at, tuple) else (at,)
        if not all(is_integer(k) for k in at):
            raise Mismatch(f"an index depends on {ast.unparse(node)!r}, which is not an integer")
        return at

    def place(self, array: ArrayValue, at: tuple[Any, ...]) -> tuple[ArrayValue, str]:
        """The subarray at some indices, and its address."""
        if any(isinstance(k, int) and k < 0 for k in at):
            raise Mismatch("a negative index: arrays are counted from their beginning")
        if len(at) > len(array.shape):
            raise Mismatch(f"{len(at)} indices into {describe(array)}")
        flat: Any = 0
        for k, size in enumerate(array.shape):
            flat = self.a.binary(ast.Mult, flat, size) if k else 0
            flat = self.a.binary(ast.Add, flat, at[k]) if k < len(at) else flat
        if array.kind == COMPLEX:
            flat = self.a.binary(ast.Mult, flat, 2)
        element = {INTEGERS: "i64", SHARED: "double"}.get(array.kind, self.w.T)
        offset, pointer = self.a.integer(flat), array.pointer
        if offset != "0":
            pointer = self.a.pure(f"getelementptr inbounds {element}, ptr {pointer}, i64 {offset}")
        return ArrayValue(pointer, array.shape[len(at) :], array.kind), pointer

    def load(self, array: ArrayValue, place: str) -> Any:
        w, tag = self.w, self.unit.tag(array.kind)
        if array.kind == INTEGERS:
            return Integer(w.let(f"load i64, ptr {place}{tag}"))
        if array.kind == SHARED and w.lanes > 1:
            return Number(w.let(f"load double, ptr {place}{tag}"), False)
        if array.kind == COMPLEX:
            second = w.let(f"getelementptr inbounds {w.T}, ptr {place}, i64 1")
            parts = [Number(w.let(f"load {w.T}, ptr {p}, align 8"), w.lanes > 1) for p in (place, second)]
            return Complex(*parts)
        return Number(w.let(f"load {w.T}, ptr {place}, align 8{tag}"), w.lanes > 1)

    # --- operators ----------------------------------------------------------------------------------------------------------
    def value_BinOp(self, node: ast.BinOp) -> Any:
        return self.a.binary(type(node.op), self.value(node.left), self.value(node.right))

    def value_UnaryOp(self, node: ast.UnaryOp) -> Any:
        x = self.value(node.operand)
        if isinstance(node.op, ast.USub):
            return self.a.negative(x)
        if isinstance(node.op, ast.Not):
            return self.a.negated(x)
        raise Mismatch(f"the operator {type(node.op).__name__} is not in the dialect")

    def value_Compare(self, node: ast.Compare) -> Any:
        last = self.value(node.comparators[0])
        out = self.a.compare(type(node.ops[0]), self.value(node.left), last)
        for op, part in zip(node.ops[1:], node.comparators[1:], strict=True):
            aside = self._aside(partial(self.value, part))  # Python evaluates it only if all before was true
            if not aside.harmless:
                raise Mismatch("a chain of comparisons that loads or calls: write it with `and`")
            self.w.lines += aside.lines
            out, last = self.a.joined("and", out, self.a.compare(type(op), last, aside.value)), aside.value
        return out

    def value_BoolOp(self, node: ast.BoolOp) -> Any:
        """Short-circuits: an operand that is not needed is not evaluated, since its address may be invalid."""
        verb, stops = ("and", False) if isinstance(node.op, ast.And) else ("or", True)
        out = self._condition(node.values[0])
        for part in node.values[1:]:
            if out is stops:
                return out
            if isinstance(out, bool):
                out = self._condition(part)
                continue
            if out.wide:
                out = self.a.joined(verb, out, self._condition(part))
                continue
            aside = self._aside(partial(self._condition, part))
            if aside.harmless:
                self.w.lines += aside.lines
                out = self.a.joined(verb, out, aside.value)
                continue
            before, end, found = self.w.here, self.w.label(), aside.value
            ways = f"label %{end}, label %{aside.first}" if stops else f"label %{aside.first}, label %{end}"
            self.w.line(f"br i1 {out.name}, {ways}")
            self._take(aside)
            self.w.line(f"br label %{end}")
            self.w.block(end)
            second = str(found).lower() if isinstance(found, bool) else found.name
            numbers = out.of_numbers or getattr(found, "of_numbers", False)
            name = self.w.let(f"phi i1 [ {str(stops).lower()}, %{before} ], [ {second}, %{aside.last} ]")
            out = Flag(name, False, numbers)
        return out

    def _condition(self, node: ast.expr) -> Any:
        found = self.value(node)
        if not isinstance(found, (bool, Flag)):
            raise Mismatch(f"`and` and `or` join conditions, not {describe(found)}")
        return found

    def value_IfExp(self, node: ast.IfExp) -> Any:
        test = self.condition(node.test, "a branch")
        if isinstance(test, bool):
            return self.value(node.body if test else node.orelse)
        w = self.w
        yes, no = self._aside(partial(self.value, node.body)), self._aside(partial(self.value, node.orelse))
        if yes.harmless and no.harmless:
            w.lines += [*yes.lines, *no.lines]
            return self.a.choose(test, yes.value, no.value)
        end = w.label()
        w.line(f"br i1 {test.name}, label %{yes.first}, label %{no.first}")
        arms = []
        for mine, other in ((yes, no), (no, yes)):
            self._take(mine)
            arms.append(self._settled(mine.value, other.value))
            w.line(f"br label %{end}")
        w.block(end)
        return self._met(arms[0], arms[1], [yes.last, no.last])

    def _settled(self, x: Any, other: Any) -> Any:
        """A value as LLVM's, converted to the common kind of it and the other one."""
        if isinstance(x, tuple) and isinstance(other, tuple) and len(x) == len(other):
            return tuple(self._settled(p, q) for p, q in zip(x, other, strict=True))
        if is_integer(x) and is_integer(other):
            return Integer(self.a.integer(x))
        return Number(self.a.number(x), self.w.lanes > 1)

    def _met(self, x: Any, y: Any, labels: list[str]) -> Any:
        """The value where two branches join."""
        if isinstance(x, tuple):
            return tuple(self._met(p, q, labels) for p, q in zip(x, y, strict=True))
        kind = "i64" if isinstance(x, Integer) else self.w.T
        name = self.w.let(f"phi {kind} [ {x.name}, %{labels[0]} ], [ {y.name}, %{labels[1]} ]")
        return Integer(name) if isinstance(x, Integer) else Number(name, self.w.lanes > 1)

    def _aside(self, work: Callable[[], Any]) -> _Aside:
        """The instructions that `work` writes, collected under a label of their own, and its result."""
        w = self.w
        lines, here, first = w.lines, w.here, w.label()
        w.lines, w.here = [], first
        try:
            value = work()
            return _Aside(w.lines, first, w.here, value)
        finally:
            w.lines, w.here = lines, here

    def _take(self, aside: _Aside) -> None:
        """Write what was collected, as one block or several."""
        self.w.block(aside.first)
        self.w.lines += aside.lines
        self.w.here = aside.last

    def condition(self, node: ast.expr, where: str) -> Any:
        """The condition of a branch: made of integers, or of numbers where that is allowed."""
        found = self.a.truth(self.value(node))
        if isinstance(found, Flag) and (found.wide or (found.of_numbers and not self.a.options.branches)):
            remedy = "use select" if where == "a branch" else "its bounds are integers"
            raise refuse(self.function, node, f"{where} depends on {ast.unparse(node)!r}, which is made of numbers: {remedy}")
        return found

    def bound(self, node: ast.expr) -> Any:
        x = self.value(node)
        if not is_integer(x) or isinstance(x, (bool, Flag)):
            raise refuse(self.function, node, f"a loop bound depends on {ast.unparse(node)!r}, which is not an integer")
        return x

    # --- calls --------------------------------------------------------------------------------------------------------------
    def value_Call(self, node: ast.Call) -> Any:
        assert isinstance(node.func, ast.Name)
        callee = self.value_Name(node.func)
        args = [self.value(x) for x in node.args]
        if not isinstance(callee, types.FunctionType):
            return self._builtin(node, callee, args)
        if is_foreign(callee):
            return self._foreign(callee.__name__, args)
        return self.into.call(callee, args, node, self.function)

    def value_Name(self, node: ast.Name) -> Any:
        raise AssertionError("a Frame knows its names")

    def _foreign(self, name: str, args: list[Any]) -> Any:
        wanted = _ARGUMENTS.get(name, 1)
        if len(args) != wanted:
            raise Mismatch(f"{name!r} takes {wanted} argument{'s' if wanted > 1 else ''}, got {len(args)}")
        if name == ops.select.__name__:
            return self.a.choose(self.a.truth(args[0]), args[1], args[2])
        if name == memory.invoke.__name__:
            function, arguments = (self.w.let(f"inttoptr i64 {self.a.integer(x)} to ptr") for x in args)
            return self.w.line(f"call void {function}(ptr {arguments})")
        if name == memory.transpose.__name__:
            return self._transpose(*args)
        if name == memory.numbers_at.__name__:
            address, size = args
            pointer = self.w.let(f"inttoptr i64 {self.a.integer(address)} to ptr")
            return ArrayValue(pointer, (size,), NUMBERS)
        if name in _ATOMIC:
            return self._atomic(name, *args)
        return self.a.elementary(name, args[0])

    def _atomic(self, name: str, x: Any, k: Any, value: Any = 0) -> Any:
        if not isinstance(x, ArrayValue) or x.kind != INTEGERS or len(x.shape) != 1:
            raise Mismatch(f"{name!r} works on a list of integers, not on {describe(x)}")
        text = _ATOMIC[name].format(place=self.place(x, (k,))[1], value=self.a.integer(value))
        if name == memory.atomic_store.__name__:
            return self.w.line(text)
        return Integer(self.w.let(text))

    def _transpose(self, size: Any, source: Any, source_stride: Any, target: Any, target_stride: Any) -> None:
        if not isinstance(size, int) or size < 2 or size & (size - 1):
            raise Mismatch("the size of what is transposed must be a constant, a power of 2")
        wide, w = Writer(size), self.w
        wide.lines, wide.name = w.lines, w.name  # type: ignore[method-assign]

        def rows(address: Any, stride: Any) -> list[str]:
            pointer = w.let(f"inttoptr i64 {self.a.integer(address)} to ptr")
            offsets = [w.let(f"mul i64 {self.a.integer(stride)}, {k}") for k in range(size)]
            return [w.let(f"getelementptr double, ptr {pointer}, i64 {offset}") for offset in offsets]

        loaded = [w.let(f"load {wide.T}, ptr {row}, align 8") for row in rows(source, source_stride)]
        for value, row in zip(wide.transposed(loaded), rows(target, target_stride), strict=True):
            w.line(f"store {wide.T} {value}, ptr {row}, align 8")

    def _builtin(self, node: ast.Call, callee: Any, args: list[Any]) -> Any:
        if callee is complex:
            return Complex(*args)
        if callee is abs:
            return self.a.absolute(args[0])
        if callee is int:
            return self.a.as_integer(args[0])
        if callee in (min, max) and len(args) > 1:
            if not self.a.options.branches:
                raise Mismatch(f"{callee.__name__!r} is not among the functions of ops")
            return self.a.extreme(ast.Lt if callee is min else ast.Gt, args)
        raise Mismatch(f"a call of {ast.unparse(node.func)!r}, which is neither a function of the dialect nor of ops")


def _is_constant(x: Any) -> bool:
    return all(map(_is_constant, x)) if isinstance(x, tuple) else isinstance(x, (int, float))


_EFFECTS = ("load ", "store ", "atomicrmw ", "call ", "br ", "sdiv ", "srem ", "fptosi ")
"""Instructions that have side effects, may be skipped, or are undefined for some arguments."""


@dataclass(frozen=True)
class _Aside:
    """Instructions that are not written yet: the labels of the block they begin and end in, and their value."""

    lines: list[str]
    first: str
    last: str
    value: Any

    @property
    def harmless(self) -> bool:
        """Whether they can be evaluated even if their value is not needed."""
        return self.first == self.last and not any(word in line for line in self.lines for word in _EFFECTS)
