"""The order in which unknowns that several bodies share are eliminated: found once for a structure, integers only.

Separate bodies are folded inward, each into its carrier. The speed of coupled joints and the multipliers of a constraint act on
several bodies: they travel inward with them, as columns beside the inertia of the body, up to the lowest body that carries
everything they act on, and are eliminated there. What they all act on is the base; the order there, and among those that
leave at one body, is that of least degree. `kernels/shared_unknowns.py` works through the lists written here;
docs/theory/solving.md (D7).
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from ..types import IntArray, integers, starts


@dataclass(frozen=True)
class Link:
    """A body (row of the structure, from 1) or a speed that a constraint acts on; `at`: its first number in K."""

    number: int
    at: int


@dataclass(frozen=True)
class Block:
    """The rows of one constraint."""

    rows: tuple[int, ...]
    """Numbers of its multipliers."""
    bodies: tuple[Link, ...]
    speeds: tuple[Link, ...] = ()
    internal: bool = False
    """Whether it concerns only how its bodies move relative to each other, so that it may leave where they are all carried."""


class Shared(NamedTuple):
    """The lists, as `kernels.tree.Tree` has them."""

    unknown_of: IntArray
    left: IntArray
    unknown: IntArray
    multiplier: IntArray
    number: IntArray
    panel: IntArray
    width: IntArray
    later_of: IntArray
    later: IntArray
    held_of: IntArray
    held: IntArray
    column: IntArray
    axis_row: IntArray
    pair_of_node: IntArray
    pair_of_body: IntArray
    pair: IntArray
    on_body: IntArray
    on_speed: IntArray
    on_elastic: IntArray
    elastic_pair: IntArray


@dataclass
class _Node:
    """An unknown, or the block of a constraint's multipliers."""

    size: int
    numbers: tuple[int, ...]
    block: Block | None
    leaves_at: int = 0
    """The body where it is eliminated."""
    meets: set[int] = field(default_factory=set)
    """Nodes it has common equations with, not yet eliminated."""
    later: list[int] = field(default_factory=list)
    """Those nodes at the time it is eliminated."""


def shared_unknowns(
    carrier: IntArray, first: IntArray, speed: IntArray, blocks: Sequence[Block] = (), deformed: Sequence[int] | IntArray = ()
) -> Shared:
    """`carrier`, `first`, `speed`, `deformed` as in kernels.tree.Tree."""
    if not blocks and not len(deformed) and (not len(speed) or len(np.unique(speed)) == len(speed)):
        return _nothing(len(carrier) - 1, len(speed))
    return _Search(carrier, first, speed, blocks, [int(i) for i in deformed]).lists()


