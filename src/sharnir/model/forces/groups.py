"""Forces in groups: those of one shape share a graph; arrays hold their differences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from ...errors import ModelError
from ...trace import Graph, Number, Symbol, call_traced
from ...types import integers
from ..motion import Motion, Observed
from .force_element import Force
from .force_states import parts_of
from .kinds import Kind, Signature, signature, symbols_for
from .layout import Layout
from .shape import Shape, TracedForce, rebuilt

if TYPE_CHECKING:
    from ..structure import Structure


@dataclass(frozen=True)
class Group:
    """Forces of one shape (or parts of forces), a row of each array for each."""

    shape: Shape
    force: np.ndarray
    """(n, outputs): indices of the forces that the outputs of the shape belong to, mostly one."""
    reads: np.ndarray
    """(n, reads): places in the flat motion."""
    numbers: np.ndarray
    """(n, numbers)"""
    places: np.ndarray
    """(n, pushes): places in the flat vector of pushes."""
    observed: Mapping[str, Observed] = field(default_factory=dict)
    """Observed numbers by name, in the order of the output of that name."""

    def places_of(self, answer: str) -> np.ndarray:
        """Destinations of an output: places of pushes, the index of the force for others."""
        return self.places if answer == "push" else self.force


def grouped(structure: Structure, layout: Layout, forces: Mapping[str, Force]) -> list[Group]:
    """Forces of the library by kind, each kind traced once; those of the user traced one by one, then grouped by equal graphs."""
    on = Motion(structure, Graph())
    states = structure.states_of
    kinds: dict[Any, Kind] = {}
    alone: dict[Any, list[tuple[int, list[int], list[float], list[int]]]] = {}
    for number, (name, whole) in enumerate(forces.items()):
        for part, force in enumerate(parts_of(structure, whole)):
            own = states.get((name, part), {})
            _check_places(structure, force, name, type(whole).__name__)
            like = call_traced(signature, [force, on, own], f"{force.noun} {name!r}")
            if like is not None:
                if like.kind not in kinds:
                    kinds[like.kind] = _kind(structure, layout, force, name, like, own)
                kinds[like.kind].add(number, like)
                continue
            traced = TracedForce(structure, Graph(), force.act, name, own, force.noun)
            (graph, sizes), constants = traced.without_numbers()
            form = (graph, sizes, tuple(traced.observed.items()))
            reads = [layout.at[part] + index for part, index in traced.reads]
            places = [at + index for at, _, index in traced.places(layout)]
            alone.setdefault(form, []).append((number, reads, constants, places))
    groups = [Group(kind.shape, integers(kind.members)[:, None], *kind.arrays(), kind.observed) for kind in kinds.values()]
    for form, found in alone.items():
        of, read, constants_of, pushed = zip(*found, strict=True)
        shape, observed = rebuilt(*form[:2]), dict(form[2])
        groups.append(Group(shape, integers(of)[:, None], integers(read), np.array(constants_of), integers(pushed), observed))
    return groups


def _check_places(structure: Structure, force: Force, name: str, kind: str) -> None:
    """Refuse a force that takes a flexible body for a rigid one."""
    for body in force.bodies() if structure.deformations and not force.at_places else ():
        row = structure.body_number.get(body, -1) + 1
        if row in structure.deformations:
            raise ModelError(
                f"{force.noun} {name!r}: body {body!r} is flexible, and a {kind} needs a rigid one; attach it to "
                f"a node: model.add_node('node', {body!r}, at=(x, y, z))"
            )


def _kind(structure: Structure, layout: Layout, force: Force, name: str, like: Signature, states: Mapping[str, str]) -> Kind:
    graph = Graph()
    symbols, numbers = symbols_for(graph, like.numbers)
    traced = TracedForce(structure, graph, lambda on: force.formula(on, numbers), name, states)
    shape = Shape(graph, list(traced.reads.values()), symbols, traced.outputs)
    return Kind(structure, layout, like, shape, list(traced.reads), traced.places(layout), traced.observed)


def joined(groups: Sequence[Group]) -> Group:
    """Groups of a few forces as one force that acts as all of them: every shape costs a call."""
    graph = Graph()
    reads: dict[int, Symbol] = {}
    numbers: list[Symbol] = []
    outputs: dict[str, list[Number]] = {name: [] for name in groups[0].shape.outputs}
    for group in groups:
        for places in group.reads.tolist():
            reads |= {place: graph.input() for place in places if place not in reads}
            own = graph.inputs(len(group.shape.numbers))
            numbers += own
            values = iter(group.shape.expression(*outputs)(*(reads[place] for place in places), *own))
            for name, symbols in group.shape.outputs.items():
                outputs[name] += [next(values) for _ in symbols]
    arrays = [np.concatenate([getattr(group, name).ravel() for group in groups])[None] for name in ("force", "numbers", "places")]
    shape = Shape(graph, list(reads.values()), numbers, outputs)
    return Group(shape, arrays[0], np.array([list(reads)], dtype=np.int64), arrays[1], arrays[2])
