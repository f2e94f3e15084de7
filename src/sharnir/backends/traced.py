"""A program as an expression graph specialised to one model, constants folded and equal parts shared; graphs interpreted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np

from ..dialect.native import Native
from ..model.structure import Structure
from ..programs.program import Program
from ..trace import Expression, Graph, Number, Symbol
from .link import relink
from .run import input_sizes, run_program


@dataclass(frozen=True)
class TracedProgram:
    """Inputs and outputs of a program as symbols of one graph, both in named groups."""

    graph: Graph
    inputs: dict[str, tuple[Symbol, ...]]
    outputs: dict[str, tuple[Number, ...]]


def trace_program(
    program: Program,
    structure: Structure,
    constant: Mapping[str, Sequence[float]] | None = None,
    only: Sequence[str] = (),
    limit: int | None = None,
) -> TracedProgram:
    """Run a program on symbols. Inputs named in `constant` have those values; `only` picks outputs; more than `limit`
    nodes raise GraphTooLarge."""
    constant = constant or {}
    graph = Graph(limit)
    values: dict[str, Sequence[Number]] = {}
    inputs = {}
    for name, size in input_sizes(program, structure).items():
        if name in constant:
            values[name] = [float(x) for x in constant[name]]
        else:
            values[name] = inputs[name] = graph.inputs(size)
    out = run_program(program, structure, values, relink(program.function), dtype=object)
    outputs = {name: tuple(getattr(out, name).ravel()) for name in (only or out._fields)}
    return TracedProgram(graph, inputs, outputs)


# --- A graph evaluated node by node on floats: what `backend="python"` runs where a question is a graph and no program
class GraphInterpreter:
    """One graph, run like any other `Runner`. `outputs`: their shapes."""

    def __init__(self, traced: TracedProgram, outputs: Mapping[str, tuple[int, ...]]) -> None:
        self.traced = traced
        self.inputs = {name: len(symbols) for name, symbols in traced.inputs.items()}
        self.outputs = dict(outputs)
        symbols = [x for group in traced.inputs.values() for x in group]
        self._expression = Expression(traced.graph, symbols, [x for name in self.outputs for x in traced.outputs[name]])

    def chain(self, arrays: Mapping[str, np.ndarray], threads: int = 1) -> list[Native]:
        raise NotImplementedError("a graph that is interpreted is no native function")

    def run(self, n: int, inputs: Sequence[np.ndarray], outputs: Sequence[np.ndarray], threads: int = 1) -> None:
        edges = np.cumsum([prod(shape) for shape in self.outputs.values()])[:-1]
        for b in range(n):
            row = [value for x in inputs for value in x[b if len(x) > 1 else 0].tolist()]
            with np.errstate(all="ignore"):  # nan and inf are values, not warnings
                found = np.array(self._expression(*row), dtype=float)
            for y, part in zip(outputs, np.split(found, edges), strict=True):
                y[b] = part
