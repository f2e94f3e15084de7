"""Names of a function: those bound to values without a place in memory, those assigned; and the size of a function."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from typing import Any

from .source import is_foreign, syntax


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
    """The function returns anywhere but in its last statement."""
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
