"""Functions of the dialect through Numba to machine code: their text as it stands, compiled to a function of one address."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from ..kernels import ops
from .link import closure
from .llvm.jit import optimized


@cache
def translators() -> str:
    """The text of all that has a hand in the translation: code made by another version of it is not this code."""
    here = Path(__file__).parent
    files = [here / "numba_module.py", here / "intrinsics.py", here / "llvm" / "jit.py"]
    return "\n".join(path.read_text(encoding="utf-8") for path in files)


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

    What `main` returns is put in place of the first argument.
    `space` holds the functions it calls, under `@kernel`; a group named in `groups` is had by `name(address)`.
    """
    from numba import types

    from .intrinsics import group_at

    space = {**space, **{name: group_at(group) for name, group in groups.items()}}
    exec(f"@kernel\n{main}", space)
    with _assembly_only():
        space["main"].compile((types.int64,))
        (result,) = space["main"].overloads.values()
        result.library.finalize()
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
  %value = load i64, ptr %result
  store i64 %value, ptr %arguments
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
def _assembly_only() -> Iterator[None]:
    """Numba optimises every function together with all it calls, and makes machine code of each, to throw most of it away.
    Here it only writes the assembly; that is five times quicker. Its own functions are none the wiser."""
    from numba.core.codegen import JITCodeLibrary
    from numba.core.compiler_lock import global_compiler_lock
    from numba.core.cpu import CPUContext

    instead: list[tuple[Any, str, Any]] = [
        (JITCodeLibrary, "_optimize_functions", lambda *_: None),
        (JITCodeLibrary, "_optimize_final_module", lambda *_: None),
        (JITCodeLibrary, "_finalize_final_module", lambda library: setattr(library, "_finalized", True)),
        (CPUContext, "get_executable", lambda *_: set().add),  # a built-in function unlike any other: never called
    ]
    with global_compiler_lock:
        kept = [getattr(owner, name) for owner, name, _ in instead]
        try:
            for owner, name, function in instead:
                setattr(owner, name, function)
            yield
        finally:
            for (owner, name, _), function in zip(instead, kept, strict=True):
                setattr(owner, name, function)


def addresses(arrays: Iterable[np.ndarray]) -> list[int]:
    """Address and shape of each: how a group is handed to compiled code."""
    return [k for x in arrays for k in (x.ctypes.data, *x.shape)]


def flat(group: Any) -> list[np.ndarray]:
    """The arrays of a group, groups within it opened up."""
    return [x for part in group for x in ([part] if isinstance(part, np.ndarray) else flat(part))]
