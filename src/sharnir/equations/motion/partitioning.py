"""Coordinate partitioning of one run: the arrays of partition.py, and the functions that it calls.

Compiled, `recover` and `reconsider` are native functions on the state in X at the time in T. Interpreted, the same text runs
with Python functions behind its calls.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ...backends.graph_function import GraphFunction
from ...backends.run import state_inputs
from ...dialect.native import Native, bind_kernel, calls, from_python
from ...dialect.storage import allocate
from ...trace import Graph
from ..kernels.partition import Partition, reconsider, recover
from .constrained import ConstrainedEquations
from .retraction import native_retract, retract


class Partitioning:
    """X (nx,): coordinates, speeds, and whatever follows."""

    def __init__(self, equations: ConstrainedEquations, X: np.ndarray, T: np.ndarray, parameters: np.ndarray) -> None:
        self.equations, self.structure, self.T, self.parameters = equations, equations.structure, T, parameters
        nq, nv = equations.structure.nq, equations.structure.nv
        self.p: Any = allocate(Partition, {**equations.sizes, "nx": len(X), "nc": 0})._replace(X=X, v=X[nq : nq + nv])
        self.renew()

    def renew(self) -> None:
        """The state before the first run: no partition is chosen."""
        self.p.kind[:] = self.p.tally[:] = 0.0

    @property
    def count(self) -> int:
        """Number of partitions chosen so far."""
        return int(self.p.tally[0])

    @property
    def dependent(self) -> np.ndarray:
        """(nv,): which speeds depend on the others."""
        return self.p.kind > 0.0

    def start(self, t: float, x: np.ndarray) -> np.ndarray:
        """x on the constraints with a good partition: at the start, and after an event has changed the state."""
        return self._run(t, x, recover, reconsider, recover)

    def recovered(self, t: float, x: np.ndarray, reconsidered: bool = False) -> np.ndarray:
        """x with its dependent part from the independent one, interpreted."""
        return self._run(t, x, recover, *([reconsider] if reconsidered else []))

    def _run(self, t: float, x: np.ndarray, *steps: Callable[[Any], int]) -> np.ndarray:
        self.p.X[:], self.T[0] = x, t
        for step in steps:
            step(self.p)
        return self.p.X.copy()

    def _use(self, natives: list[Native]) -> None:
        self._natives = natives
        self.p = self.p._replace(calls=calls(natives))

    # --- compiled -----------------------------------------------------------------------------------------------------------
    def compile(self, at: Mapping[str, np.ndarray]) -> tuple[Native, Native]:
        """`recover` and `reconsider` on the state whose parts are the arrays `at`."""
        e = self.equations
        inputs = state_inputs(self.structure, Graph())
        rows = e.table.trace(inputs)
        outputs = {"g": rows.g, "rate": rows.rate, "J": tuple(x for row in rows.J for x in row)}
        evaluate = GraphFunction.of(inputs, outputs, e.store)
        own = {name: getattr(self.p, name) for name in outputs}
        self._use([evaluate.bind({**at, **own}), native_retract(e.model, at, self.p.delta, e.store)])
        found = [bind_kernel(entry, self.p, store=e.store) for entry in (recover, reconsider)]
        for native in found:
            native.keep_alive(self._natives)
        return found[0], found[1]

    # --- interpreted --------------------------------------------------------------------------------------------------------
    def interpret(self) -> None:
        """Prepare `start` and `recovered` for a run without compiled code."""
        p, e, nq = self.p, self.equations, self.structure.nq

        def evaluate() -> None:
            found = e.table.evaluate(p.X[:nq], p.v, float(self.T[0]), self.parameters.tolist())
            p.g[:], p.rate[:], p.J[:] = found["g"], found["rate"], found["J"]

        def move() -> None:
            p.X[:nq] = retract(e.model, p.X[:nq], p.delta, float(self.T[0]))

        self._use([from_python(function) for function in (evaluate, move)])
