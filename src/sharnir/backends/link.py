"""The same kernels with other elementary functions: a kernel's code object is run with other globals."""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any

from ..kernels import ops
from ..trace import functions as traced

PACKAGE = __name__.rsplit(".", 2)[0]
KERNEL_MODULES = (f"{PACKAGE}.kernels", f"{PACKAGE}.programs", f"{PACKAGE}.integrate", f"{PACKAGE}.closed")

ANY_NUMBER: dict[str, Callable[..., Any]] = {name: getattr(traced, name) for name in ops.__all__}
"""Elementary functions that work on symbols and counting numbers as well as on floats."""


def is_kernel(x: Any) -> bool:
    return isinstance(x, types.FunctionType) and x.__module__.startswith(KERNEL_MODULES)


def closure(function: Any) -> list[types.FunctionType]:
    """The kernel functions that a function calls, directly or not, callees first, itself last."""
    found: dict[int, Any] = {}

    def visit(f: Any) -> None:
        if id(f) in found:
            return
        for name in f.__code__.co_names:
            callee = f.__globals__.get(name)
            if is_kernel(callee) and callee is not f:
                visit(callee)
        found[id(f)] = f

    visit(function)
    return list(found.values())


def relink(function: Any, replace: dict[str, Callable[..., Any]] = ANY_NUMBER) -> Callable[..., Any]:
    """A copy of a kernel, and of all it calls, in which the functions of `ops` are replaced."""
    copies: dict[int, types.FunctionType] = {}
    for f in closure(function):
        if f.__module__ == ops.__name__:
            continue
        names = {}
        for name in f.__code__.co_names:
            if name in f.__globals__:
                x = f.__globals__[name]
                names[name] = replace[name] if getattr(ops, name, None) is x else copies.get(id(x), x)
        names["__builtins__"] = __builtins__
        copies[id(f)] = types.FunctionType(f.__code__, names, f.__name__)
    return copies[id(function)]
