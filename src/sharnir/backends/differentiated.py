"""Derivatives of any traced program, and of the dynamics of trees: as expression graphs, or by kernels and loops.

Those with respect to q are in the tangent: column j is the change along the displacement N(q) e_j of the coordinates, so that
there are as many columns as speeds, quaternions or not. Every other input is differentiated entry by entry.

Dynamics are differentiated by the kernels (`programs/kernels/derivatives.py`) on symbols; or, for joints whose columns are any
function of q, by differentiating the graph of inverse dynamics. Forward dynamics is never differentiated itself. From
f(q, v, a) = τ at the accelerations a that τ causes,

    ∂a/∂x = −M⁻¹ ∂f/∂x,      ∂a/∂τ = M⁻¹                                                        (docs/theory/derivatives.md)

so that elimination and division are not differentiated.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from ..errors import MethodError, known
from ..kernels.cholesky import factor, substitute, tree_factor, tree_substitute
from ..kernels.joint_stage import FIXED, GIVEN
from ..model.structure import Structure
from ..trace import Expression, Graph, Number, Symbol, tangent
from . import sizes
from .compiled_programs import CompiledPrograms
from .force_derivatives import COLUMNS, ForceSlopes
from .graph_function import GraphFunction
from .run import evaluate, relink
from .runner import Runner, run_by_name
from .traced import TracedProgram, state_inputs, traced_program


# --- any program
def displacement(
    structure: Structure, q: Sequence[Number], delta: Sequence[Number], t: Sequence[Number], dtype: type = object
) -> list[Number]:
    """N(q) δ on generic scalars. The rates of the coordinates are affine in the speeds, q̇ = N(q) v + n(q, t)."""
    return displacements(structure, q, [delta], t, dtype)[0]


def displacements(
    structure: Structure, q: Sequence[Number], deltas: Sequence[Sequence[Number]], t: Sequence[Number], dtype: type = object
) -> list[list[Number]]:
    """N(q) δ of every δ."""
    if not len(structure.quaternions):  # every coordinate has its own speed: N is the identity
        return [list(delta) for delta in deltas]
    speeds = [*deltas, [0.0] * structure.nv]
    *moving, at_rest = (evaluate(structure, "rates", {"q": q, "v": v, "t": t}, dtype).rate.tolist() for v in speeds)
    return [[x - y for x, y in zip(rates, at_rest, strict=True)] for rates in moving]


def differentiated(structure: Structure, traced: TracedProgram, wrt: Sequence[str], outputs: Sequence[str] = ()) -> TracedProgram:
    """The same program with, as "output/input" and row by row, the Jacobians of some outputs, of all if none is named."""
    chosen = {name: traced.outputs[name] for name in (outputs or traced.outputs)}
    flat, found = _joined(chosen), dict(traced.outputs)
    for name in wrt:
        symbols = traced.inputs[name]
        if name == "q":
            units = np.eye(structure.nv).tolist()
            moved = displacements(structure, symbols, units, traced.inputs["t"])
            directions = [[(x, d) for x, d in zip(symbols, dq, strict=True) if isinstance(d, Symbol) or d] for dq in moved]
        else:
            directions = [[(x, 1.0)] for x in symbols]
        columns, at = [tangent(flat, direction) for direction in directions], 0
        for output, group in chosen.items():
            found[f"{output}/{name}"] = tuple(column[k] for k in range(at, at + len(group)) for column in columns)
            at += len(group)
    return TracedProgram(traced.graph, traced.inputs, found)


def differentiated_along(
    structure: Structure, traced: TracedProgram, wrt: Sequence[str], outputs: Sequence[str] = ()
) -> TracedProgram:
    """The changes of those outputs, as "d output", along one direction: inputs "d input" for every name of `wrt`.

    A column of a Jacobian for each state of a batch: a graph of about three times the size, however many columns there are.
    """
    graph, inputs = traced.graph, traced.inputs
    steps = {f"d {name}": tuple(graph.inputs(structure.nv if name == "q" else len(inputs[name]))) for name in wrt}
    direction: list[tuple[Symbol, Number]] = []
    for name in wrt:
        step: Sequence[Number] = steps[f"d {name}"]
        if name == "q":
            step = displacement(structure, inputs["q"], step, inputs["t"])
        direction += zip(inputs[name], step, strict=True)
    changes = {f"d {name}": tangent(traced.outputs[name], direction) for name in (outputs or traced.outputs)}
    return TracedProgram(graph, {**{name: x for name, x in inputs.items() if name != "t"}, **steps, "t": inputs["t"]}, changes)


def evaluated(program: TracedProgram, given: Mapping[str, Sequence[Number]]) -> dict[str, np.ndarray]:
    """The outputs of a graph on the symbols of another."""
    outputs = Expression(program.graph, _joined(program.inputs), _joined(program.outputs))
    numbers, at, out = outputs(*_joined({name: given[name] for name in program.inputs})), 0, {}
    for name, group in program.outputs.items():
        out[name] = np.empty(len(group), dtype=object)
        out[name][:] = numbers[at : at + len(group)]
        at += len(group)
    return out


def _joined(groups: Mapping[str, Sequence[Any]]) -> list[Any]:
    return [x for group in groups.values() for x in group]


# --- dynamics of trees
def derivatives_by_kernels(structure: Structure, question: str, limit: int | None, by_parameters: bool) -> TracedProgram:
    """ "inverse" or "forward" dynamics and its derivatives, with those of the model's forces."""
    n, last = structure.nv, "tau" if question == "forward" else "qdd"
    inputs: dict[str, Any] = state_inputs(structure, Graph(limit), **{last: n})
    found = evaluate(structure, f"derivatives/{question}", {**inputs, "wrench": _no_wrench(structure)})._asdict()
    if structure.forces:
        slopes = ForceSlopes(structure)
        rows = {name: np.array(inputs[name], dtype=object)[None] for name in ("t", "q", "v", "parameter")}
        columns = {}
        if slopes.kinematic:
            moved = evaluate(structure, "columns", {name: inputs[name] for name in ("q", "v", "parameter", "t")})
            columns = {name: x[None] for name, x in moved._asdict().items()}
        add_forces(question, found, [x[0] for x in slopes(rows, columns)])
    if by_parameters:
        given = {**inputs, "qdd": found["qdd"] if question == "forward" else inputs["qdd"]}
        slopes_by = evaluated(differentiated(structure, _inverse(structure, limit), ("parameter",)), given)["tau/parameter"]
        slopes_by = slopes_by.reshape(n, -1)
        found["dparameters"] = -1.0 * (found["dtau"] @ slopes_by) if question == "forward" else slopes_by
    return _traced(inputs, found)


