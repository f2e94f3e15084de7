"""Coordinate partitioning in a run: the arrays of `equations/partition.py` and the functions that look at the state for it."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..backends.llvm.runner import GraphRunner
from ..backends.run import run_program
from ..backends.traced import TracedProgram
from ..dialect.native import Native, calls, from_python
from ..dialect.storage import allocate
from ..equations.constrained import ConstrainedEquations
from ..equations.normalization import normalize
from ..equations.partition import Partition, reconsider, recover
from ..programs import PROGRAMS
from ..trace import Graph


class Dependents:
    """Of one run. `recover` and `reconsider` are calls on the state in `X` at the time in `T`."""

    def __init__(self, equations: ConstrainedEquations, X: np.ndarray, T: np.ndarray, parameters: np.ndarray) -> None:
        self.equations, self.T, self.parameters = equations, T, parameters
        self.p: Any = allocate(Partition, {**equations.sizes, "nx": len(X), "nc": 0})._replace(X=X)
        self.p.kind[:] = self.p.tally[:] = 0.0

    def use(self, natives: list[Native]) -> None:
        """Functions that give g, rate and J; dq from delta; and put quaternions right, where there are any."""
        self._natives = natives
        self.p = self.p._replace(calls=calls(natives))

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
    def rows(self, arrays: dict[str, np.ndarray]) -> Native:
        """g, rate and J as straight-line code."""
        graph = Graph()
        inputs = {name: x for name, x in self.equations.inputs(graph).items() if name != "tau"}
        rows = self.equations.table.trace(inputs)
        outputs = {"g": rows.g, "rate": rows.rate, "J": tuple(x for row in rows.J for x in row)}
        runner = GraphRunner(TracedProgram(graph, inputs, outputs), store=self.equations.store)
        return runner.bind(arrays | {name: getattr(self.p, name) for name in outputs})

    def compiled(self) -> tuple[Native, Native]:
        """`recover` and `reconsider` as native functions."""
        found = [self.equations.loop(entry).bind(self.p) for entry in (recover, reconsider)]
        for native in found:
            native.keep(self._natives)
        return found[0], found[1]

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
            p.X[:nq] = normalize(model, p.X[:nq].tolist(), float(self.T[0]))

        self.use([from_python(function) for function in (rows, along, right)])

    def recovered(self, t: float, x: np.ndarray, reconsidered: bool = False) -> np.ndarray:
        """The state with its dependent part found anew, interpreted."""
        self.p.X[:], self.T[0] = x, t
        recover(self.p)
        if reconsidered:
            reconsider(self.p)
        return self.p.X.copy()
