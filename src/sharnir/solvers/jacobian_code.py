"""A traced program with its Jacobians, compiled or interpreted, for one state or a batch.

All columns are one graph where it is small enough; else one graph gives a column, and columns are run as a batch.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from ..backends import sizes
from ..backends.differentiated import differentiated, differentiated_along
from ..backends.graph_function import GraphFunction
from ..backends.run import TracedProgram, evaluate, state_inputs, traced_program
from ..backends.runner import Runner
from ..errors import MethodError
from ..trace import Graph
from .constrained_code import ConstrainedCode
from .derivatives import Derivatives, field_of
from .evaluator import Evaluator, unbatch

Rows = Mapping[str, np.ndarray]


class JacobianCode:
    """The program that `trace` records, with its Jacobians. `outputs` are those to be differentiated, `shapes` gives the shapes
    of the others where they are not just rows, `what` says in messages what they are."""

    def __init__(
        self,
        evaluator: Evaluator,
        what: str,
        trace: Callable[[Graph], TracedProgram],
        outputs: Sequence[str],
        shapes: Mapping[str, tuple[int, ...]] | None = None,
    ) -> None:
        self.evaluator, self.structure, self.what = evaluator, evaluator.structure, what
        self.outputs, self._trace, self._shapes = tuple(outputs), trace, dict(shapes or {})
        self._columns: dict[tuple[str, ...], Runner | None] = {}
        self._along: dict[tuple[str, ...], Runner] = {}
        self._sizes: dict[str, int] = {}

    def run(self, rows: Rows, n: int, wrt: Sequence[str]) -> dict[str, np.ndarray]:
        """All outputs (n, …), and "output/input" (n, size, columns) for every input of `wrt`, given rows of n states."""
        wrt = tuple(wrt)
        if wrt not in self._columns:
            self._columns[wrt] = self._compile(wrt)
        runner = self._columns[wrt]
        if runner is not None:
            return self.evaluator.run(runner, rows, n)
        found = self.run(rows, n, ())
        for name in wrt:
            columns = np.broadcast_to(np.eye(size := self._size(name)), (n, size, size))
            changes = self.along(rows, n, {name: columns})
            found |= {f"{output}/{name}": x.swapaxes(1, 2) for output, x in changes.items()}
        return found

    def along(self, rows: Rows, n: int, steps: Rows) -> dict[str, np.ndarray]:
        """The changes (n, columns, size) of the outputs along `steps` (n, columns, size) of some inputs, all at once."""
        wrt, columns = tuple(steps), next(iter(steps.values())).shape[1]
        if wrt not in self._along:
            traced = self._traced()
            traced.graph.limit = None
            self._along[wrt] = self._runner(differentiated_along(self.structure, traced, wrt, self.outputs))
        runner = self._along[wrt]
        many = {name: x if len(x) == 1 else np.repeat(x, columns, axis=0) for name, x in rows.items()}
        for name, x in steps.items():
            many[f"d {name}"] = np.ascontiguousarray(x, dtype=float).reshape(n * columns, x.shape[2])
        found = self.evaluator.run(runner, many, n * columns)
        return {name: found[f"d {name}"].reshape(n, columns, found[f"d {name}"].shape[1]) for name in self.outputs}

    # --- inside -------------------------------------------------------------------------------------------------------------
    def _compile(self, wrt: tuple[str, ...]) -> Runner | None:
        """None where the graph of all columns is too large."""
        traced = self._traced()
        if wrt:
            traced.graph.limit = max(sizes.COLUMNS, len(traced.graph.nodes) + 1)
        whole = sizes.fits(lambda: differentiated(self.structure, traced, wrt, self.outputs))
        if whole is None:
            return None
        shapes = {f"{output}/{name}": (len(traced.outputs[output]), self._size(name)) for output in self.outputs for name in wrt}
        return self._runner(whole, shapes)

    def _traced(self) -> TracedProgram:
        traced = sizes.fits(lambda: self._trace(Graph(sizes.EQUATIONS))) if sizes.is_traceable(self.structure) else None
        if traced is None:
            raise MethodError(
                f"{self.what}: model {self.evaluator.model.name!r} is too large for its equations to be one "
                "graph, from which derivatives are made; take differences along model.integrate(q, dv) instead"
            )
        self._sizes = {name: len(x) for name, x in traced.inputs.items()}
        return traced

    def _runner(self, traced: TracedProgram, shapes: Mapping[str, tuple[int, ...]] | None = None) -> Runner:
        known = {**self._shapes, **(shapes or {})}
        listed = {name: known.get(name, (len(x),)) for name, x in traced.outputs.items()}
        function = GraphFunction(traced, self.evaluator.formulation.programs.store, listed)
        return function.interpreted if self.evaluator.formulation.requested == "python" else function

    def _size(self, name: str) -> int:
        """The number of columns of a derivative with respect to an input."""
        return self.structure.nv if name == "q" else self._sizes[name]


# --- derivatives of reactions: statics of a given motion, differentiated along the changes of that motion
def statics_code(evaluator: Evaluator, constrained: ConstrainedCode | None = None) -> JacobianCode:
    """q, v, qdd, [lam,] t → R, the base's row first. A column of its derivative is its change along one direction of all of them:
    (N e_j, 0, ∂a/∂q_j, ∂λ/∂q_j) for q. See docs/theory/derivatives_closed.md (DC10)."""
    s = evaluator.structure

    def trace(graph: Graph) -> TracedProgram:
        more = {} if constrained is None else {"lam": len(constrained.equations.table)}
        values = state_inputs(s, graph, qdd=s.nv, **more)
        wrench = [0.0] * (6 * (s.nb + 1)) if constrained is None else constrained.wrenches(values).ravel().tolist()
        return traced_program(values, {"R": evaluate(s, "kinetostatics", {**values, "wrench": wrench}).R.ravel()})

    return JacobianCode(evaluator, "derivatives of reactions", trace, ("R",))


def reaction_derivatives(
    code: JacobianCode, R: np.ndarray, rows: Rows, n: int, single: bool, changes: Mapping[str, Rows]
) -> Derivatives:
    """R and its derivatives (…, N, 6, columns). `changes`, by name of `wrt`: those (n, columns, size) of qdd and, with
    constraints, of lam."""
    nv, found = code.structure.nv, {}
    for name, moved in changes.items():
        columns = next(iter(moved.values())).shape[1]
        steps = {key: np.zeros((n, columns, nv)) for key in ("q", "v")} | dict(moved)
        if name in steps or name == "parameter":
            steps[name] = np.broadcast_to(np.eye(columns), (n, columns, columns))
        dR = code.along(rows, n, steps)["R"].reshape(n, columns, code.structure.nb + 1, 6)[:, :, 1:]
        found[field_of(name)] = unbatch(np.ascontiguousarray(np.moveaxis(dR, 1, -1)), single, None)
    return Derivatives(R, **found)
