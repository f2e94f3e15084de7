"""Derivatives of dynamics by differentiating the graph of inverse dynamics: for joints whose columns are any function of q.

Forward dynamics is never differentiated itself. From f(q, v, a) = τ at the accelerations a that τ causes,

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
from ..trace import Expression, Graph, Number, Symbol, needed, tangent
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

    def directions(self, q: Sequence[Symbol], t: Sequence[Symbol]) -> list[Direction]:
        """q moved by one unit of each speed in turn: q̇ = N(q)v."""
        n = self.structure.nv
        units = ([float(k == j) for k in range(n)] for j in range(n))
        return [list(zip(q, self.ask("rates", q=q, v=unit, t=t).rate.tolist(), strict=True)) for unit in units]


def jacobian(outputs: Sequence[Number], directions: Sequence[Direction]) -> np.ndarray:
    """(outputs, directions) of numbers: the rates of the outputs."""
    out: np.ndarray = np.empty((len(outputs), len(directions)), dtype=object)
    for j, direction in enumerate(directions):
        out[:, j] = tangent(outputs, direction)
    return out


def inverse_by_graph(structure: Structure, limit: int | None = None) -> TracedProgram:
    """Inverse dynamics and its derivatives: tau, dq, dv, da."""
    on = Questions(structure, limit)
    n = structure.nv
    inputs = {name: on.graph.inputs(size) for name, size in (("q", structure.nq), ("v", n), ("qdd", n), ("t", 1))}
    tau = on.ask("inverse", **inputs, wrench=on.no_wrench).tau.tolist()
    columns = _by_motion(on, tau, inputs)
    M = on.ask("inertia/composite", q=inputs["q"], t=inputs["t"]).M
    return traced(on.graph, inputs, {"tau": tau, **columns, "da": M})


def forward_by_graph(structure: Structure, limit: int | None = None) -> TracedProgram:
    """Forward dynamics and its derivatives: qdd, dq, dv, dtau."""
    on = Questions(structure, limit)
    n = structure.nv
    inputs = {name: on.graph.inputs(size) for name, size in (("q", structure.nq), ("v", n), ("tau", n), ("t", 1))}
    qdd = on.ask("forward/composite", **inputs, wrench=on.no_wrench).qdd.tolist()
    moved = {name: inputs[name] for name in ("q", "v", "t")}
    a = on.graph.inputs(n)  # accelerations of their own: a node of qdd may be part of a force too, which must not be held
    columns = _by_motion(on, on.ask("inverse", **moved, qdd=a, wrench=on.no_wrench).tau.tolist(), inputs)
    columns = {name: _substituted(on.graph, x, a, qdd) for name, x in columns.items()}
    M = on.ask("inertia/composite", q=inputs["q"], t=inputs["t"]).M
    solved = solve(structure, M, [*(-1.0 * x for x in columns.values()), np.eye(n).astype(object)])
    return traced(on.graph, inputs, {"qdd": qdd, **dict(zip((*columns, "dtau"), solved, strict=True))})


def _by_motion(
    on: Questions, f: Sequence[Number], inputs: Mapping[str, Sequence[Symbol]]
) -> dict[str, np.ndarray]:
    """∂f/∂q in the tangent, and ∂f/∂v."""
    along_v = [[(x, 1.0)] for x in inputs["v"]]
    return {"dq": jacobian(f, on.directions(inputs["q"], inputs["t"])), "dv": jacobian(f, along_v)}


def _substituted(graph: Graph, x: np.ndarray, symbols: Sequence[Symbol], values: Sequence[Number]) -> np.ndarray:
    flat, rest = x.ravel().tolist(), [k for k in needed(graph, x.ravel().tolist()) if graph.nodes[k][0] == "input"]
    others = [Symbol(graph, k) for k in rest if k not in {y.index for y in symbols}]
    found: np.ndarray = np.empty(x.size, dtype=object)
    found[:] = Expression(graph, [*symbols, *others], flat)(*values, *others)
    return found.reshape(x.shape)


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
