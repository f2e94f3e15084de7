"""Functions of the dialect as one LLVM module: loops stay loops, small functions are written out where they are called.

The module has one function that others can see, `void f(int64 *list)`. The list is a status, then for every array of
every group its address and its shape. What the Python function returns, an integer, is put in place of the status.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ..errors import DialectError
from .arithmetic import Arithmetic, Mismatch, Options
from .arrays import Array
from .double_double_code import PairArithmetic, PairWriter, prelude
from .frame import Frame
from .sincos import UNLIKELY
from .source import closure, refuse, weight, with_bound
from .storage import descriptor_length
from .text import Writer, double
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
    is_integer,
)


# --- values as parameters and results of a function that is not inlined: a pattern without LLVM's names, and those names
@dataclass(frozen=True)
class _Known:
    """A known value as part of a key; 1, 1.0 and True are not the same here."""

    text: str
    value: Any = field(compare=False)


def flatten(x: Any, flat: list[tuple[str, str]], lanes: int) -> Any:
    """A value as a pattern that does not depend on LLVM's names, which are appended to `flat` with their types."""
    if isinstance(x, tuple):
        return tuple([flatten(part, flat, lanes) for part in x])
    if isinstance(x, Complex):
        return Complex(flatten(x.re, flat, lanes), flatten(x.im, flat, lanes))
    if isinstance(x, ArrayValue):
        flat.append(("ptr", x.pointer))
        return ArrayValue("", flatten(x.shape, flat, lanes), x.kind)
    if isinstance(x, GroupValue):
        flat.append(("ptr", x.base))
        return replace(x, base="", at=0)
    if isinstance(x, (Integer, Flag, Number)):
        kind = "i64" if isinstance(x, Integer) else "i1" if isinstance(x, Flag) else "double"
        flat.append((f"<{lanes} x {kind}>" if getattr(x, "wide", False) else kind, x.name))
        return replace(x, name="")
    return _Known(f"{type(x)} {x!r}", x)


def rebuild(pattern: Any, names: Iterator[str]) -> Any:
    """The value of such a pattern with other names."""
    if isinstance(pattern, tuple):
        return tuple([rebuild(part, names) for part in pattern])
    if isinstance(pattern, Complex):
        return Complex(rebuild(pattern.re, names), rebuild(pattern.im, names))
    if isinstance(pattern, ArrayValue):
        return ArrayValue(next(names), rebuild(pattern.shape, names), pattern.kind)
    if isinstance(pattern, GroupValue):
        return replace(pattern, base=next(names))
    return pattern.value if isinstance(pattern, _Known) else replace(pattern, name=next(names))


def returned_type(kinds: Sequence[str]) -> str:
    if not kinds:
        return "void"
    return kinds[0] if len(kinds) == 1 else "{ " + ", ".join(kinds) + " }"


# --- modules and their functions
def compile_module(entry: Any, groups: Sequence[Any], options: Options, shared: int = 0) -> str:
    """The LLVM assembly of a function and all it calls. `groups`: the declared NamedTuples of its arguments behind functions that
    are bound to it, of which the first `shared` are the same for all lanes."""
    unit = Unit(options)
    function = Function(unit, "f", ["ptr noalias %list"])
    args, at = [], 1
    for k, group in enumerate(groups):
        args.append(GroupValue(group, "%list", at, k < shared))
        at += descriptor_length(group)
    text, *bound = with_bound(entry)
    result = Frame(function, text, [*bound, *args]).run()
    if result is not None:
        if not is_integer(result):
            raise DialectError(f"{text.__code__.co_filename}: {text.__name__!r} must return an integer or nothing")
        function.w.line(f"store i64 {function.a.integer(result)}, ptr %list")
    function.w.line("ret void")
    return unit.text([function.text("void")])


class Unit:
    """A module: what its functions share."""

    def __init__(self, options: Options, prefix: str = "") -> None:
        """`prefix` begins the names of its functions and tables where it becomes part of another module."""
        self.options, self.prefix = options, prefix
        self.declarations: set[str] = set()
        self.operations: set[str] = set()
        """Operations on double-double numbers that the module calls."""
        self._kept: dict[Any, tuple[str, Any, list[str]]] = {}
        self._texts: list[str] = []
        self._tables: dict[tuple[str, ...], str] = {}

    def text(self, functions: list[str]) -> str:
        pairs = prelude(self.operations, self.declarations)
        return "\n".join([*sorted(self.declarations), *pairs, *self.body(functions), UNLIKELY, *_TYPES, ""])

    def body(self, functions: list[str]) -> list[str]:
        """The module without declarations and types: tables, the functions that were outlined, and these."""
        tables = [
            f"{name} = private unnamed_addr constant [{len(x)} x double] [{', '.join(f'double {k}' for k in x)}]"
            for x, name in self._tables.items()
        ]
        return [*tables, *self._texts, *functions]

    def table(self, numbers: tuple[float, ...]) -> str:
        """Known numbers in memory, for an index that is not known."""
        bits = tuple(double(float(x)) for x in numbers)  # 0.0 and -0.0 are two
        return self._tables.setdefault(bits, f"@{self.prefix}table{len(self._tables)}")

    def tag(self, kind: str) -> str:
        """Integers and numbers never share a place: what is stored in the one does not change the other."""
        return ", !tbaa !5" if kind == INTEGERS else ", !tbaa !6"

    def outlined(self, callee: Any, args: Sequence[Any]) -> tuple[str, list[str], Any, list[str]]:
        """A function that stays one: its name, the LLVM values it is called with, what it returns as a pattern and as types."""
        flat: list[tuple[str, str]] = []
        shape = flatten(tuple(args), flat, self.options.lanes)
        key = (callee, shape)
        if key not in self._kept:
            name = f"@{self.prefix}{callee.__name__}.{len(self._kept)}"
            parameters = [f"%p{k}" for k in range(len(flat))]
            function = Function(self, name[1:], [f"{kind} {p}" for (kind, _), p in zip(flat, parameters, strict=True)])
            result = Frame(function, callee, rebuild(shape, iter(parameters))).run()
            if not _is_value(result):
                raise Mismatch(f"{callee.__name__!r} returns an array: only numbers, and tuples of numbers, are returned")
            leaves: list[tuple[str, str]] = []
            pattern = flatten(result, leaves, self.options.lanes)
            kinds = [kind for kind, _ in leaves]
            function.give_back(returned_type(kinds), leaves)
            self._texts.append(function.text(returned_type(kinds)))
            self._kept[key] = name, pattern, kinds
        name, pattern, kinds = self._kept[key]
        return name, [f"{kind} {value}" for kind, value in flat], pattern, kinds


