"""Programs of a model on generic scalars: floats (`dtype=float`) or the symbols of a graph (`dtype=object`)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ...backends.link import relink
from ...backends.run import run_program
from ...backends.traced import TracedProgram
from ...model.structure import Structure
from ...programs import program_for
from ...programs.program import Program
from ...trace import Graph, Number, Symbol

Values = Mapping[str, Sequence[Number]]
"""Inputs of programs by name, each a flat row: q, v, t, parameter, …"""


def evaluate(structure: Structure, name: str, values: Values, dtype: type = object) -> Any:
    """The outputs of a program, a group of arrays."""
    return evaluate_program(structure, program_for(structure, name), values, dtype)


def evaluate_program(structure: Structure, program: Program, values: Values, dtype: type = object) -> Any:
    return run_program(program, structure, values, None if dtype is float else relink(program.function), dtype=dtype)


def with_bodies(structure: Structure, values: Values, dtype: type = object) -> dict[str, Sequence[Number]]:
    """`values` and the poses (r, G) and velocities of all bodies: what forces, constraints and events are functions of."""
    found = evaluate(structure, "motion", {name: values[name] for name in ("q", "v", "t", "parameter") if name in values}, dtype)
    return {**values, **{name: x.ravel().tolist() for name, x in found._asdict().items()}}


def state_inputs(structure: Structure, graph: Graph, **more: int) -> dict[str, tuple[Symbol, ...]]:
    """New symbols of a graph: q, v, so many `more` of each name, parameter and, as everywhere the last, t."""
    return new_inputs(graph, q=structure.nq, v=structure.nv, **more, parameter=len(structure.parameters), t=1)


def new_inputs(graph: Graph, **sizes: int) -> dict[str, tuple[Symbol, ...]]:
    """New symbols of a graph, so many of each name."""
    return {name: tuple(graph.inputs(size)) for name, size in sizes.items()}


def traced_program(inputs: Mapping[str, Sequence[Symbol]], outputs: Mapping[str, Iterable[Number]]) -> TracedProgram:
    """Outputs as a program of symbols of one graph, the time among them; without parameters where the model has none."""
    return TracedProgram.of({name: x for name, x in inputs.items() if x or name != "parameter"}, outputs)
