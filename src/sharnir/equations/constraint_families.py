"""The constraints of a model in families: those of one shape share a graph; arrays hold what differs from one to the next."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ..errors import ModelError
from ..model.constraints.base import Constraint
from ..model.forces.kinds import Kind, Signature, signature, symbols_for
from ..model.forces.layout import Layout
from ..model.forces.shape import Shape
from ..model.motion import Motion
from ..model.structure import Structure
from ..trace import Expression, Graph, Number, Symbol
from ..trace.alike import Form, with_constants_as_inputs, without_constants
from .one_constraint import WIDE, TracedConstraint, label_of, row_of


@dataclass(frozen=True)
class Family:
    """Constraints of one shape, a row of each array for each."""

    graph: Graph
    reads_of: Sequence[Symbol]
    numbers_of: Sequence[Symbol]
    g: Sequence[Number]
    rate: Sequence[Number]
    gamma: Sequence[Number]
    K: Sequence[Sequence[Number]]
    """For every link a block (rows × 6 of a body, rows × 1 of a speed), row by row."""
    members: list[int]
    """Indices of the constraints."""
    names: Sequence[Sequence[str]]
    """Of every member, what its rows forbid."""
    reads: np.ndarray
    """(n, reads): places in the flat motion."""
    numbers: np.ndarray
    """(n, numbers)"""
    targets: np.ndarray
    """(n, links): rows of bodies, numbers of speeds."""

    @cached_property
    def widths(self) -> list[int]:
        """Of the blocks: 6 of a body, 1 of a speed."""
        return [len(block) // len(self.rate) for block in self.K]

    def bodies(self, member: int) -> list[int]:
        """The rows of the bodies that a member touches."""
        return [int(x) for x, width in zip(self.targets[member], self.widths, strict=True) if width == WIDE]

    def outputs(self, kept: Sequence[int]) -> dict[str, list[Number]]:
        """Of some of the rows."""
        return {
            "g": [self.g[k] for k in kept if k < len(self.g)],
            "rate": [self.rate[k] for k in kept],
            "gamma": [self.gamma[k] for k in kept],
            "speed": [self.rate[k] for k in kept if k >= len(self.g)],
            "K": [x for block in self.K for k in kept for x in row_of(block, k, len(self.rate))],
        }

    def expression(self, outputs: Sequence[Number]) -> Expression:
        return Expression(self.graph, [*self.reads_of, *self.numbers_of], outputs)

    def values(self, flat: np.ndarray, outputs: Sequence[Number]) -> np.ndarray:
        """(outputs, n) at one flat motion: all members at once, interpreted."""
        n = len(self.members)
        with np.errstate(all="ignore"):  # nan and inf are values, not warnings
            found = self.expression(outputs)(*flat[self.reads].T, *self.numbers.T)
        return np.array([np.broadcast_to(x, n) for x in found], dtype=float).reshape(len(outputs), n)


def families(structure: Structure, layout: Layout, constraints: Mapping[str, Constraint]) -> list[Family]:
    """Closing joints and constraints of the library by kind, each kind traced once; those of the user's traced one by one, then
    joined where their graphs are equal but for constants."""
    on = Motion(structure, Graph())
    kinds: dict[Any, tuple[Kind, TracedConstraint]] = {}
    alone: dict[tuple[Form, tuple[int, ...]], list[tuple[int, TracedConstraint, list[float]]]] = {}
    for number, (name, constraint) in enumerate(constraints.items()):
        label = label_of(name, constraint)
        like = _signature(constraint, on)
        if like is not None:
            known = kinds.get(like.kind)  # once: hash and comparison of a joint type go through all its fields
            if known is None:
                graph = Graph()
                symbols, numbers = symbols_for(graph, like.numbers)
                traced = TracedConstraint(structure, graph, constraint.with_numbers(numbers), label)
                shape = Shape(graph, list(traced.reads.values()), symbols, {})
                places = [(0, part, index * WIDE if part == "velocity" else index) for part, index in traced.links]
                known = kinds[like.kind] = Kind(structure, layout, like, shape, list(traced.reads), places), traced
            known[0].add(number, like)
            continue
        traced = TracedConstraint(structure, Graph(), constraint, label)
        form, constants = without_constants(traced.graph, list(traced.reads.values()), traced.outputs)
        sizes = (len(traced.g), len(traced.rate), *(len(block) for block in traced.K))
        alone.setdefault((form, sizes), []).append((number, traced, constants))
    return [*(_of_kind(*found) for found in kinds.values()), *(_of_form(layout, *found) for found in alone.items())]


def _signature(constraint: Constraint, on: Motion) -> Signature | None:
    try:
        return signature(constraint, on)
    except ModelError:  # it names what is not there: its own trace will say so
        return None


def _of_kind(kind: Kind, traced: TracedConstraint) -> Family:
    reads, numbers, places = kind.arrays()
    names = [[*traced.first, *traced.second]] * len(kind.members)
    targets = places // np.array([len(block) // len(traced.rate) for block in traced.K], dtype=np.int64)
    return Family(
        traced.graph, kind.shape.reads, kind.shape.numbers, traced.g, traced.rate, traced.gamma, traced.K,
        kind.members, names, reads, numbers, targets,
    )  # fmt: skip


def _of_form(layout: Layout, key: tuple[Form, tuple[int, ...]], found: list[tuple[int, TracedConstraint, list[float]]]) -> Family:
    form, (n_first, n_rows, *blocks) = key
    graph, reads, numbers, outputs = with_constants_as_inputs(form)
    parts = np.cumsum([n_first, n_rows, n_rows, *blocks])
    g, rate, gamma, *K = (outputs[a:b] for a, b in zip([0, *parts[:-1]], parts, strict=True))
    n = len(found)
    return Family(
        graph, reads, numbers, g, rate, gamma, K, [number for number, _, _ in found],
        [[*one.first, *one.second] for _, one, _ in found],
        np.array([[layout.at[part] + k for part, k in one.reads] for _, one, _ in found], dtype=np.int64).reshape(n, -1),
        np.array([constants for _, _, constants in found], dtype=float).reshape(n, -1),
        np.array([[k for _, k in one.links] for _, one, _ in found], dtype=np.int64).reshape(n, -1),
    )  # fmt: skip
