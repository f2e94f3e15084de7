"""The Jacobian of a traced program with respect to named inputs, as another traced program.

Derivatives with respect to q are in the tangent: column j is the change along the displacement N(q) e_j of the coordinates
(`retraction.py`), so that there are as many columns as speeds, quaternions or not. Every other input is differentiated entry
by entry.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...backends.differentiated import jacobian, unit_displacements
from ...backends.traced import TracedProgram
from ...model.structure import Structure
from ...trace import Number, Symbol, tangent
from ..motion.retraction import displacement


def differentiated(structure: Structure, traced: TracedProgram, wrt: Sequence[str], outputs: Sequence[str] = ()) -> TracedProgram:
    """The same program with, as "output/input" and row by row, the Jacobians of some outputs, of all if none is named."""
    chosen = {name: traced.outputs[name] for name in (outputs or traced.outputs)}
    flat = [x for group in chosen.values() for x in group]
    found = dict(traced.outputs)
    for name in wrt:
        symbols, t = traced.inputs[name], traced.inputs["t"]
        directions = unit_displacements(structure, symbols, t) if name == "q" else [[(x, 1.0)] for x in symbols]
        columns, at = jacobian(flat, directions), 0
        for output, group in chosen.items():
            found[f"{output}/{name}"] = tuple(columns[at : at + len(group)].ravel().tolist())
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
