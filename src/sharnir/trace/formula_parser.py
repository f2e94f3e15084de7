"""Formulas as text: parsed by Python's own parser, checked against an allow-list, never executed."""

from __future__ import annotations

import ast
import math
import re
import warnings
from collections.abc import Callable, Collection, Mapping
from typing import Any, TypeAlias

from ..errors import ModelError, comma_hint, known, shortened, suggestion, unknown
from . import functions
from .graph import Number
from .table import Table

MAX_LENGTH, MAX_DEPTH = 4000, 100
"""Characters of a formula, and depth of nested operations."""

CONSTANTS = {"pi": math.pi, "e": math.e, "deg": math.pi / 180.0}
_ONE = ("sin", "cos", "tan", "asin", "acos", "atan", "exp", "log", "sqrt", "sinh", "cosh", "tanh", "abs", "floor", "sign")
FUNCTIONS: dict[str, tuple[int, Callable[..., Number]]] = {
    **{name: (1, getattr(functions, name)) for name in _ONE},
    **{name: (2, getattr(functions, name)) for name in ("atan2", "power", "minimum", "maximum", "mod", "hypot")},
    "select": (3, functions.select),
    "step": (5, functions.step),
    "sawtooth": (2, functions.sawtooth),
    "triangle": (2, functions.triangle),
    "pulse": (3, functions.pulse),
}
"""Name: the number of arguments, and the function."""

_BINARY = {
    ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.Div: "div", ast.Pow: "pow", ast.Mod: "mod", ast.FloorDiv: "quotient",
}  # fmt: skip
_COMPARE = {ast.Lt: ("less", False), ast.LtE: ("less_equal", False), ast.Gt: ("less", True), ast.GtE: ("less_equal", True)}

Signal: TypeAlias = tuple[str, ...]
"""The words of a quantity that is read while simulating: ("q", "elbow")."""

Tree: TypeAlias = tuple[Any, ...]
"""("number", x), ("name", n), ("signal", (root, part, …)), ("apply", operation, trees), ("call", function, trees) or
("table", table, trees)."""


