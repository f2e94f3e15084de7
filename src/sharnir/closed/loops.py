"""Functions of solution.py and partition.py as machine code: Numba compiles their text, the cache keeps the result."""

from __future__ import annotations

import sys
from functools import cache
from importlib.metadata import version
from typing import Any

from ..backends.cache import Cache
from ..backends.llvm.jit import Compiled, compile_kept
from ..backends.numba_module import kernels_text, native_assembly
from ..integrate.stepping.problem import invoke
from ..model.storage import words
from . import partition, solution
from .partition import Partition
from .solution import Closed, Correction, Keeping

ENTRIES: dict[Any, tuple[Any, ...]] = {
    solution.solve: (Closed,),
    solution.correct: (Correction, Closed),
    solution.solve_damped: (Keeping, Closed),
    solution.solve_drifting: (Keeping, Closed),
    partition.recover: (Partition,),
    partition.reconsider: (Partition,),
}
"""Functions, and the groups of arrays they take."""


def native(entry: Any, store: Cache) -> Compiled:
    """void f(int64 *list), the list being a status and the arrays of the groups of `entry`."""
    key = (entry.__name__, str(store.folder))
    if key not in _loaded:
        calls, named, at = [], {}, 8
        for k, group in enumerate(ENTRIES[entry]):
            calls.append(f"group{k}_at(address + {at})")
            named[f"group{k}_at"] = group
            at += 8 * words(group)
        main = f"def main(address):\n    return {entry.__name__}({', '.join(calls)})\n"
        depends_on = (_text(), main, version("numba"), sys.version)
        _loaded[key] = compile_kept(depends_on, lambda: native_assembly(_space(), main, named), store)
    return _loaded[key]


_loaded: dict[tuple[str, str], Compiled] = {}


@cache
def _text() -> str:
    return "\n".join(
        [
            "from numba import njit",
            "from sharnir.backends.intrinsics import invoke",
            "kernel = njit(no_cpython_wrapper=True, no_cfunc_wrapper=True, error_model='numpy', _nrt=False)",
            kernels_text(list(ENTRIES), without=[invoke]),
        ]
    )


@cache
def _space() -> dict[str, Any]:
    """The functions, not compiled yet: what they share is compiled once in a process."""
    space: dict[str, Any] = {"__name__": "sharnir_closed"}
    exec(compile(_text(), "<sharnir closed>", "exec"), space)
    return space
