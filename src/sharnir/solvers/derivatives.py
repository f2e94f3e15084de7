"""Derivatives of forward and inverse dynamics of trees, of any traced program and of reactions; `Derivatives`, the result."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from ..backends import sizes
from ..backends.differentiated import derivative_runner, differentiated, differentiated_along
from ..backends.fast_path import FastPath, fast_path
from ..backends.graph_function import GraphFunction
from ..backends.loops import LoopRunner
from ..backends.run import evaluate
from ..backends.runner import Runner
from ..backends.traced import TracedProgram, state_inputs, traced_program
from ..errors import MethodError, brief, unknown
from ..trace import Graph
from .constrained_code import ConstrainedCode
from .evaluator import At, Evaluator, unbatch


@dataclass(frozen=True)
class Derivatives:
    """A result and its derivatives, (…, rows, columns); None where they were not asked for.

    Columns of `dq` are directions in the tangent: column j is the derivative along integrate(q, s·e_j), the motion that speed
    j alone causes, so that there are nv of them where q has quaternions too.
    """

    value: np.ndarray
    dq: np.ndarray | None = None
    dv: np.ndarray | None = None
    dtau: np.ndarray | None = None
    da: np.ndarray | None = None
    dparameters: np.ndarray | None = None


Wrt = str | Sequence[str]
"""Names of the arguments by which answers are differentiated."""
PARAMETERS = "parameters"


def field_of(name: str) -> str:
    """The field of `Derivatives` for an input of programs."""
    return "dparameters" if name == "parameter" else f"d{name}"


def check_wrt(wrt: Wrt, names: Sequence[str], evaluator: Evaluator) -> tuple[str, ...]:
    """The argument `wrt`, checked, as a tuple of inputs of programs."""
    names = (*names, PARAMETERS)
    asked = (wrt,) if isinstance(wrt, str) else tuple(wrt) if isinstance(wrt, Iterable) else (wrt,)
    for name in asked:
        if not isinstance(name, str) or name not in names:
            raise MethodError(unknown(f"wrt {brief(name)}", name, names, "names"))
    if PARAMETERS in asked and not evaluator.structure.parameters:
        raise MethodError(
            f"wrt 'parameters': model {evaluator.model.name!r} has none; Model.add_parameter adds one, Model.make_parameter "
            "turns a number of the model into one"
        )
    return tuple("parameter" if name == PARAMETERS else name for name in names if name in asked)


QUESTIONS: dict[str, tuple[str, Literal["tau", "qdd"], tuple[str, ...]]] = {
    "forward": ("qdd", "tau", ("q", "v", "tau")),
    "inverse": ("tau", "qdd", ("q", "v", "a")),
}
"""The value, the argument beside q and v, and the names of `wrt`."""


class _Way(NamedTuple):
    """How one question with one choice of derivatives is answered."""

    runner: Runner
    fast: FastPath
    outputs: tuple[str, ...]

    def result(self, found: Iterable[np.ndarray]) -> Derivatives:
        out = object.__new__(Derivatives)  # fields that are not set keep their default; a frozen dataclass is slow to fill
        out.__dict__.update(zip(self.outputs, found, strict=True))
        return out


class TreeDerivatives:
    """Answers one question: arguments checked, value and derivatives computed, results checked."""

    def __init__(self, evaluator: Evaluator, question: str) -> None:
        self.evaluator, self.question = evaluator, question
        self.value, self.last, self.names = QUESTIONS[question]
        self._ways: dict[tuple[str, ...], _Way] = {}

    def __call__(self, at: At, wrt: Wrt) -> Derivatives:
        way = self._ways.get(wrt) if wrt.__class__ is tuple else None
        if way is None:
            way = self._way(check_wrt(wrt, self.names, self.evaluator))
        more = self.evaluator.fast_parameters(at["parameter"])
        done = way.fast(None, at["q"], at["v"], at[self.last], *more, at["t"])
        if done is None:
            return way.result(self._general(way.runner, at))
        return way.result(done if len(way.outputs) > 1 else (done,))

    def _way(self, wrt: tuple[str, ...]) -> _Way:
        if wrt not in self._ways:
            outputs = (self.value, *map(field_of, wrt))
            runner = derivative_runner(self.evaluator.formulation.programs, self.question, outputs)
            native = isinstance(runner, (GraphFunction, LoopRunner))
            fast = fast_path(runner if native else None, self.evaluator.threads)
            self._ways[wrt] = _Way(runner, fast, ("value", *outputs[1:]))
        return self._ways[wrt]

    def _general(self, runner: Runner, at: At) -> list[np.ndarray]:
        rows, n, single = self.evaluator.arguments.rows(at, runner.inputs)
        found = list(self.evaluator.run(runner, rows, n).values())
        if single and not all(np.isfinite(x).all() for x in (*rows.values(), *found)):
            self.evaluator.diagnose(at)
        return [y[0] for y in found] if single else found


# --- a traced program with its Jacobians: all columns in one graph where it is small enough, else columns as a batch
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
