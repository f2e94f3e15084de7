"""Programs on the symbols of a graph: specialised to one model, constants folded and equal parts shared."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from ..model.structure import Structure
from ..programs.program import Program
from ..trace import Graph, Number, Symbol
from .run import input_sizes, run_program


def state_inputs(structure: Structure, graph: Graph, **more: int) -> dict[str, tuple[Symbol, ...]]:
    """New symbols of a graph: q, v, so many `more` of each name, parameter and, as everywhere the last, t."""
    return new_inputs(graph, q=structure.nq, v=structure.nv, **more, parameter=len(structure.parameters), t=1)


def new_inputs(graph: Graph, **sizes: int) -> dict[str, tuple[Symbol, ...]]:
    return {name: tuple(graph.inputs(size)) for name, size in sizes.items()}


def traced_program(inputs: Mapping[str, Sequence[Symbol]], outputs: Mapping[str, Iterable[Number]]) -> TracedProgram:
    """Outputs as a program of symbols of one graph, the time among them; without parameters where the model has none."""
    return TracedProgram.of({name: x for name, x in inputs.items() if x or name != "parameter"}, outputs)


@dataclass(frozen=True)
class TracedProgram:
    """Inputs and outputs of a program as symbols of one graph, both in named groups."""

    graph: Graph
    inputs: dict[str, tuple[Symbol, ...]]
    outputs: dict[str, tuple[Number, ...]]

    @classmethod
    def of(cls, inputs: Mapping[str, Sequence[Symbol]], outputs: Mapping[str, Iterable[Number]]) -> TracedProgram:
        graph = next(x.graph for group in inputs.values() for x in group)
        return cls(graph, {name: tuple(x) for name, x in inputs.items()}, {name: tuple(x) for name, x in outputs.items()})


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
    out = run_program(program, structure, values, object)
    outputs = {name: tuple(getattr(out, name).ravel()) for name in (only or out._fields)}
    return TracedProgram(graph, inputs, outputs)
