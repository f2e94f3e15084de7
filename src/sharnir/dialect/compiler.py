"""Functions of the dialect as one LLVM module: loops stay loops, small functions are written out where they are called.

The module has one function that others can see, `void f(int64 *list)`. The list is a status, then for every array of
every group its address and its shape. What the Python function returns, an integer, is put in place of the status.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

from ..errors import DialectError
from .arithmetic import Arithmetic, Mismatch, Options
from .arrays import Array
from .double_double_code import PairArithmetic, PairWriter, prelude
from .frame import Frame
from .names import weight
from .sincos import UNLIKELY
from .source import closure, refuse, with_bound
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
    is_known,
)


# --- values as parameters and results of a function that is not inlined: a pattern without LLVM's names, and those names
def flatten(x: Any, flat: list[tuple[str, str]], lanes: int) -> Any:
    """A value as a pattern that does not depend on LLVM's names, which are appended to `flat` with their types."""
    if isinstance(x, tuple):
        return tuple(flatten(part, flat, lanes) for part in x)
    if isinstance(x, Integer):
        flat.append(("i64", x.name))
        return _Leaf("i64")
    if isinstance(x, Flag):
        flat.append((f"<{lanes} x i1>" if x.wide else "i1", x.name))
        return Flag(flat[-1][0], x.wide, x.of_numbers)
    if isinstance(x, Number):
        kind = f"<{lanes} x double>" if x.wide else "double"
        flat.append((kind, x.name))
        return _Leaf(kind)
    if isinstance(x, Complex):
        return Complex(flatten(x.re, flat, lanes), flatten(x.im, flat, lanes))
    if isinstance(x, ArrayValue):
        flat.append(("ptr", x.pointer))
        return ArrayValue("", tuple(flatten(n, flat, lanes) for n in x.shape), x.kind)
    if isinstance(x, GroupValue):
        flat.append(("ptr", x.base))
        return GroupValue(x.declared, "", 0, x.shared)
    assert is_known(x) or callable(x), x
    return (_Known(x),)


class _Known:
    """A known value as part of a key; 1, 1.0 and True are not the same here."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Known) and type(self.value) is type(other.value) and repr(self.value) == repr(other.value)

    def __hash__(self) -> int:
        return hash(repr(self.value))


class _Leaf(str):
    """The type of a parameter."""

    __slots__ = ()


def rebuild(pattern: Any, names: Any) -> Any:
    if isinstance(pattern, tuple) and len(pattern) == 1 and isinstance(pattern[0], _Known):
        return pattern[0].value
    if isinstance(pattern, tuple):
        return tuple(rebuild(part, names) for part in pattern)
    if isinstance(pattern, Complex):
        return Complex(rebuild(pattern.re, names), rebuild(pattern.im, names))
    if isinstance(pattern, ArrayValue):
        pointer = next(names)
        return ArrayValue(pointer, tuple(rebuild(n, names) for n in pattern.shape), pattern.kind)
    if isinstance(pattern, GroupValue):
        return GroupValue(pattern.declared, next(names), 0, pattern.shared)
    name = next(names)
    if isinstance(pattern, Flag):
        return Flag(name, pattern.wide, pattern.of_numbers)
    return Integer(name) if pattern == "i64" else Number(name, pattern != "double")


def leaf_types(pattern: Any, out: list[tuple[str, str]]) -> None:
    """The types of what a function returns."""
    if isinstance(pattern, tuple) and len(pattern) == 1 and isinstance(pattern[0], _Known):
        return
    if isinstance(pattern, tuple):
        for part in pattern:
            leaf_types(part, out)
    elif isinstance(pattern, Complex):
        leaf_types(pattern.re, out)
        leaf_types(pattern.im, out)
    else:
        out.append((pattern.name if isinstance(pattern, Flag) else str(pattern), ""))


def returned_type(leaves: Sequence[tuple[str, str]]) -> str:
    if not leaves:
        return "void"
    return leaves[0][0] if len(leaves) == 1 else "{ " + ", ".join(kind for kind, _ in leaves) + " }"


# --- compiler
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
        self._kept: dict[Any, tuple[str, Any]] = {}
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

    def outlined(self, callee: Any, args: Sequence[Any]) -> tuple[str, list[str], Any]:
        """A function that stays one: its name, the LLVM values it is called with, and what it returns, as a pattern."""
        flat: list[tuple[str, str]] = []
        shape = tuple(flatten(x, flat, self.options.lanes) for x in args)
        key = (callee, shape)
        if key not in self._kept:
            name = f"@{self.prefix}{callee.__name__}.{len(self._kept)}"
            parameters = [f"%p{k}" for k in range(len(flat))]
            function = Function(self, name[1:], [f"{kind} {p}" for (kind, _), p in zip(flat, parameters, strict=True)])
            given = iter(parameters)
            result = Frame(function, callee, [rebuild(x, given) for x in shape]).run()
            if not _is_value(result):
                raise Mismatch(f"{callee.__name__!r} returns an array: only numbers, and tuples of numbers, are returned")
            leaves: list[tuple[str, str]] = []
            pattern = None if result is None else flatten(result, leaves, self.options.lanes)
            function.give_back(leaves)
            self._texts.append(function.text(returned_type(leaves)))
            self._kept[key] = name, pattern
        name, pattern = self._kept[key]
        return name, [f"{kind} {value}" for kind, value in flat], pattern


class Function:
    """An LLVM function that is being written."""

    def __init__(self, unit: Unit, name: str, parameters: Sequence[str]) -> None:
        self.unit, self.name, self.parameters = unit, name, parameters
        self.w, self.a = _writer(unit)
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
            args = [GroupValue(x.declared, self._moved(x), 0, x.shared) if isinstance(x, GroupValue) else x for x in args]
            name, values, pattern = self.unit.outlined(callee, args)
        except Mismatch as error:
            raise refuse(caller, node, str(error)) from None
        leaves: list[tuple[str, str]] = []
        if pattern is not None:
            leaf_types(pattern, leaves)
        if not leaves:
            self.w.line(f"call void {name}({', '.join(values)})")
            return None if pattern is None else rebuild(pattern, iter(()))
        kinds = returned_type(leaves)
        result = self.w.let(f"call {kinds} {name}({', '.join(values)})")
        if len(leaves) > 1:
            return rebuild(pattern, iter([self.w.let(f"extractvalue {kinds} {result}, {k}") for k in range(len(leaves))]))
        return rebuild(pattern, iter([result]))

    def _moved(self, group: GroupValue) -> str:
        if not group.at:
            return group.base
        return self.a.pure(f"getelementptr inbounds i64, ptr {group.base}, i64 {group.at}")

    def give_back(self, leaves: Sequence[tuple[str, str]]) -> None:
        if not leaves:
            self.w.line("ret void")
            return
        kinds = returned_type(leaves)
        out = leaves[0][1]
        if len(leaves) > 1:
            out = "poison"
            for k, (kind, value) in enumerate(leaves):
                out = self.w.let(f"insertvalue {kinds} {out}, {kind} {value}, {k}")
        self.w.line(f"ret {kinds} {out}")


def _writer(unit: Unit) -> tuple[Writer, Arithmetic]:
    """A writer, and the arithmetic of a module on it."""
    if not unit.options.pairs:
        w = Writer(unit.options.lanes)
        w.declarations = unit.declarations
        return w, Arithmetic(w, unit.options)
    pairs = PairWriter()
    pairs.declarations, pairs.operations = unit.declarations, unit.operations
    return pairs, PairArithmetic(pairs, unit.options)


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