def parse(text: str, names: Collection[str], roots: Collection[str] = (), tables: Mapping[str, Table] | None = None) -> Tree:
    """A formula of `names`, of signals such as `q.elbow` whose first word is one of `roots`, and of tables by their names."""
    if not isinstance(text, str) or not text.strip():
        raise ModelError(f"expected a formula such as '0.3*sin(2*t)', got {text!r}")
    if len(text) > MAX_LENGTH:
        raise ModelError(f"the formula is longer than {MAX_LENGTH} characters ({len(text)}); name its parts under `where`")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what Python warns about is rejected below
            tree = ast.parse(text.strip().replace("\n", " "), mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        why = f" at character {error.offset}" if isinstance(error, SyntaxError) and error.offset else ""
        cut_at_comma = text.count("(") > text.count(")")  # as YAML does inside […] and {…}
        quote = "; quote a formula that contains a comma" if cut_at_comma else ""
        if found := re.search(r"(\d[\d.]*) ?(?:deg|°)", shortened(text, 60)):
            quote = f"; of degrees write {found[1]}*deg"
        raise ModelError(f"formula {_shown(text)}: cannot be read{why}; write e.g. '0.3*sin(2*t)'{quote}") from None
    if "#" in text and "'" not in text and '"' not in text:
        raise ModelError(f"formula {_shown(text)}: a formula has no comments: remove '#' and what follows")
    return _Translation(text, names, roots, tables or {}).tree(tree.body, 1)


def evaluate(tree: Tree, values: Mapping[str, Number], read: Callable[[Signal], Number] | None = None) -> Number:
    """The value of a formula on generic scalars; `read` gives the value of a signal."""
    kind = tree[0]
    if kind == "number":
        return tree[1]
    if kind == "name":
        return values[tree[1]]
    if kind == "signal":
        assert read is not None  # signals are parsed only where they can be read
        return read(tree[1])
    arguments = [evaluate(x, values, read) for x in tree[2]]
    if kind == "apply":
        return functions.apply(tree[1], *arguments)
    return (tree[1] if kind == "table" else FUNCTIONS[tree[1]][1])(*arguments)


def signals(tree: Tree) -> set[Signal]:
    """The signals a formula reads."""
    if tree[0] == "signal":
        return {tree[1]}
    return set().union(*(signals(x) for x in tree[2])) if len(tree) == 3 else set()


def tables_in(tree: Tree) -> list[Table]:
    """The tables a formula looks up."""
    below = [table for x in tree[2] for table in tables_in(x)] if len(tree) == 3 else []
    return [tree[1], *below] if tree[0] == "table" else below


def _shown(text: str) -> str:
    return repr(shortened(text, 60))


class _Translation:
    """Translates Python's syntax tree into ours; nodes that are not listed are refused."""

    def __init__(self, text: str, names: Collection[str], roots: Collection[str], tables: Mapping[str, Table]) -> None:
        self.text, self.names, self.roots, self.tables = text, names, roots, tables

    def tree(self, node: ast.AST, depth: int) -> Tree:
        if depth > MAX_DEPTH:
            raise self.error(f"operations are nested more than {MAX_DEPTH} deep")
        deeper = depth + 1
        match node:
            case ast.Constant(value=bool() | complex() | str() | bytes() | None):
                raise self.error(f"{node.value!r} is not a number")
            case ast.Constant(value=int() | float() as value):
                return ("number", self.number(value))
            case ast.Name(id=name):
                return self.name(name)
            case ast.Attribute() | ast.Subscript():
                return ("signal", self.path(node))
            case ast.UnaryOp(op=ast.UAdd(), operand=x):
                return self.tree(x, deeper)
            case ast.UnaryOp(op=ast.USub(), operand=x):
                inner = self.tree(x, deeper)
                return ("number", -inner[1]) if inner[0] == "number" else ("apply", "neg", (inner,))
            case ast.BinOp(op=op, left=a, right=b) if type(op) in _BINARY:
                return ("apply", _BINARY[type(op)], (self.tree(a, deeper), self.tree(b, deeper)))
            case ast.Call():
                return self.call(node, deeper)
            case ast.Compare():
                raise self.error("a comparison is allowed only in select(condition, a, b)")
            case ast.BinOp(op=ast.BitXor()):
                raise self.error("a power is written with **, not with ^")
        if isinstance(node, ast.Tuple) and (hint := comma_hint(self.text)):
            raise self.error(hint)
        raise self.error(f"{type(node).__name__} is not allowed; use numbers, names, + - * / // % ** and {known(FUNCTIONS, 99)}")

    def number(self, value: float) -> float:
        try:
            return float(value)
        except OverflowError:
            raise self.error("a number is too large") from None

    def name(self, name: str) -> Tree:
        if name in self.names:
            return ("name", name)
        if name in CONSTANTS:
            return ("number", CONSTANTS[name])
        if name in FUNCTIONS or name in self.tables:
            raise self.error(f"{name} is a {'table' if name in self.tables else 'function'}: write {name}(…)")
        if name in self.roots:
            raise self.error(f"{name} needs the name of what it belongs to: write e.g. {name}.elbow or {name}['left elbow']")
        choice = [*self.names, *(f"{r}.…" for r in self.roots), *CONSTANTS]
        hint = suggestion(name, self.names)
        raise self.error(f"unknown name {name!r}; {hint}{'It' if hint else 'it'} may use {known(choice, 20)}")

    def call(self, node: ast.Call, depth: int) -> Tree:
        name = node.func.id if isinstance(node.func, ast.Name) else None
        table = self.tables.get(name or "")
        if name is None or (table is None and name not in FUNCTIONS):
            shown = name or ast.unparse(node.func)
            raise self.error(unknown(f"function {shown!r}", shown, [*FUNCTIONS, *self.tables], "functions"))
        arity = FUNCTIONS[name][0] if table is None else len(table.axes)
        if node.keywords or len(node.args) != arity:
            raise self.error(f"{name} takes {arity} argument{'s' * (arity > 1)}, got {len(node.args) + len(node.keywords)}")
        if table is not None:
            return ("table", table, tuple(self.tree(x, depth) for x in node.args))
        if name != "select":
            return ("call", name, tuple(self.tree(x, depth) for x in node.args))
        condition, *others = node.args
        return ("call", name, (self.condition(condition, depth), *(self.tree(x, depth) for x in others)))

    def condition(self, node: ast.AST, depth: int) -> Tree:
        if not (isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in _COMPARE):
            raise self.error("select needs one comparison by <, <=, > or >= as its first argument")
        operation, swapped = _COMPARE[type(node.ops[0])]
        sides = (self.tree(node.left, depth + 1), self.tree(node.comparators[0], depth + 1))
        return ("apply", operation, sides[::-1] if swapped else sides)

    def path(self, node: ast.AST) -> Signal:
        """q.elbow, q['left elbow'].angle …"""
        parts: list[str] = []
        while not isinstance(node, ast.Name):
            match node:
                case ast.Attribute(value=inner, attr=part) | ast.Subscript(value=inner, slice=ast.Constant(value=str() as part)):
                    parts.append(part)
                    node = inner
                case _:
                    raise self.error("a dot or a bracket belongs to a signal such as q.elbow or q['left elbow']")
            if len(parts) > 3:
                raise self.error("a signal has at most three words, such as q.shoulder.first")
        if node.id not in self.roots:
            raise self.error(unknown(f"signal {node.id!r}", node.id, self.roots, "signals"))
        return (node.id, *reversed(parts))

    def error(self, what: str) -> ModelError:
        return ModelError(f"formula {_shown(self.text)}: {what}")
