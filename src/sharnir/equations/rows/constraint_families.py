"""The constraints of a model in families: those of one shape share a graph; the places of their rows and blocks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from ...errors import ModelError
from ...model.constraints.constraint_element import Constraint
from ...model.forces.groups import Kind, signature, symbols_for
from ...model.forces.layout import Layout
from ...model.forces.shape import Shape
from ...model.motion import Motion
from ...model.structure import Structure
from ...trace import Expression, Graph, Number, Symbol
from ...trace.alike import Form, with_constants_as_inputs, without_constants
from ...trace.generic import Generic, stacked
from .flat_motion import GenericMotion
from .one_constraint import WIDE, ConstraintRow, TracedConstraint, label_of, row_of

FEW = 4
"""Families of fewer members are joined with others of the same form."""


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
    """For every member, what its rows forbid."""
    reads: np.ndarray
    """(n, reads): places in the flat motion."""
    numbers: np.ndarray
    """(n, numbers)"""
    targets: np.ndarray
    """(n, links): rows of bodies, numbers of speeds."""

    @cached_property
    def widths(self) -> list[int]:
        """Widths of the blocks: 6 for a body, 1 for a speed."""
        return [len(block) // len(self.rate) for block in self.K]

    def bodies(self, member: int) -> list[int]:
        """The rows of the bodies that a member touches."""
        return [int(x) for x, width in zip(self.targets[member], self.widths, strict=True) if width == WIDE]

    def outputs(self, kept: Sequence[int]) -> dict[str, list[Number]]:
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

    def generic(self, motion: GenericMotion, outputs: Sequence[Number]) -> Generic:
        """(outputs, states, n) at generic states."""
        with np.errstate(all="ignore"):
            found = self.expression(outputs)(*motion.at(self.reads), *self.numbers.T)
        return stacked(found, (len(motion.flat), len(self.members)))


def families(structure: Structure, layout: Layout, constraints: Mapping[str, Constraint]) -> list[Family]:
    """Closing joints and constraints of the library by kind, each kind traced once; those of the user's traced one by one. Small
    families are joined where their graphs are equal but for constants: hinges about different axes, functions of one form."""
    on = Motion(structure, Graph())
    kinds: dict[Any, tuple[Kind, TracedConstraint]] = {}
    found: list[Family] = []
    for number, (name, constraint) in enumerate(constraints.items()):
        label = label_of(name, constraint)
        try:
            like = signature(constraint, on)
        except ModelError:  # it names what is not there: its own trace will say so
            like = None
        if like is None:
            found.append(_of_one(layout, number, TracedConstraint(structure, Graph(), constraint, label)))
            continue
        known = kinds.get(like.kind)  # once: hash and comparison of a joint type go through all its fields
        if known is None:
            graph = Graph()
            symbols, numbers = symbols_for(graph, like.numbers)
            traced = TracedConstraint(structure, graph, constraint.with_numbers(numbers), label)
            shape = Shape(graph, list(traced.reads.values()), symbols, {})
            places = [(0, part, index * WIDE if part == "velocity" else index) for part, index in traced.links]
            known = kinds[like.kind] = Kind(structure, layout, like, shape, list(traced.reads), places), traced
        known[0].add(number, like)
    return _joined([*(_of_kind(*one) for one in kinds.values()), *found])


def _of_kind(kind: Kind, traced: TracedConstraint) -> Family:
    reads, numbers, places = kind.arrays()
    names = [[*traced.first, *traced.second]] * len(kind.members)
    targets = places // np.array([len(block) // len(traced.rate) for block in traced.K], dtype=np.int64)
    return Family(
        traced.graph, kind.shape.reads, kind.shape.numbers, traced.g, traced.rate, traced.gamma, traced.K,
        kind.members, names, reads, numbers, targets,
    )  # fmt: skip


def _of_one(layout: Layout, number: int, traced: TracedConstraint) -> Family:
    reads = np.array([[layout.at[part] + k for part, k in traced.reads]], dtype=np.int64)
    targets = np.array([[k for _, k in traced.links]], dtype=np.int64)
    return Family(
        traced.graph, list(traced.reads.values()), (), traced.g, traced.rate, traced.gamma, traced.K,
        [number], [[*traced.first, *traced.second]], reads, np.zeros((1, 0)), targets,
    )  # fmt: skip


def _joined(found: Sequence[Family]) -> list[Family]:
    """Families of few members that have the same form as one, the constants of each beside its numbers."""
    out = [f for f in found if len(f.members) >= FEW]
    alike: dict[tuple[Form, tuple[int, ...]], list[tuple[Family, list[float]]]] = {}
    for f in found:
        if len(f.members) < FEW:
            outputs = [*f.g, *f.rate, *f.gamma, *(x for block in f.K for x in block)]
            form, constants = without_constants(f.graph, [*f.reads_of, *f.numbers_of], outputs)
            sizes = (len(f.reads_of), len(f.g), len(f.rate), *(len(block) for block in f.K))
            alike.setdefault((form, sizes), []).append((f, constants))
    return [*out, *(_of_form(*one) if len(one[1]) > 1 else one[1][0][0] for one in alike.items())]


def _of_form(key: tuple[Form, tuple[int, ...]], found: list[tuple[Family, list[float]]]) -> Family:
    form, (n_reads, n_first, n_rows, *blocks) = key
    graph, inputs, constants, outputs = with_constants_as_inputs(form)
    parts = np.cumsum([n_first, n_rows, n_rows, *blocks])
    g, rate, gamma, *K = (outputs[a:b] for a, b in zip([0, *parts[:-1]], parts, strict=True))
    numbers = [np.hstack([f.numbers, np.tile(np.array(own, dtype=float), (len(f.members), 1))]) for f, own in found]
    return Family(
        graph, inputs[:n_reads], [*inputs[n_reads:], *constants], g, rate, gamma, K,
        [number for f, _ in found for number in f.members], [names for f, _ in found for names in f.names],
        np.vstack([f.reads for f, _ in found]), np.vstack(numbers), np.vstack([f.targets for f, _ in found]),
    )  # fmt: skip


# --- places of rows and of their blocks: rows as in the table, blocks constraint after constraint
BODY, SPEED = 0, 1


class Links(NamedTuple):
    """Bodies and speeds that the constraints touch, constraint after constraint."""

    first: np.ndarray
    """(constraints + 1): where the links of a constraint begin."""
    kind: np.ndarray
    """(links): BODY or SPEED."""
    target: np.ndarray
    """(links): row of a body, 1 … nb; number of a speed, 0 … nv − 1."""
    at: np.ndarray
    """(links + 1): where the block of a link begins in K: rows of the constraint × 6 of a body, × 1 of a speed, row by row."""


class BodyBlocks(NamedTuple):
    """The rows of all blocks of bodies, link after link."""

    link: np.ndarray
    body: np.ndarray
    at: np.ndarray
    """The place in K where its six numbers begin."""
    row: np.ndarray
    """The row of the table."""


class KeptRows(NamedTuple):
    """Members of a family of which the same rows are kept."""

    family: Family
    which: np.ndarray
    """The members."""
    kept: list[int]
    """The rows."""
    places: dict[str, np.ndarray]
    """Places (members, numbers) of every answer."""


class RowLayout:
    """Rows in the order of the constraints, those of position first."""

    def __init__(self, families: Sequence[Family], names: list[str], labels: list[str], kept: Sequence[np.ndarray]) -> None:
        where = [(-1, -1)] * len(names)
        for f, family in enumerate(families):
            for member, constraint in enumerate(family.members):
                where[constraint] = f, member
        masks = [[tuple(np.flatnonzero(row).tolist()) for row in moves] for moves in kept]
        found = [c for c, (f, member) in enumerate(where) if masks[f][member]]
        self.names = [names[c] for c in found]
        """The constraints that have rows."""
        self.idle = {names[c]: families[f].bodies(member) for c, (f, member) in enumerate(where) if not masks[f][member]}
        """The others, and the bodies they touch."""
        rows: tuple[list[ConstraintRow], list[ConstraintRow]] = ([], [])
        local: list[list[tuple[bool, int]]] = []
        kind, target, size, n_links = list[int](), list[int](), list[int](), list[int]()
        parts: dict[tuple[int, tuple[int, ...]], list[tuple[int, int]]] = {}
        for place, c in enumerate(found):
            f, member = where[c]
            family, mask = families[f], masks[f][member]
            local.append([])
            for k in mask:
                of_speed = k >= len(family.g)
                local[-1].append((of_speed, len(rows[of_speed])))
                rows[of_speed].append(ConstraintRow(labels[c], family.names[member][k]))
            kind += [BODY if width == WIDE else SPEED for width in family.widths]
            size += [width * len(mask) for width in family.widths]
            target += family.targets[member].tolist()
            n_links.append(len(family.K))
            parts.setdefault((f, mask), []).append((place, member))
        self.n_holonomic = len(rows[0])
        self.rows = [*rows[0], *rows[1]]
        self.row_first = _starts([len(x) for x in local])
        """(constraints + 1): where the rows of a constraint begin in `row_of`."""
        self.row_of: np.ndarray = np.array([k + self.n_holonomic * of_speed for x in local for of_speed, k in x], dtype=np.int64)
        """The index in `rows` of every row, constraint after constraint."""
        self.links = Links(_starts(n_links), np.array(kind, dtype=np.int64), np.array(target, dtype=np.int64), _starts(size))
        m, n = len(self.rows), self.n_holonomic
        self.sizes = {"g": n, "rate": m, "gamma": m, "K": int(self.links.at[-1]), "speed": m - n}
        """Sizes of the answers; "speed": the rates of rows of speeds alone."""
        self.parts = [self._part(families[f], list(mask), *zip(*each, strict=True)) for (f, mask), each in parts.items()]

    def _part(self, family: Family, kept: list[int], places: Sequence[int], members: Sequence[int]) -> KeptRows:
        at = np.array(places, dtype=np.int64)
        rows = self.row_of[self.row_first[at][:, None] + np.arange(len(kept))]
        K = self.links.at[self.links.first[at]][:, None] + np.arange(len(kept) * sum(family.widths))
        n = sum(k < len(family.g) for k in kept)
        answers = {"g": rows[:, :n], "rate": rows, "gamma": rows, "K": K, "speed": rows[:, n:] - self.n_holonomic}
        return KeptRows(family, np.array(members, dtype=np.int64), kept, answers)

    def __len__(self) -> int:
        return len(self.rows)

    @cached_property
    def row_of_K(self) -> np.ndarray:
        """The row that every number in K belongs to."""
        links, k = self.rows_of(np.arange(len(self.links.kind)))
        rows = self.row_of[self.row_first[self.owner[links]] + k]
        return np.repeat(rows, np.where(self.links.kind[links] == BODY, WIDE, 1))

    @cached_property
    def angular_K(self) -> np.ndarray:
        """For every number in K, whether it belongs to an angular velocity."""
        sizes = np.diff(self.links.at)
        place = np.arange(self.links.at[-1]) - np.repeat(self.links.at[:-1], sizes)
        return np.repeat(self.links.kind == BODY, sizes) & (place % WIDE >= 3)

    @cached_property
    def owner(self) -> np.ndarray:
        """(links): the constraint a link belongs to."""
        return np.repeat(np.arange(len(self.names)), np.diff(self.links.first))

    @cached_property
    def blocks(self) -> BodyBlocks:
        links = np.flatnonzero(self.links.kind == BODY)
        which, k = self.rows_of(links)
        link = links[which]
        row = self.row_of[self.row_first[self.owner[link]] + k]
        return BodyBlocks(link, self.links.target[link], self.links.at[link] + WIDE * k, row)

    def rows_of(self, links: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Every link as often as its constraint has rows: which of `links`, and which row of the constraint."""
        sizes = np.diff(self.row_first)[self.owner[links]]
        which = np.repeat(np.arange(len(links)), sizes)
        return which, np.arange(len(which)) - np.repeat(np.cumsum(sizes) - sizes, sizes)


def _starts(sizes: Sequence[int]) -> np.ndarray:
    return np.concatenate([[0], np.cumsum(np.array(sizes, dtype=np.int64))]).astype(np.int64)