def derivatives_by_graph(structure: Structure, question: str, limit: int | None, by_parameters: bool) -> TracedProgram:
    """As by kernels, from the graph of inverse dynamics; of forward dynamics at the accelerations of another graph."""
    n, fields = structure.nv, {"q": "dq", "v": "dv"} | ({"parameter": "dparameters"} if by_parameters else {})
    whole = differentiated(structure, _inverse(structure, limit), tuple(fields))
    given = {name: x for name, x in whole.inputs.items() if name in ("q", "parameter", "t")}
    M = evaluate(structure, "inertia/composite", given).M
    outputs = {"tau": whole.outputs["tau"], "da": M, **{field: whole.outputs[f"tau/{name}"] for name, field in fields.items()}}
    inverse = _traced(whole.inputs, outputs)
    if question == "inverse":
        return inverse
    inputs = state_inputs(structure, Graph(limit), tau=n)
    qdd = evaluate(structure, "forward/composite", {**inputs, "wrench": _no_wrench(structure)}).qdd
    found = evaluated(inverse, {**inputs, "qdd": qdd})
    right = [-1.0 * found[name].reshape(n, -1) for name in fields.values()]
    solved = solve(structure, found["da"].reshape(n, n), [*right, np.eye(n).astype(object)])
    return _traced(inputs, {"qdd": qdd, **dict(zip([*fields.values(), "dtau"], solved, strict=True))})


def _inverse(structure: Structure, limit: int | None) -> TracedProgram:
    inputs = state_inputs(structure, Graph(limit), qdd=structure.nv)
    return traced_program(inputs, {"tau": evaluate(structure, "inverse", {**inputs, "wrench": _no_wrench(structure)}).tau})


def add_forces(question: str, found: dict[str, np.ndarray], slopes: Sequence[np.ndarray]) -> None:
    """Derivatives of dynamics without forces, completed by those of the model's: of M a + h = τ + Q."""
    for name, slope in zip(("dq", "dv"), slopes, strict=True):
        found[name] = found[name] + found["dtau"] @ slope if question == "forward" else found[name] - slope


def solve(structure: Structure, M: np.ndarray, right: Sequence[np.ndarray]) -> list[np.ndarray]:
    """M⁻¹ X of every X on the right, on generic scalars."""
    L, n = M.copy(), structure.nv
    if structure.coupled:
        relink(factor)(L, np.empty(n, dtype=object), n)
    else:
        relink(tree_factor)(structure.tree, L)
    out = [X.copy() for X in right]
    for X in out:
        for column in X.T:
            if structure.coupled:
                relink(substitute)(L, column, n)
            else:
                relink(tree_substitute)(structure.tree, L, column)
    return out


def _no_wrench(structure: Structure) -> list[float]:
    return [0.0] * (6 * (structure.nb + 1))


def _traced(inputs: Mapping[str, Sequence[Symbol]], outputs: Mapping[str, Any]) -> TracedProgram:
    return traced_program(inputs, {name: np.ravel(x).tolist() for name, x in outputs.items()})


# --- which way for which model and backend
# Straight-line code holds everything in one graph. On loops and interpreted, the kernels give the derivatives of the mechanism,
# and those of its forces are added state by state.
NUMBERS_AT_ONCE = 1 << 22
"""Derivatives of what forces read, held for some states at a time: 32 MB."""


