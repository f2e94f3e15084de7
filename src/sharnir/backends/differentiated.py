"""Derivatives of dynamics as expression graphs.

By the kernels (`programs/derivatives.py`) on symbols; or, for joints whose columns are any function of q, by differentiating the
graph of inverse dynamics. Forward dynamics is never differentiated itself. From f(q, v, a) = τ at the accelerations a that τ
causes,

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

    def __init__(self, structure: Structure, limit: int | None = None) -> None:
        self.structure, self.graph = structure, Graph(limit)
        self.no_wrench = [0.0] * (6 * (structure.nb + 1))

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


def derivatives_by_kernels(structure: Structure, question: str, limit: int | None = None) -> TracedProgram:
    """ "inverse" or "forward" dynamics and its derivatives, with those of the model's forces."""
    on, n = Questions(structure, limit), structure.nv
    last = "tau" if question == "forward" else "qdd"
    inputs = {name: on.graph.inputs(size) for name, size in (("q", structure.nq), ("v", n), (last, n), ("t", 1))}
    found = on.ask(f"derivatives/{question}", **inputs, wrench=on.no_wrench)._asdict()
    if structure.forces:
        slopes = ForceSlopes(structure)
        rows = {name: np.array(inputs[name], dtype=object)[None] for name in ("t", "q", "v")}
        rows["parameter"] = np.array(structure.forces.parameters, dtype=object)[None]
        columns = {}
        if slopes.kinematic:
            moved = on.ask("columns", **{name: inputs[name] for name in ("q", "v", "t")})
            columns = {name: x[None] for name, x in moved._asdict().items()}
        add_forces(question, found, [x[0] for x in slopes(rows, columns)])
    return traced(on.graph, inputs, found)


def add_forces(question: str, found: dict[str, np.ndarray], slopes: Sequence[np.ndarray]) -> None:
    """Derivatives of dynamics without forces, completed by those of the model's: of M a + h = τ + Q."""
    for name, slope in zip(("dq", "dv"), slopes, strict=True):
        found[name] = found[name] + found["dtau"] @ slope if question == "forward" else found[name] - slope


def derivatives_by_graph(structure: Structure, question: str, limit: int | None = None) -> TracedProgram:
    return (forward_by_graph if question == "forward" else inverse_by_graph)(structure, limit)


def inverse_by_graph(structure: Structure, limit: int | None = None) -> TracedProgram:
    """Inverse dynamics and its derivatives: tau, dq, dv, da."""
    on, n = Questions(structure, limit), structure.nv
    inputs = {name: on.graph.inputs(size) for name, size in (("q", structure.nq), ("v", n), ("qdd", n), ("t", 1))}
    tau = on.ask("inverse", **inputs, wrench=on.no_wrench).tau.tolist()
    dq = jacobian(tau, unit_displacements(on.structure, inputs["q"], inputs["t"]))
    dv = jacobian(tau, [[(x, 1.0)] for x in inputs["v"]])
    M = on.ask("inertia/composite", q=inputs["q"], t=inputs["t"]).M
    return traced(on.graph, inputs, {"tau": tau, "dq": dq, "dv": dv, "da": M})


def forward_by_graph(structure: Structure, limit: int | None = None) -> TracedProgram:
    """Forward dynamics and its derivatives: qdd, dq, dv, dtau. Those of inverse dynamics are taken in a graph of their own, where
    accelerations are inputs, and evaluated at the accelerations of this one."""
    on, n = Questions(structure, limit), structure.nv
    inputs = {name: on.graph.inputs(size) for name, size in (("q", structure.nq), ("v", n), ("tau", n), ("t", 1))}
    qdd = on.ask("forward/composite", **inputs, wrench=on.no_wrench).qdd.tolist()
    inverse = inverse_by_graph(structure, limit)
    wanted = {name: inverse.outputs[name] for name in ("dq", "dv", "da")}
    given = {**inputs, "qdd": qdd}
    slopes = Expression(inverse.graph, _joined(inverse.inputs), _joined(wanted))
    found = np.array(slopes(*_joined({name: given[name] for name in inverse.inputs})), dtype=object).reshape(3, n, n)
    dq, dv, dtau = solve(structure, found[2], [-1.0 * found[0], -1.0 * found[1], np.eye(n).astype(object)])
    return traced(on.graph, inputs, {"qdd": qdd, "dq": dq, "dv": dv, "dtau": dtau})


def _joined(groups: Mapping[str, Sequence[Any]]) -> list[Any]:
    return [x for group in groups.values() for x in group]


def solve(structure: Structure, M: np.ndarray, right: Sequence[np.ndarray]) -> list[np.ndarray]:
    """M⁻¹ X of every X on the right, on numbers of any kind."""
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


def traced(graph: Graph, inputs: Mapping[str, Sequence[Symbol]], outputs: Mapping[str, Any]) -> TracedProgram:
    flat = {name: tuple(np.ravel(x).tolist()) for name, x in outputs.items()}
    return TracedProgram(graph, {name: tuple(x) for name, x in inputs.items()}, flat)
