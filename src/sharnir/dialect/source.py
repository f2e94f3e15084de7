"""Python functions as text: the syntax tree, the functions it calls, its size; its names, and which need a place in memory."""

from __future__ import annotations

import ast
import sys
import types
from collections.abc import Iterator
from functools import cache, partial
from pathlib import Path
from typing import Any

from ..errors import DialectError
from . import memory, ops
from .cache import digest
from .rules import function_problems


def refuse(function: Any, node: ast.AST, rule: str) -> DialectError:
    """The error that names file, line and rule."""
    line = getattr(node, "lineno", function.__code__.co_firstlineno)
    return DialectError(f"{function.__code__.co_filename}:{line}: {rule}")


@cache
def _module_functions(path: str) -> dict[str, ast.FunctionDef]:
    tree = ast.parse(Path(path).read_text(encoding="utf-8"))
    return {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}


def with_bound(entry: Any) -> tuple[Any, ...]:
    """A function, and the functions that `functools.partial` binds to its first parameters."""
    return (entry.func, *entry.args) if isinstance(entry, partial) else (entry,)


def syntax(function: Any) -> ast.FunctionDef:
    """The definition of a function, with the line numbers of its file."""
    code = function.__code__
    found = _module_functions(code.co_filename).get(function.__name__)
    if found is None or code.co_freevars:
        raise DialectError(
            f"{code.co_filename}:{code.co_firstlineno}: {function.__name__!r} is no function of a module: "
            "closures and functions within functions are not in the dialect"
        )
    return found


@cache
def check_form(function: Any, numbers: bool) -> None:
    """Refuse a function that is not of the dialect. `numbers`: it may branch on numbers."""
    for line, rule in function_problems(syntax(function), numbers):
        raise DialectError(f"{function.__code__.co_filename}:{line}: {rule}")


def is_foreign(function: Any) -> bool:
    """Whether compiled code has a function as instructions, not as text."""
    return function.__module__ in (ops.__name__, memory.__name__)


@cache
def closure(function: Any) -> tuple[types.FunctionType, ...]:
    """The functions of the dialect that a function calls or passes on, directly or not, callees first, itself last."""
    found: dict[int, Any] = {}

    def visit(f: Any) -> None:
        if id(f) in found:
            return
        found[id(f)] = None
        for name in f.__code__.co_names:
            callee = f.__globals__.get(name)
            if isinstance(callee, types.FunctionType) and not is_foreign(callee):
                visit(callee)
        del found[id(f)]  # to the end
        found[id(f)] = f

    for f in reversed(with_bound(function)):
        visit(f)
    return tuple(found.values())


@cache
def direct_names(function: Any) -> frozenset[str]:
    """Names assigned in one list of statements only, and read only behind the first of those assignments within it.

    All other names (changed in a branch or in a loop, read behind it) live in memory, and LLVM finds their registers.
    """
    tree = syntax(function)
    stores: dict[str, list[tuple[int, int]]] = {}  # (which list of statements, place in it)
    loads: dict[str, list[tuple[tuple[int, int], ...]]] = {}  # the way to every use: (list, place) from the outside in
    for arg in tree.args.args:
        stores.setdefault(arg.arg, []).append((id(tree.body), -1))

    def visit(body: list[ast.stmt], way: tuple[tuple[int, int], ...]) -> None:
        for place, statement in enumerate(body):
            here = (*way, (id(body), place))
            for node in _own_nodes(statement):
                if isinstance(node, ast.Name):
                    if isinstance(node.ctx, ast.Store):
                        stores.setdefault(node.id, []).append((id(body), place))
                    else:
                        loads.setdefault(node.id, []).append(here)
            if isinstance(statement, ast.AugAssign) and isinstance(statement.target, ast.Name):
                loads.setdefault(statement.target.id, []).append(here)
            if isinstance(statement, ast.For) and isinstance(statement.target, ast.Name):
                stores[statement.target.id] = [*stores.get(statement.target.id, []), (0, 0), (1, 0)]  # a place of its own
            for inner in _bodies(statement):
                visit(inner, here)

    visit(tree.body, ())
    out = set()
    for name, places in stores.items():
        lists = {where for where, _ in places}
        if len(lists) > 1:
            continue
        (where,) = lists
        first = min(place for _, place in places)
        if all(any(block == where and place >= first for block, place in way) for way in loads.get(name, [])):
            out.add(name)
    return frozenset(out)


@cache
def assigned_names(function: Any) -> frozenset[str]:
    """Names that are local because the function assigns to them."""
    nodes = ast.walk(syntax(function))
    return frozenset(node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store))


@cache
def returns_early(function: Any) -> bool:
    """Whether the function returns anywhere but in its last statement."""
    body = syntax(function).body
    return any(isinstance(n, ast.Return) and n is not body[-1] for statement in body for n in ast.walk(statement))


def _bodies(statement: ast.stmt) -> Iterator[list[ast.stmt]]:
    for part in ("body", "orelse"):
        inner = getattr(statement, part, None)
        if inner:
            yield inner


def _own_nodes(statement: ast.stmt) -> Iterator[ast.AST]:
    """The expressions of a statement, without the statements in it."""
    for child in ast.iter_child_nodes(statement):
        if isinstance(child, ast.expr):
            yield from ast.walk(child)


@cache
def weight(function: Any) -> int:
    """Size of a call when everything is inlined: nodes of the function and of all it calls by name."""
    return nodes_in(syntax(function).body, function)


def nodes_in(body: list[ast.stmt], function: Any) -> int:
    """Size of some statements of a function, calls inlined."""
    total = 0
    for node in (node for statement in body for node in ast.walk(statement)):
        total += isinstance(node, (ast.expr, ast.stmt))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            callee = function.__globals__.get(node.func.id)
            if hasattr(callee, "__code__") and not is_foreign(callee) and callee is not function:
                total += weight(callee)
    return total


@cache
def texts(*functions: Any) -> tuple[str, ...]:
    """The files that the functions and all they call are written in: what compiled code depends on."""
    modules = sorted({f.__module__ for function in functions for f in closure(function)})
    return tuple(_file_text(sys.modules[name].__file__ or "") for name in modules)


@cache
def _file_text(path: str) -> str:
    return Path(path).read_text(encoding="utf-8")


@cache
def translators() -> str:
    """A digest of the compiler's own text: code made by another version of it is not this code."""
    return digest(*(path.read_text(encoding="utf-8") for path in sorted(Path(__file__).parent.rglob("*.py"))))
