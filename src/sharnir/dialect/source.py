"""The syntax tree of a Python function, the place of its lines, and the functions it calls."""

from __future__ import annotations

import ast
import sys
import types
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
    """Functions that compiled code has as instructions, not as text."""
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