class Function:
    """An LLVM function that is being written."""

    def __init__(self, unit: Unit, name: str, parameters: Sequence[str]) -> None:
        self.unit, self.name, self.parameters = unit, name, parameters
        self.w: Writer
        self.a: Arithmetic
        if unit.options.pairs:
            self.w = pairs = PairWriter()
            self.a, pairs.operations = PairArithmetic(pairs, unit.options), unit.operations
        else:
            self.w = Writer(unit.options.lanes)
            self.a = Arithmetic(self.w, unit.options)
        self.w.declarations = unit.declarations
        self._first: list[str] = []
        self._words: dict[tuple[str, int], str] = {}
        self._fields: dict[tuple[str, int], ArrayValue] = {}

    def text(self, returned: str, attributes: str = "nounwind") -> str:
        linkage = "" if self.name == "f" else "internal "
        head = f"define {linkage}{returned} @{self.name}({', '.join(self.parameters)}) {attributes} {{\nentry:"
        return "\n".join([head, *self._first, *self.w.lines, "}"])

    def room(self, kind: str) -> str:
        name = self.w.name()
        self._first.append(f"  {name} = alloca {kind}")
        return name

    def _word(self, base: str, at: int) -> str:
        """A word of the list of arrays. It never changes while the function runs; the load is marked invariant."""
        if (base, at) not in self._words:
            place, name = self.w.name(), self.w.name()
            self._first.append(f"  {place} = getelementptr inbounds i64, ptr {base}, i64 {at}")
            self._first.append(f"  {name} = load i64, ptr {place}, !invariant.load !1")
            self._words[base, at] = name
        return self._words[base, at]

    def field(self, group: GroupValue, name: str) -> Any:
        """An array of a group, or a group in it."""
        at = group.at
        for other, part in group.declared.__annotations__.items():
            if other == name:
                break
            at += descriptor_length(part)
        if not issubclass(part, Array):
            return GroupValue(part, group.base, at, group.shared)
        if (group.base, at) not in self._fields:
            shape = [n if isinstance(n, int) else Integer(self._word(group.base, at + 1 + k)) for k, n in enumerate(part.shape)]
            pointer = self.w.name()
            address = self._word(group.base, at)
            self._first.append(f"  {pointer} = inttoptr i64 {address} to ptr")
            kinds = {"int64": INTEGERS, complex: COMPLEX, float: SHARED if group.shared else NUMBERS}
            self._fields[group.base, at] = ArrayValue(pointer, tuple(shape), kinds[part.dtype])
        return self._fields[group.base, at]

    def call(self, callee: Any, args: Sequence[Any], node: ast.Call, caller: Any) -> Any:
        if caller in closure(callee):
            raise refuse(caller, node, "a function that calls itself: the dialect has no recursion")
        if weight(callee) <= self.unit.options.inline:
            return Frame(self, callee, args).run()
        try:
            args = [replace(x, base=self._moved(x), at=0) if isinstance(x, GroupValue) else x for x in args]
            name, values, pattern, kinds = self.unit.outlined(callee, args)
        except Mismatch as error:
            raise refuse(caller, node, str(error)) from None
        returned = returned_type(kinds)
        call = f"call {returned} {name}({', '.join(values)})"
        if not kinds:
            self.w.line(call)
            return rebuild(pattern, iter(()))
        result = self.w.let(call)
        if len(kinds) > 1:
            return rebuild(pattern, iter([self.w.let(f"extractvalue {returned} {result}, {k}") for k in range(len(kinds))]))
        return rebuild(pattern, iter([result]))

    def _moved(self, group: GroupValue) -> str:
        if not group.at:
            return group.base
        return self.a.pure(f"getelementptr inbounds i64, ptr {group.base}, i64 {group.at}")

    def give_back(self, returned: str, leaves: Sequence[tuple[str, str]]) -> None:
        out = leaves[0][1] if len(leaves) == 1 else "poison"
        for k, (kind, value) in enumerate(leaves if len(leaves) > 1 else ()):
            out = self.w.let(f"insertvalue {returned} {out}, {kind} {value}, {k}")
        self.w.line(f"ret {returned} {out}" if leaves else "ret void")


_TYPES = [
    '!1 = !{}',
    '!2 = !{!"sharnir"}',
    '!3 = !{!"integers", !2, i64 0}',
    '!4 = !{!"numbers", !2, i64 0}',
    "!5 = !{!3, !3, i64 0}",
    "!6 = !{!4, !4, i64 0}",
]  # fmt: skip


def _is_value(result: Any) -> bool:
    if isinstance(result, tuple):
        return all(map(_is_value, result))
    return not isinstance(result, (ArrayValue, GroupValue))
