"""Functions that differ only in their constants: their common form, to be compared, and one graph for all of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

from .expression import needed
from .graph import Graph, Number, Symbol

Form: TypeAlias = tuple[Any, ...]
"""The form that functions have in common which differ only in constants; hashable."""


def without_constants(graph: Graph, inputs: Sequence[Symbol], outputs: Sequence[Number]) -> tuple[Form, list[float]]:
    """The form of a function, and its constants."""
    place: dict[int, int] = {x.index: k for k, x in enumerate(inputs)}
    constants: list[float] = []
    nodes: list[tuple[Any, ...]] = []
    for index in needed(graph, outputs):
        name, *args = graph.nodes[index]
        if name == "const":
            place[index] = -1 - len(constants)
            constants.append(args[0])
        elif name != "input":
            place[index] = len(inputs) + len(nodes)
            nodes.append((name, *(place[a] for a in args)))
    ends: list[int | None] = []
    for y in outputs:
        if not isinstance(y, Symbol) and y != 0.0:
            ends.append(-1 - len(constants))
            constants.append(y)
        else:
            ends.append(place[y.index] if isinstance(y, Symbol) else None)
    return (len(inputs), len(constants), tuple(nodes), tuple(ends)), constants


def with_constants_as_inputs(form: Form) -> tuple[Graph, list[Symbol], Sequence[Symbol], list[Number]]:
    """A graph of that form: its inputs, symbols for its constants, its outputs."""
    n_inputs, n_constants, nodes, ends = form
    graph = Graph()
    values: list[Symbol] = list(graph.inputs(n_inputs))
    constants = graph.inputs(n_constants)

    def value(k: int) -> Symbol:
        return values[k] if k >= 0 else constants[-1 - k]

    for name, *args in nodes:
        values.append(graph.record(name, *(value(a) for a in args)))
    return graph, values[:n_inputs], constants, [0.0 if k is None else value(k) for k in ends]
