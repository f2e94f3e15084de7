"""The equations of a tree with constraints: M v̇ = right + Jᵀλ, J v̇ + γ = 0, in one state at a time, compiled.

What the state gives (M, right, J, γ …) is straight-line code; the solution, which must find the rank of J, is a loop
(kernels/constrained.py).
"""

from __future__ import annotations

import sys
from functools import cache
from importlib.metadata import version
from typing import Any

import numpy as np

from ..backends.cache import Cache
from ..backends.constraint_table import ConstraintTable
from ..backends.link import relink
from ..backends.llvm.emit import emit
from ..backends.llvm.jit import Compiled, compile_kept, compile_text
from ..backends.numba_module import addresses, kernels_text, native_assembly
from ..backends.run import run_program
from ..backends.traced import TracedProgram
from ..errors import MethodError
from ..integrate.stepping.problem import invoke
from ..method_table import Method
from ..model.model import Model
from ..model.storage import allocate, words
from ..programs import program_for
from ..trace import Graph
from .solution import (
    Closed,
    Correction,
    correct_with_matrix,
    correct_with_weights,
    solve_with_matrix,
    solve_with_weights,
)

MATRIX = ("composite", "direct", "recursive", "kosynka", "stepanenko")
"""Methods that make an inertia matrix; 'separate' makes W = JM⁻¹ by sweeps instead."""


class ClosedEquations:
    """Of one model by one method. `table` names the rows."""

    def __init__(self, model: Model, method: Method, backend: str = "auto", store: Cache | None = None) -> None:
        self.model, self.structure, self.method = model, model.freeze(), method
        if method.name not in (*MATRIX, "separate"):
            raise MethodError(
                f"method {method.name!r} has no place for closed loops and constraints yet; choose 'composite', 'separate', "
                "'direct', 'recursive', 'stepanenko' or 'kosynka'"
            )
        self.backend = "python" if backend == "python" else "llvm"
        self.table = ConstraintTable(self.structure, model.constraints)
        self._store = store or Cache()
        s = self.structure
        self.sizes = {"n": s.nv, "nq": s.nq, "m": len(self.table), "mh": self.table.n_holonomic}
        self.solver = solve_with_weights if method.name == "separate" else solve_with_matrix
        self.arrays: Any = self.allocate()
        self._functions: dict[bool, Any] = {}

    def allocate(self) -> Any:
        return allocate(Closed, self.sizes)

    # --- what the state gives ---------------------------------------------------------------------------------------------
    def trace(self, wrenches: bool = False) -> TracedProgram:
        """Inputs q, v, tau, (wrench,) parameter, t; outputs as named in `Closed`."""
        s = self.structure
        graph = Graph()
        sizes = {"q": s.nq, "v": s.nv, "tau": s.nv, "parameter": len(s.parameters), "t": 1}
        if wrenches:
            sizes["wrench"] = 6 * (s.nb + 1)
        inputs = {name: tuple(graph.inputs(size)) for name, size in sizes.items()}
        return TracedProgram(graph, inputs, self._outputs(dict(inputs), object))

    def _outputs(self, values: dict[str, Any], dtype: type) -> dict[str, Any]:
        s = self.structure
        values.setdefault("wrench", [0.0] * (6 * (s.nb + 1)))

        def run(name: str, more: dict[str, Any] | None = None) -> Any:
            program = program_for(s, name)
            function = None if dtype is float else relink(program.function)
            return run_program(program, s, values | (more or {}), function, dtype=dtype)

        rows = self.table.trace(values)
        out: dict[str, Any] = {}
        if self.method.name == "separate":
            out["free"] = tuple(run("forward/separate").qdd)
            still = run("speeds", {"p": [0.0] * s.nv}).v
            weights = [run("speeds", {"p": row}).v - still for row in rows.J]
            out["W"] = tuple(x for row in weights for x in row)
        else:
            out["M"] = tuple(run(f"inertia/{self.method.inertia}").M.ravel())
            out["right"] = tuple(x - h for x, h in zip(values["tau"], run("bias").h, strict=True))
        out["J"] = tuple(x for row in rows.J for x in row)
        out["gamma"], out["g"], out["rate"] = rows.gamma, rows.g, rows.rate
        out["qrate"] = tuple(run("rates").rate)
        return out

    def function(self, wrenches: bool = False) -> tuple[TracedProgram, Compiled]:
        if wrenches not in self._functions:
            traced = self.trace(wrenches)
            self._functions[wrenches] = traced, compile_text(emit(traced, 1), self._store)
        return self._functions[wrenches]

    # --- one state --------------------------------------------------------------------------------------------------------
    def evaluate(self, q: np.ndarray, v: np.ndarray, tau: np.ndarray, t: float, wrench: np.ndarray | None = None) -> Any:
        """Fill the arrays for one state; returns them. λ and v̇ are not solved for yet."""
        s, c = self.structure, self.arrays
        parameters = np.array(list(s.parameters.values()), dtype=float)
        given = {"q": q, "v": v, "tau": tau, "parameter": parameters, "t": np.array([t])}
        if wrench is not None:
            given["wrench"] = np.ascontiguousarray(wrench).ravel()
        if self.backend == "python":
            values: dict[str, Any] = {name: x.tolist() for name, x in given.items()}
            for name, numbers in self._outputs(values, float).items():
                getattr(c, name)[...] = np.array(numbers, dtype=float).reshape(getattr(c, name).shape)
            return c
        traced, compiled = self.function(wrench is not None)
        kept = {name: np.ascontiguousarray(x, dtype=float) for name, x in given.items()}
        check = np.zeros(1)
        numbers = [1, *(k for name in traced.inputs for k in (kept[name].ctypes.data, 0))]
        numbers += [*(getattr(c, name).ctypes.data for name in traced.outputs), check.ctypes.data]
        arguments = np.array(numbers, dtype=np.int64)
        compiled.call(arguments.ctypes.data)
        return c

    def solve(self, q: np.ndarray, v: np.ndarray, tau: np.ndarray, t: float, wrench: np.ndarray | None = None) -> Any:
        """The same with accelerations `qdd`, multipliers `lam` and the `rank` of J."""
        c = self.evaluate(q, v, tau, t, wrench)
        with np.errstate(all="ignore"):
            if self.backend == "python":
                self.solver(c)
            else:
                arguments = np.array([0, *addresses(c)], dtype=np.int64)
                native_solver(self.solver, self._store).call(arguments.ctypes.data)
        return c


