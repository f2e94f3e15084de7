"""The integrators as machine code: Numba compiles the text of `stepping/`, the cache keeps the result.

What is kept is object code under a digest of every file of `stepping/`, so that a warm cache is loaded in milliseconds
without Numba. The function takes one list of integers: its status, then address and shape of every array of its groups.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from ..backends.cache import Cache
from ..backends.llvm.jit import Compiled, compile_kept
from ..backends.numba_module import addresses, flat, kernels_text, native_assembly, translators
from ..kernels import ops
from ..model.storage import words
from .stepping.problem import invoke as invoke_interpreted


class Driver:
    """An integrator bound to its arrays: call it to go on until the next pause, event or end; returns the status."""

    def __init__(self, entry: Any, groups: tuple[Any, ...], store: Cache | None = None) -> None:
        self._arrays = flat(groups)
        self._compiled = load(entry, tuple(type(group) for group in groups), store or Cache())
        self._arguments = np.array([0, *addresses(self._arrays)], dtype=np.int64)
        self._address = self._arguments.ctypes.data

    def __call__(self) -> int:
        self._compiled.call(self._address)
        return int(self._arguments[0])


def interpreted(entry: Any, groups: tuple[Any, ...]) -> Callable[[], int]:
    """The same, in plain Python: to read, to debug."""

    def drive() -> int:
        with np.errstate(all="ignore"):  # nan and inf are values, not warnings
            return int(entry(*groups))

    return drive


_loaded: dict[tuple[str, str], Compiled] = {}


def load(entry: Any, groups: tuple[Any, ...], store: Cache) -> Compiled:
    """The machine code of an integrator: from memory, from the cache folder, or made now."""
    key = (entry.__name__, str(store.folder))
    if key not in _loaded:
        depends_on = (sources(), entry.__name__, _numba(), sys.version)
        _loaded[key] = compile_kept(depends_on, lambda: assembly(entry, groups), store)
    return _loaded[key]


@cache
def sources() -> str:
    """All the text an integrator can depend on."""
    here = Path(__file__)
    files = [
        here,
        Path(ops.__file__),
        *sorted((here.parent / "stepping").glob("*.py")),
    ]
    return "\n".join([translators(), *(path.read_text(encoding="utf-8") for path in files)])


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
            "from sharnir.backends.intrinsics import invoke",
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
    from .stepping.rollout import rollout_euler, rollout_rk4

    space: dict[str, Any] = {"__name__": "sharnir_integrators"}
    entries = [method.entry for method in INTEGRATORS.values() if method.entry]
    text = module_text([*entries, rollout_rk4, rollout_euler])
    exec(compile(text, "<sharnir integrators>", "exec"), space)
    return space


def assembly(entry: Any, groups: tuple[Any, ...]) -> str:
    """LLVM assembly of an integrator as a function of the list of its arrays; the first word becomes the status."""
    names, calls, at = {}, [], 8
    for k, group in enumerate(groups):
        names[f"group{k}"] = group
        calls.append(f"group{k}(address + {at})")
        at += 8 * words(group)
    main = f"def main(address):\n    return {entry.__name__}({', '.join(calls)})\n"
    return native_assembly(_space(), main, names)