def graph_joints(structure: Structure) -> list[str]:
    """Joints the kernels of derivatives do not handle: columns that are the user's functions of q, or motions of which some are
    driven and some free."""
    j, out = structure.joints, []
    for i in range(1, structure.nb + 1):
        motions = slice(int(j.start[i]), int(j.start[i + 1]))
        kinds, axes = j.kind[motions], j.axes[motions]
        if axes.any() and ((kinds == GIVEN) | ((kinds != FIXED) & (axes == 0))).any():
            out.append(structure.placed[i - 1].name)
    return out


def derivative_runner(programs: CompiledPrograms, question: str, outputs: Sequence[str]) -> Runner:
    """Runner for derivatives of "forward" or "inverse" dynamics. Outputs: the value, then derivatives."""
    structure, requested = programs.structure, programs.requested
    special, by_parameters = graph_joints(structure), "dparameters" in outputs
    if requested == "auto":
        requested = "loops" if sizes.is_large(structure) else "llvm"
    if special and requested == "loops":
        raise MethodError(
            f"derivatives on loops need joints made of elementary motions, all free or all driven, but {known(special)} "
            "are not such; choose the backend 'llvm'"
        )
    if requested == "python" and (special or by_parameters):
        return one_graph(programs, derivatives_by_graph(structure, question, None, by_parameters), outputs).interpreted
    if requested == "llvm":
        limit = sizes.DERIVATIVES if programs.requested == "auto" and not special else None
        make = derivatives_by_graph if special else derivatives_by_kernels
        whole = sizes.fits(lambda: make(structure, question, limit, by_parameters))
        if whole:
            return one_graph(programs, whole, outputs)
        requested = "loops"
    if by_parameters:
        raise MethodError(
            "derivatives by parameters need straight-line code, which this model is too large for or the backend has not; leave "
            "'parameters' out of wrt, or choose the backend 'llvm'"
        )
    runner = programs.runner(f"derivatives/{question}", (), False, requested)
    if not structure.forces:
        return programs.runner(f"derivatives/{question}", outputs, False, requested)
    return WithForces(programs, question, runner, outputs, requested)


def one_graph(programs: CompiledPrograms, whole: TracedProgram, outputs: Sequence[str]) -> GraphFunction:
    """Some of the outputs of a graph: the value, and derivatives (nv, …)."""
    n, found = programs.structure.nv, {name: whole.outputs[name] for name in outputs}
    shapes = {name: (n, len(x) // max(n, 1)) if name.startswith("d") else (n,) for name, x in found.items()}
    return GraphFunction(TracedProgram(whole.graph, whole.inputs, found), programs.store, shapes)


class WithForces:
    """A program of the kernels, completed by the derivatives of the model's forces."""

    def __init__(
        self, programs: CompiledPrograms, question: str, mechanism: Runner, outputs: Sequence[str], backend: str
    ) -> None:
        self.programs, self.question, self.mechanism, self.backend = programs, question, mechanism, backend
        self.inputs = mechanism.inputs
        self.outputs = {name: mechanism.outputs[name] for name in outputs}
        self.slopes = ForceSlopes(programs.structure, programs.store if backend == "loops" else None)

    def chain(self, arrays: Any, threads: int = 1) -> list[Any]:
        raise NotImplementedError("derivatives by several programs are no single chain of native functions")

    @cached_property
    def _columns(self) -> Runner:
        return self.programs.runner("columns", (), False, self.backend)

    def run(self, n: int, inputs: Sequence[np.ndarray], outputs: Sequence[np.ndarray], threads: int = 1) -> None:
        step = max(1, NUMBERS_AT_ONCE // max(1, self.slopes.layout.pushes * 4 * self.programs.structure.nv))
        for first in range(0, n, step):
            part = slice(first, min(first + step, n))
            rows = {name: x if len(x) == 1 else x[part] for name, x in zip(self.inputs, inputs, strict=True)}
            found = self._some(part.stop - first, rows, threads)
            for y, name in zip(outputs, self.outputs, strict=True):
                y[part] = found[name].reshape(part.stop - first, -1)

    def _some(self, n: int, rows: dict[str, np.ndarray], threads: int) -> dict[str, np.ndarray]:
        found = _shaped(self.mechanism, n, rows, threads)
        motion = {name: np.broadcast_to(rows[name], (n, rows[name].shape[1])) for name in ("t", "q", "v")}
        parameters = rows.get("parameter", np.zeros((1, 0)))
        motion["parameter"] = np.broadcast_to(parameters, (n, parameters.shape[1]))
        moved = _shaped(self._columns, n, rows, threads) if self.slopes.kinematic else {}
        columns = {name: x for name, x in moved.items() if name in COLUMNS}
        add_forces(self.question, found, self.slopes(motion, columns))
        return found


def _shaped(runner: Runner, n: int, rows: dict[str, np.ndarray], threads: int) -> dict[str, np.ndarray]:
    return {name: x.reshape(n, *runner.outputs[name]) for name, x in run_by_name(runner, n, rows, threads).items()}
