"""Coordinate partitioning in a run: the arrays of `closed/partition.py` and the functions that look at the state for it."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

import numpy as np

from ..backends.llvm.emit import emit
from ..backends.llvm.jit import compile_text
from ..backends.numba_module import addresses
from ..backends.run import run_program
from ..backends.traced import TracedProgram
from ..closed.equations import ClosedEquations
from ..closed.loops import native
from ..closed.partition import Partition, reconsider, recover
from ..closed.put_right import put_right
from ..integrate.system import CALLBACK, Call
from ..model.storage import allocate
from ..programs import PROGRAMS
from ..trace import Graph


class Dependents:
    """Of one run. `recover` and `reconsider` are calls on the state in `X` at the time in `T`."""

    def __init__(self, equations: ClosedEquations, X: np.ndarray, T: np.ndarray, parameters: np.ndarray) -> None:
        self.equations, self.T, self.parameters = equations, T, parameters
        self._keep: list[Any] = []
        self.p: Any = allocate(Partition, {**equations.sizes, "nx": len(X), "nc": 0})._replace(X=X)
        self.p.kind[:] = self.p.tally[:] = 0.0

    def use(self, calls: list[Call]) -> None:
        """Functions that give g, rate and J; dq from delta; and put quaternions right, where there are any."""
        numbers = np.array([(address, arguments.ctypes.data) for address, arguments in calls], dtype=np.int64)
        self.p = self.p._replace(calls=numbers)
        self._keep.append(calls)

    def begin(self, t: float, x: np.ndarray) -> np.ndarray:
        """At the start, or after a state was changed from without: a good partition, and x on the constraints."""
        self.p.X[:], self.T[0] = x, t
        for work in (recover, reconsider, recover):  # interpreted: seldom enough
            work(self.p)
        return self.p.X.copy()

    @property
    def partitions(self) -> int:
        """How many were chosen so far."""
        return int(self.p.tally[0])

    # --- compiled -------------------------------------------------------------------------------------------------------
    def rows_call(self, at: dict[str, int]) -> Call:
        """g, rate and J as straight-line code."""
        graph = Graph()
        inputs = {name: x for name, x in self.equations.inputs(graph).items() if name != "tau"}
        rows = self.equations.table.trace(inputs)
        outputs = {"g": rows.g, "rate": rows.rate, "J": tuple(x for row in rows.J for x in row)}
        traced = TracedProgram(graph, inputs, outputs)
        compiled, check = compile_text(emit(traced, 1), self.equations.store), np.zeros(1)
        numbers = [1, *(k for name in traced.inputs for k in (at[name], 0))]
        numbers += [*(getattr(self.p, name).ctypes.data for name in outputs), check.ctypes.data]
        arguments = np.array(numbers, dtype=np.int64)
        self._keep += [compiled, check, arguments]
        return compiled.address, arguments

    def compiled(self) -> tuple[Call, Call]:
        """`recover` and `reconsider` as native functions."""
        arguments = np.array([0, *addresses(self.p)], dtype=np.int64)
        codes = [native(entry, self.equations.store) for entry in (recover, reconsider)]
        self._keep += [codes, arguments]
        return (codes[0].address, arguments), (codes[1].address, arguments)

    # --- interpreted ----------------------------------------------------------------------------------------------------
    def use_python(self) -> None:
        p, equations, nq = self.p, self.equations, self.equations.sizes["nq"]
        s, model = equations.structure, equations.model

        def rows() -> None:
            found = equations.table.evaluate(p.X[:nq], p.X[nq : nq + len(p.kind)], float(self.T[0]), self.parameters.tolist())
            p.g[:], p.rate[:], p.J[:] = found["g"], found["rate"], found["J"]

        def along() -> None:
            state = {"q": p.X[:nq].tolist(), "t": [float(self.T[0])]}
            moving, still = (run_program(PROGRAMS["rates"], s, state | {"v": v}).rate for v in (p.delta.tolist(), [0.0] * s.nv))
            p.dq[:] = moving - still

        def right() -> None:
            p.X[:nq] = put_right(model, p.X[:nq].tolist(), float(self.T[0]))

        self.use([self._callback(function) for function in (rows, along, right)])

    def _callback(self, function: Callable[[], None]) -> Call:
        made = CALLBACK(lambda _: function())
        self._keep.append(made)
        return ctypes.cast(made, ctypes.c_void_p).value or 0, np.zeros(1, dtype=np.int64)

    def recovered(self, t: float, x: np.ndarray, reconsidered: bool = False) -> np.ndarray:
        """The state with its dependent part found anew, interpreted."""
        self.p.X[:], self.T[0] = x, t
        recover(self.p)
        if reconsidered:
            reconsider(self.p)
        return self.p.X.copy()
