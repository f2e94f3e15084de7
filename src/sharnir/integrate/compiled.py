"""The integrators as machine code: Numba compiles the text of `stepping/`, the cache keeps the result.

What is kept is object code under a digest of every file of `stepping/`, so that a warm cache is loaded in milliseconds
without Numba. The function takes one list of integers: address and shape of every array of its groups.
"""

from __future__ import annotations

import ctypes
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from ..backends.cache import Cache
from ..backends.llvm.jit import Compiled, compile_kept, optimized
from ..backends.numba_module import flat, kernels_text
from ..kernels import ops
from .stepping.advance import Output
from .stepping.events import Events
from .stepping.problem import Problem
from .stepping.problem import invoke as invoke_interpreted
from .stepping.state import Run

_LIBRARY = {"floor", "fmod", "pow", "exp", "log", "sqrt", "hypot", "memset", "memcpy", "memmove"}
"""What the code may need from outside."""

_PROTOTYPE = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64)
"""How Numba's own functions are called: place of the result, place of an exception (there is none), the argument."""


class Driver:
    """An integrator bound to its arrays: call it to go on until the next pause, event or end; returns the status."""

    def __init__(self, entry: Any, groups: tuple[Any, ...], store: Cache | None = None) -> None:
        self._arrays = flat(groups)
        self._compiled = load(entry, type(groups[-1]), store or Cache())
        numbers = [k for x in self._arrays for k in (x.ctypes.data, *x.shape)]
        self._arguments = np.array(numbers, dtype=np.int64)
        self._result = np.zeros(2, dtype=np.int64)
        self._function = _PROTOTYPE(self._compiled.address)

    def __call__(self) -> int:
        at = self._result.ctypes.data
        self._function(at, at + 8, self._arguments.ctypes.data)
        return int(self._result[0])


def interpreted(entry: Any, groups: tuple[Any, ...]) -> Callable[[], int]:
    """The same, in plain Python: to read, to debug."""

    def drive() -> int:
        with np.errstate(all="ignore"):  # nan and inf are values, not warnings
            return int(entry(*groups))

    return drive


_loaded: dict[tuple[str, str], Compiled] = {}


def load(entry: Any, memory: Any, store: Cache) -> Compiled:
    """The machine code of an integrator: from memory, from the cache folder, or made now."""
    key = (entry.__name__, str(store.folder))
    if key not in _loaded:
        depends_on = (sources(), entry.__name__, _numba(), sys.version)
        _loaded[key] = compile_kept(depends_on, lambda: assembly(entry, memory), store)
    return _loaded[key]


@cache
def sources() -> str:
    """All the text an integrator can depend on."""
    here = Path(__file__)
    files = [here, here.with_name("intrinsics.py"), Path(ops.__file__), *sorted((here.parent / "stepping").glob("*.py"))]
    return "\n".join(path.read_text(encoding="utf-8") for path in files)


def _numba() -> str:
    """Which Numba there is, without importing it."""
    spec = find_spec("numba")
    assert spec is not None
    return (Path(spec.origin or "").parent / "_version.py").read_text(encoding="utf-8")


def module_text(entries: list[Any]) -> str:
    """One self-contained module: the functions of integrators as they stand."""
    return "\n".join(
        [
            '"""Integrators of sharnir, as they stand, for Numba. Generated; do not edit."""',
            "from numba import njit",
            "from sharnir.integrate.intrinsics import group_at, invoke",
            "",
            # no fast arithmetic: compiled and interpreted give the same bits, and compensated sums stay what they are
            "kernel = njit(no_cpython_wrapper=True, no_cfunc_wrapper=True, error_model='numpy', _nrt=False)",
            kernels_text(entries, without=[invoke_interpreted]),
        ]
    )


@cache
def _space() -> dict[str, Any]:
    """The functions of all integrators, not compiled yet: what two of them share is compiled once in a process."""
    from .methods import INTEGRATORS

    space: dict[str, Any] = {"__name__": "sharnir_integrators"}
    text = module_text([method.entry for method in INTEGRATORS.values() if method.entry])
    exec(compile(text, "<sharnir integrators>", "exec"), space)
    return space


def assembly(entry: Any, memory: Any) -> str:
    """LLVM assembly of an integrator as a function f of one address."""
    from numba import types

    from .intrinsics import group_at, words

    space, calls, at = dict(_space()), [], 0
    for k, group in enumerate((Problem, Run, Events, Output, memory)):
        space[f"group{k}"] = group_at(group)
        calls.append(f"group{k}(address + {8 * at})")
        at += words(group)
    exec(f"@kernel\ndef main(address):\n    return {entry.__name__}({', '.join(calls)})", space)
    with _assembly_only():
        space["main"].compile((types.int64,))
        (result,) = space["main"].overloads.values()
        result.library.finalize()
        text = result.library.get_llvm_str()
    name = re.escape(result.fndesc.llvm_func_name)
    text = optimized(re.sub(rf'@"?{name}"?(?=\()', "@f", text))
    foreign = set(re.findall(r"^declare .*?@\"?([\w.]+)", text, re.MULTILINE)) - _LIBRARY
    foreign = {name for name in foreign if not name.startswith("llvm.")}
    if foreign:
        raise AssertionError(f"{entry.__name__!r} leaves the dialect: it calls {', '.join(sorted(foreign))}")
    return text


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
