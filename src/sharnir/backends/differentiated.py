"""Derivatives as expression graphs: of any traced program, and of the dynamics of trees.

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
from typing import Any

import numpy as np

from ..kernels.cholesky import factor, substitute, tree_factor, tree_substitute
from ..model.structure import Structure
from ..trace import Expression, Graph, Number, Symbol, tangent
from .force_derivatives import ForceSlopes
from .run import TracedProgram, evaluate, relink, state_inputs, traced_program


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
    """The same from the graph of inverse dynamics: of forward dynamics evaluated at the accelerations of another graph."""
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
    """Inverse dynamics."""
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
