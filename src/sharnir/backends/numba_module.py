"""Functions of the dialect through Numba to machine code: their text as it stands, compiled to a function of one address."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from ..kernels import ops
from .link import closure
from .llvm.jit import optimized


def kernels_text(entries: Sequence[Any], without: Sequence[Any] = ()) -> str:
    """Constants, and every function that the entries call, each under the decorator `@kernel`. Functions named in
    `without` are left out: the module brings its own."""
    functions: dict[str, Any] = {}
    for entry in entries:
        for f in closure(entry):
            if f in without or (f.__module__ == ops.__name__ and f.__name__ != "select"):
                continue  # Numba has its own: those of math
            if functions.setdefault(f.__name__, f) is not f:
                raise AssertionError(f"two kernels are called {f.__name__!r}: rename one")
    constants: dict[str, Any] = {}
    for f in functions.values():
        for name in f.__code__.co_names:
            value = f.__globals__.get(name)
            if isinstance(value, (int, float, tuple)) and constants.setdefault(name, value) != value:
                raise AssertionError(f"two constants are called {name!r}: rename one")
    return "\n".join(
        [
            "from math import " + ", ".join(sorted(n for n in ops.__all__ if n != "select")),
            *(f"{name} = {value!r}" for name, value in sorted(constants.items())),
            *(f"\n\n@kernel\n{inspect.getsource(f)}" for f in functions.values()),
        ]
    )


def native_assembly(space: dict[str, Any], main: str, groups: Mapping[str, Any]) -> str:
    """LLVM assembly of a function `void f(int64 *arguments)` from the text of `main(address)`.

    `space` holds the functions it calls, under `@kernel`; a group named in `groups` is had by `name(address)`.
    """
    from numba import types

    from .intrinsics import group_at

    space = {**space, **{name: group_at(group) for name, group in groups.items()}}
    exec(f"@kernel\n{main}", space)
    with _no_optimization():
        space["main"].compile((types.int64,))
        (result,) = space["main"].overloads.values()
        text = result.library.get_llvm_str()
    name = re.escape(result.fndesc.llvm_func_name)
    text = re.sub(rf'@"?{name}"?(?=\()', "@inner", text) + _WRAPPER
    text = optimized(text)
    foreign = set(re.findall(r"^declare .*?@\"?([\w.]+)", text, re.MULTILINE)) - _LIBRARY
    foreign = {name for name in foreign if not name.startswith("llvm.")}
    if foreign:
        raise AssertionError(f"code leaves the dialect: it calls {', '.join(sorted(foreign))}")
    return text


_WRAPPER = """
define void @f(ptr %arguments) {
  %result = alloca i64
  %exception = alloca ptr
  %address = ptrtoint ptr %arguments to i64
  %status = call i32 @inner(ptr %result, ptr %exception, i64 %address)
  ret void
}
"""
"""How Numba's own functions are called: place of the result, place of an exception (there is none), the argument."""

_LIBRARY = {
    "floor", "fmod", "pow", "exp", "log", "sqrt", "hypot", "sin", "cos", "tan", "asin", "acos", "atan", "atan2", "sinh", "cosh",
    "tanh", "memset", "memcpy", "memmove",
}  # fmt: skip
"""What the code may need from outside."""


@contextmanager
def _no_optimization() -> Iterator[None]:
    """Numba optimises every function and then all it calls again; once at the end is enough, and far quicker."""
    from numba.core import config as settings

    config: Any = settings
    kept = config.OPT
    config.OPT = type(kept)(2)
    try:
        yield
    finally:
        config.OPT = kept


def addresses(arrays: Iterable[np.ndarray]) -> list[int]:
    """Address and shape of each: how a group is handed to compiled code."""
    return [k for x in arrays for k in (x.ctypes.data, *x.shape)]


def flat(group: Any) -> list[np.ndarray]:
    """The arrays of a group, groups within it opened up."""
    return [x for part in group for x in ([part] if isinstance(part, np.ndarray) else flat(part))]
