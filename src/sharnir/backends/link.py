"""Kernels linked to other elementary functions: a kernel's code object is run with other globals."""

from __future__ import annotations

import types
from collections.abc import Callable
from functools import cache, partial
from typing import Any

from ..dialect import ops
from ..dialect.source import closure, with_bound
from ..trace import functions as traced

ANY_NUMBER: dict[str, Callable[..., Any]] = {name: getattr(traced, name) for name in ops.__all__}
"""Elementary functions that work on symbols and counting numbers as well as on floats."""


def linked(function: Any, wrap: Callable[[types.FunctionType], Any] = lambda copy: copy) -> Callable[..., Any]:
    """A copy of a kernel, and of all it calls, in which the functions of `ops` take generic scalars. `wrap`: takes
    each copy, returns what is called in its place."""
    copies: dict[int, Any] = {}
    for f in closure(function):
        names = {}
        for name in f.__code__.co_names:
            if name in f.__globals__:
                x = f.__globals__[name]
                names[name] = ANY_NUMBER[name] if getattr(ops, name, None) is x else copies.get(id(x), x)
        names["__builtins__"] = __builtins__
        copies[id(f)] = wrap(types.FunctionType(f.__code__, names, f.__name__))
    text, *bound = (copies[id(f)] for f in with_bound(function))
    return partial(text, *bound) if bound else text


relink = cache(linked)
