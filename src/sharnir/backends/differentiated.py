"""Derivatives of dynamics as expression graphs.

By the kernels (`programs/kernels/derivatives.py`) on symbols; or, for joints whose columns are any function of q, by
differentiating the graph of inverse dynamics. Forward dynamics is never differentiated itself. From f(q, v, a) = τ at the
accelerations a that τ causes,

    ∂a/∂x = −M⁻¹ ∂f/∂x,      ∂a/∂τ = M⁻¹                                                        (docs/theory/derivatives.md)

so that elimination and division are not differentiated.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..kernels.cholesky import factor, substitute, tree_factor, tree_substitute
from ..model.structure import Structure
from ..programs import program_for
from ..trace import Expression, Graph, Number, Symbol, tangent
from .force_derivatives import ForceSlopes
from .link import relink
from .run import run_program
from .traced import TracedProgram

Direction = Sequence[tuple[Symbol, Number]]
"""Symbols of a graph that change together, each with its rate."""


class Questions:
    """Programs of one model on symbols of one graph: what two of them compute alike is shared."""

    def __init__(self, structure: Structure, limit: int | None) -> None:
        self.structure, self.graph = structure, Graph(limit)
        self.no_wrench = [0.0] * (6 * (structure.nb + 1))

    def inputs(self, last: str) -> dict[str, tuple[Symbol, ...]]:
        """New symbols: q, v, `last`, parameters where there are any, t."""
        s = self.structure
        sizes = {"q": s.nq, "v": s.nv, last: s.nv, **({"parameter": len(s.parameters)} if s.parameters else {}), "t": 1}
        return {name: self.graph.inputs(size) for name, size in sizes.items()}

    def ask(self, name: str, **values: Sequence[Number]) -> Any:
        """The outputs of a program."""
        program = program_for(self.structure, name)
        return run_program(program, self.structure, values, relink(program.function), dtype=object)


def unit_displacements(structure: Structure, q: Sequence[Symbol], t: Sequence[Number]) -> list[Direction]:
    """q moved by one unit of each speed in turn: the columns of N(q) in q̇ = N(q)v + n(q, t)."""
    program, n = program_for(structure, "rates"), structure.nv

    def rates(v: Sequence[float]) -> list[Number]:
        return run_program(program, structure, {"q": q, "v": v, "t": t}, relink(program.function), dtype=object).rate.tolist()

    at_rest, out = rates([0.0] * n), list[Direction]()
    for j in range(n):
        moving = rates([float(k == j) for k in range(n)])
        changes = ((x, a - b) for x, a, b in zip(q, moving, at_rest, strict=True))
        out.append([(x, dx) for x, dx in changes if isinstance(dx, Symbol) or dx != 0.0])
    return out


def jacobian(outputs: Sequence[Number], directions: Sequence[Direction]) -> np.ndarray:
    """(outputs, directions) of numbers: the rates of the outputs along each direction."""
    out: np.ndarray = np.empty((len(outputs), len(directions)), dtype=object)
    for k, direction in enumerate(directions):
        out[:, k] = tangent(outputs, direction)
    return out


def derivatives_by_kernels(structure: Structure, question: str, limit: int | None, by_parameters: bool) -> TracedProgram:
    """ "inverse" or "forward" dynamics and its derivatives, with those of the model's forces."""
    on, n = Questions(structure, limit), structure.nv
    inputs = on.inputs("tau" if question == "forward" else "qdd")
    found = on.ask(f"derivatives/{question}", **inputs, wrench=on.no_wrench)._asdict()
    if structure.forces:
        slopes = ForceSlopes(structure)
        rows = {name: np.array(inputs[name], dtype=object)[None] for name in ("t", "q", "v")}
        rows["parameter"] = np.array(inputs.get("parameter", ()), dtype=object)[None]
        columns = {}
        if slopes.kinematic:
            moved = on.ask("columns", **{name: x for name, x in inputs.items() if name in ("q", "v", "parameter", "t")})
            columns = {name: x[None] for name, x in moved._asdict().items()}
        add_forces(question, found, [x[0] for x in slopes(rows, columns)])
    if by_parameters:
        qdd = found["qdd"] if question == "forward" else inputs["qdd"]
        slopes_by = evaluated(inverse_by_parameters(structure, limit), {**inputs, "qdd": qdd})["dparameters"].reshape(n, -1)
        found["dparameters"] = -1.0 * (found["dtau"] @ slopes_by) if question == "forward" else slopes_by
    return traced(inputs, found)