class _Search:
    def __init__(
        self, carrier: IntArray, first: IntArray, speed: IntArray, blocks: Sequence[Block], deformed: Sequence[int]
    ) -> None:
        self.carrier, self.first, self.speed = carrier.tolist(), first.tolist(), speed.tolist()
        self.nb = len(self.carrier) - 1
        self.depth = [0] * (self.nb + 1)
        for i in range(1, self.nb + 1):
            self.depth[i] = self.depth[self.carrier[i]] + 1
        owner = np.repeat(np.arange(self.nb + 1), np.diff(first)).tolist()
        self.axes: dict[int, list[int]] = {}
        """The axes that every speed drives."""
        for a, s in enumerate(self.speed):
            self.axes.setdefault(s, []).append(a)
        self.owner = owner
        self.deformed = deformed
        elastic = {self.speed[a] for i in deformed for a in range(self.first[i], self.first[i + 1])}
        shared = (s for s, axes in self.axes.items() if len(axes) > 1 or s in elastic)
        self.coupled = {s: k for k, s in enumerate(shared)}
        self.nodes = [_Node(1, (s,), None) for s in self.coupled]
        self.nodes += [_Node(len(b.rows), b.rows, b) for b in blocks]
        self.at: list[set[int]] = [set() for _ in range(self.nb + 1)]
        """Nodes that travel with every body."""
        self.held: list[list[int]] = [[] for _ in range(self.nb + 1)]
        self.order: list[int] = []
        self.left = [0] * (self.nb + 2)
        self._place()
        self._eliminate()

    # --- where an unknown leaves --------------------------------------------------------------------------------------------
    def _place(self) -> None:
        for k, node in enumerate(self.nodes):
            if node.block is None:
                bodies = [self.owner[a] for a in self.axes[node.numbers[0]]]
                for i in bodies:
                    self.at[i].add(k)
                node.leaves_at = self._common([self.carrier[i] for i in bodies])
                continue
            b = node.block
            ends = [link.number for link in b.bodies]
            for link in b.bodies:
                self.at[link.number].add(k)
            for link in b.speeds:
                if link.number in self.coupled:
                    other = self.coupled[link.number]
                    node.meets.add(other)
                    self.nodes[other].meets.add(k)
                for a in self.axes[link.number]:
                    self.at[self.owner[a]].add(k)
                    ends.append(self.carrier[self.owner[a]])
            node.leaves_at = self._after_speeds(ends) if b.internal and len(ends) > 1 else 0

    def _after_speeds(self, ends: Sequence[int]) -> int:
        """Body where a constraint between those bodies may leave: their common carrier, or that of the last of the coupled speeds
        that move them relative to it. Before those are eliminated they have left nothing on its diagonal."""
        top = self._common(ends)
        places, seen = [top], {top}
        for i in ends:
            while i not in seen:
                seen.add(i)
                speeds = (self.speed[a] for a in range(self.first[i], self.first[i + 1]))
                places += [self.nodes[self.coupled[s]].leaves_at for s in speeds if s in self.coupled]
                i = self.carrier[i]
        return self._common(places)

    def _common(self, bodies: Iterable[int]) -> int:
        """The lowest body that carries all of them, itself included."""
        found, *others = bodies
        for i in others:
            while i != found:
                if self.depth[i] > self.depth[found]:
                    i = self.carrier[i]
                else:
                    found = self.carrier[found]
        return found

    # --- the order ----------------------------------------------------------------------------------------------------------
    def _eliminate(self) -> None:
        for i in range(self.nb, -1, -1):
            here = self.at[i]
            self._leave(i, here if i else {k for k, node in enumerate(self.nodes) if node.leaves_at == 0})
            if i == 0:
                break
            if here:  # its axes couple all that is left
                for k in here:
                    self.nodes[k].meets |= here
                    self.nodes[k].meets.discard(k)
                if self.carrier[i]:
                    self.at[self.carrier[i]] |= here
            self.held[i] += here

    def _leave(self, i: int, here: set[int]) -> None:
        """Eliminate the nodes that leave at body i, those of least degree first."""
        nodes = self.nodes
        leaving = {k for k in here if nodes[k].leaves_at == i}

        def degree(k: int) -> int:
            return sum(nodes[m].size for m in nodes[k].meets)

        # multipliers come last: until the speeds are eliminated nothing stands on their diagonal
        queue = [(nodes[k].block is not None, degree(k), k) for k in leaving]
        heapq.heapify(queue)
        while queue:
            kind, d, k = heapq.heappop(queue)
            if k not in leaving:
                continue
            if (now := degree(k)) != d:
                heapq.heappush(queue, (kind, now, k))
                continue
            leaving.discard(k)
            node = nodes[k]
            node.later = list(node.meets)
            for m in node.later:
                other = nodes[m].meets
                other |= node.meets
                other.discard(m)
                other.discard(k)
                if m in leaving:
                    heapq.heappush(queue, (nodes[m].block is not None, degree(m), m))
            if i:
                here |= node.meets
                here.discard(k)
                self.held[i].append(k)
            self.order.append(k)
        self.left[i] = len(self.order)

    # --- the lists ----------------------------------------------------------------------------------------------------------
    def lists(self) -> Shared:
        nodes, place = [self.nodes[k] for k in self.order], {k: p for p, k in enumerate(self.order)}
        size = [node.size for node in nodes]
        unknown = starts(size)
        for node in nodes:
            node.later = sorted(place[k] for k in node.later)
        held = [sorted(place[k] for k in some) for some in self.held]
        slot = [_offsets(some, size) for some in held]
        columns = [_offsets(node.later, size, node.size) for node in nodes]
        width = [node.size + sum(size[m] for m in node.later) for node in nodes]
        panel = starts([w * n for w, n in zip(width, size, strict=True)])
        later = [
            (m, columns[p][m], slot[node.leaves_at][m] if node.leaves_at else 0)
            for p, node in enumerate(nodes)
            for m in node.later
        ]
        rest = [[m for m in some if m >= self.left[i]] for i, some in enumerate(held)]
        onward = [
            (m, slot[i][m], slot[self.carrier[i]][m] if self.carrier[i] else 0) for i in range(self.nb + 1) for m in rest[i]
        ]

        def pairs(some: Sequence[int]) -> list[int]:
            """The place in its panel of every block of the clique, row by row."""
            return [int(panel[a]) + (0 if a == b else columns[a][b]) for x, a in enumerate(some) for b in some[x:]]

        of_node, of_body = [pairs(node.later) for node in nodes], [pairs(some) for some in rest]
        column = starts([sum(size[m] for m in some) for some in held])
        axis_row, at = [], 0
        for a, i in enumerate(self.owner):
            axis_row.append(at)
            at += sum(size[m] for m in rest[i]) if self.speed[a] not in self.coupled else 0
        unknown_of = [place[self.coupled[s]] if s in self.coupled else -1 for s in self.speed]
        on_elastic, elastic_pair = [], []
        for i in self.deformed:
            unknowns = unknown_of[self.first[i] : self.first[i + 1]]
            on_elastic += [int(column[i]) + slot[i][p] for p in unknowns]
            elastic_pair += [
                int(panel[p]) + (0 if p == o else columns[p][o]) if p <= o else -1 for p in unknowns for o in unknowns
            ]
        on_body, on_speed = [], []
        for p, node in enumerate(nodes):
            for link in node.block.bodies if node.block else ():
                on_body.append((p, link.number, int(column[link.number]) + slot[link.number][p], link.at))
            for link in node.block.speeds if node.block else ():
                s = link.number
                if s in self.coupled:
                    other = place[self.coupled[s]]
                    first, stride = (
                        (int(panel[other]) + columns[other][p], 1) if other < p else (int(panel[p]) + columns[p][other], width[p])
                    )
                    on_speed.append((p, self.axes[s][0], 1, first, stride, link.at))
                else:
                    (a,) = self.axes[s]
                    i = self.owner[a]
                    gone = int(unknown[self.left[i]] - unknown[self.left[i + 1]])
                    on_speed.append((p, a, 0, axis_row[a] + slot[i][p] - gone, 1, link.at))
        return Shared(
            integers(unknown_of), integers(self.left), unknown, integers([int(node.block is not None) for node in nodes]),
            integers([n for node in nodes for n in node.numbers]), panel, integers(width),
            starts([len(node.later) for node in nodes]), integers(later).reshape(-1, 3),
            starts([len(some) for some in rest]), integers(onward).reshape(-1, 3), column, integers([*axis_row, at]),
            starts([len(x) for x in of_node]), starts([len(x) for x in of_body]) + sum(map(len, of_node)),
            integers([x for some in (of_node, of_body) for one in some for x in one]),
            integers(on_body).reshape(-1, 4), integers(on_speed).reshape(-1, 6), integers(on_elastic), integers(elastic_pair),
        )  # fmt: skip


def _offsets(some: Sequence[int], size: Sequence[int], start: int = 0) -> dict[int, int]:
    out = {}
    for m in some:
        out[m] = start
        start += size[m]
    return out


def _nothing(bodies: int, axes: int) -> Shared:
    """Empty lists for every body and axis of a tree in which nothing is shared."""

    def zeros(*shape: int) -> IntArray:
        return np.zeros(shape, dtype=np.int64)

    of_bodies = zeros(bodies + 2)
    return Shared(
        np.full(axes, -1), of_bodies, zeros(1), zeros(0), zeros(0), zeros(1), zeros(0), zeros(1), zeros(0, 3), of_bodies,
        zeros(0, 3), of_bodies, zeros(axes + 1), zeros(1), of_bodies, zeros(0), zeros(0, 4), zeros(0, 6), zeros(0), zeros(0),
    )  # fmt: skip


def sizes_of(shared: Shared) -> dict[str, int]:
    """Values of the names in the shapes of `kernels.shared_unknowns.SharedWork`."""

    ends = {"nsx": shared.unknown, "nsb": shared.column, "nse": shared.axis_row, "nsd": shared.panel}
    return {name: int(x[-1]) for name, x in ends.items()}