def native_solver(entry: Any, store: Cache) -> Compiled:
    """A function of solution.py as machine code: void f(int64 *list), the list being a status and the arrays of its groups."""
    key = (entry.__name__, str(store.folder))
    if key not in _loaded:
        groups = {"correction": Correction, "closed": Closed} if entry.__name__.startswith("correct") else {"closed": Closed}
        calls, at = [], 8
        for name, group in groups.items():
            calls.append(f"{name}(address + {at})")
            at += 8 * words(group)
        main = f"def main(address):\n    return {entry.__name__}({', '.join(calls)})\n"
        depends_on = (_text(), main, version("numba"), sys.version)
        _loaded[key] = compile_kept(depends_on, lambda: native_assembly(_space(), main, groups), store)
    return _loaded[key]


_loaded: dict[tuple[str, str], Compiled] = {}


@cache
def _text() -> str:
    entries = [solve_with_matrix, solve_with_weights, correct_with_matrix, correct_with_weights]
    return "\n".join(
        [
            "from numba import njit",
            "from sharnir.backends.intrinsics import invoke",
            "kernel = njit(no_cpython_wrapper=True, no_cfunc_wrapper=True, error_model='numpy', _nrt=False)",
            kernels_text(entries, without=[invoke]),
        ]
    )


@cache
def _space() -> dict[str, Any]:
    """The functions, not compiled yet: what they share is compiled once in a process."""
    space: dict[str, Any] = {"__name__": "sharnir_closed"}
    exec(compile(_text(), "<sharnir closed>", "exec"), space)
    return space
