"""Questions about a mechanism with constraints as straight-line machine code, for one state or a batch.

The equations of a small model are one graph (`ConstrainedEquations.whole`); constraint rows alone, and the wrenches of
multipliers on the bodies, are graphs of their own. A graph is traced and compiled when first needed.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from ..backends import sizes
from ..backends.graph_function import GraphFunction
from ..backends.run import Values, relink, with_bodies
from ..backends.traced import state_inputs, traced_program
from ..equations.motion.constrained import ConstrainedEquations
from ..kernels.least import row_angles, unmet, without_rows
from ..trace import Graph, Number, Symbol

Groups = dict[str, tuple[Number, ...]]


class ConstrainedCode:
    """Straight-line code for the questions of `ConstrainedSolver`. `solves` and `compiles_rows` say which it answers."""

    def __init__(self, equations: ConstrainedEquations) -> None:
        self.equations, self.structure = equations, equations.structure
        self._solutions: dict[tuple[tuple[str, ...], bool], GraphFunction] = {}

    @cached_property
    def solves(self) -> bool:
        """Whether accelerations and multipliers are straight-line code."""
        equations = self.equations
        return equations.form is None and not equations.iterates and self.equations.backend == "llvm" and self.equations.is_small

    @cached_property
    def compiles_rows(self) -> bool:
        """Whether rows and their forces are straight-line code."""
        if self.equations.backend != "llvm" or not sizes.is_traceable(self.structure):
            return False
        symbols = next(iter(x for group in self.equations.table.traced_inputs.values() for x in group))
        return len(symbols.graph.nodes) < sizes.EQUATIONS

    # --- accelerations ------------------------------------------------------------------------------------------------------
    def solution(self, *outputs: str, wrenches: bool = False) -> GraphFunction:
        """q, v, tau, t → of qdd, lam, and "independent", how far the rows are from depending on one another, those named."""
        if (outputs, wrenches) not in self._solutions:
            inputs, c = self.equations.whole(wrenches)
            found: Groups = {"qdd": tuple(c.qdd), "lam": tuple(c.lam)}
            if "independent" in outputs:
                J = _objects(self.equations.table.trace(inputs).J).reshape(c.J.shape) if self.equations.sparse else c.J
                found["independent"] = tuple(self._angles(J)[2])
            self._solutions[outputs, wrenches] = self._made(inputs, {key: found[key] for key in outputs})
        return self._solutions[outputs, wrenches]

    # --- rows ---------------------------------------------------------------------------------------------------------------
    @cached_property
    def rows(self) -> GraphFunction:
        """q, v, t → J, gamma."""
        values = state_inputs(self.structure, Graph())
        rows = self.equations.table.trace(values).groups
        return self._made(values, {name: rows[name] for name in ("J", "gamma")})

    @cached_property
    def least(self) -> GraphFunction:
        """q, v, qdd, tau, t → tau without the part the constraints carry (`least`), J qdd + gamma and its size, independence."""
        values = state_inputs(self.structure, Graph(), qdd=self.structure.nv, tau=self.structure.nv)
        rows = self.equations.table.trace(values)
        J, gamma, qdd, tau = (_objects(x) for x in (rows.J, rows.gamma, values["qdd"], values["tau"]))
        J = J.reshape(len(gamma), len(tau))
        unit, L, independent = self._angles(J)
        left, size, work = (_objects(gamma) for _ in range(3))
        relink(without_rows)(J, unit, L, work, tau)
        relink(unmet)(J, gamma, qdd, left, size)
        found = {"least": tau, "left": left, "size": size, "independent": independent}
        return self._made(values, {name: tuple(x) for name, x in found.items()})

    @cached_property
    def loads(self) -> GraphFunction:
        """q, v, lam, t → wrenches of the multipliers on every body, the base's row first."""
        values = state_inputs(self.structure, Graph(), lam=len(self.equations.table))
        return self._made(values, {"loads": tuple(self.wrenches(values).ravel())})

    def wrenches(self, values: Values) -> np.ndarray:
        """(bodies and base, 6) on symbols: q, v, lam, parameter and t."""
        loads = np.full((self.structure.nb + 1, 6), 0.0, dtype=object)
        for bodies in self.equations.table.wrenches(with_bodies(self.structure, values), values["lam"]).values():
            for body, wrench in bodies.items():
                loads[self.structure.body_number[body] + 1] += _objects(wrench)
        return loads

    # --- inside -------------------------------------------------------------------------------------------------------------
    def _angles(self, J: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        m = len(J)
        unit, L, z, independent = (np.full(shape, np.nan, dtype=object) for shape in (m, (m, m), m, 1))
        relink(row_angles)(J, unit, L, z, independent)
        return unit, L, independent

    def _made(self, values: dict[str, tuple[Symbol, ...]], outputs: Groups) -> GraphFunction:
        s, m = self.structure, len(self.equations.table)
        shapes = {"J": (m, s.nv), "loads": (s.nb + 1, 6)}
        last = {name: values[name] for name in ("parameter", "t")}
        traced = traced_program({name: x for name, x in values.items() if name not in last} | last, outputs)
        return GraphFunction(traced, self.equations.store, {name: shapes.get(name, (len(x),)) for name, x in outputs.items()})


def _objects(numbers: Any) -> np.ndarray:
    """Symbols as a flat array a kernel can write to."""
    flat = [x for row in numbers for x in (row if isinstance(row, (tuple, list)) else (row,))]
    out: np.ndarray = np.empty(len(flat), dtype=object)
    out[:] = flat
    return out