def inverse_by_parameters(structure: Structure, limit: int | None) -> TracedProgram:
    """Derivatives of inverse dynamics by the parameters of the model."""
    on = Questions(structure, limit)
    inputs = on.inputs("qdd")
    tau = on.ask("inverse", **inputs, wrench=on.no_wrench).tau.tolist()
    return traced(inputs, {"dparameters": jacobian(tau, [[(x, 1.0)] for x in inputs["parameter"]])})


def add_forces(question: str, found: dict[str, np.ndarray], slopes: Sequence[np.ndarray]) -> None:
    """Derivatives of dynamics without forces, completed by those of the model's: of M a + h = τ + Q."""
    for name, slope in zip(("dq", "dv"), slopes, strict=True):
        found[name] = found[name] + found["dtau"] @ slope if question == "forward" else found[name] - slope


def derivatives_by_graph(structure: Structure, question: str, limit: int | None, by_parameters: bool) -> TracedProgram:
    return (forward_by_graph if question == "forward" else inverse_by_graph)(structure, limit, by_parameters)


def inverse_by_graph(structure: Structure, limit: int | None, by_parameters: bool) -> TracedProgram:
    """Inverse dynamics and its derivatives: tau, dq, dv, da, and dparameters where they are asked for."""
    on = Questions(structure, limit)
    inputs = on.inputs("qdd")
    tau = on.ask("inverse", **inputs, wrench=on.no_wrench).tau.tolist()
    dq = jacobian(tau, unit_displacements(on.structure, inputs["q"], inputs["t"]))
    dv = jacobian(tau, [[(x, 1.0)] for x in inputs["v"]])
    M = on.ask("inertia/composite", **{name: x for name, x in inputs.items() if name in ("q", "parameter", "t")}).M
    found = {"tau": tau, "dq": dq, "dv": dv, "da": M}
    if by_parameters:
        found["dparameters"] = jacobian(tau, [[(x, 1.0)] for x in inputs["parameter"]])
    return traced(inputs, found)


def forward_by_graph(structure: Structure, limit: int | None, by_parameters: bool) -> TracedProgram:
    """Forward dynamics and its derivatives: qdd, dq, dv, dtau, dparameters. Those of inverse dynamics are taken in a graph of
    their own, where accelerations are inputs, and evaluated at the accelerations of this one."""
    on, n = Questions(structure, limit), structure.nv
    inputs = on.inputs("tau")
    qdd = on.ask("forward/composite", **inputs, wrench=on.no_wrench).qdd.tolist()
    inverse = inverse_by_graph(structure, limit, by_parameters)
    found = evaluated(inverse, {**inputs, "qdd": qdd})
    names = ["dq", "dv", *(["dparameters"] if by_parameters else [])]
    right = [-1.0 * found[name].reshape(n, -1) for name in names]
    solved = solve(structure, found["da"].reshape(n, n), [*right, np.eye(n).astype(object)])
    return traced(inputs, {"qdd": qdd, **dict(zip([*names, "dtau"], solved, strict=True))})


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


def traced(inputs: Mapping[str, Sequence[Symbol]], outputs: Mapping[str, Any]) -> TracedProgram:
    return TracedProgram.of(inputs, {name: np.ravel(x).tolist() for name, x in outputs.items()})
