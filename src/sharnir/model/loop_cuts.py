"""Edges of a graph with loops that are left out of its spanning tree: a matter of the graph and of ranks, without mechanics.

Edges of high rank are left out before those of low rank (docs/theory/loops.md says what makes a rank). Where ranks are equal,
loops should be short and few of them pass through any one edge: the forces of a cut joint act along its whole loop, and an
elimination carries those of all loops through an edge at once. So Σ p² over the edges of the tree is to be small, p loops
passing through an edge; then the sum of the depths of all bodies, which puts the cut into the middle of a loop; then what was
added last is cut.

Branches that end in a leaf are on no loop. Chains of bodies with two joints become one *link*, of which one joint at most is cut.
Of the graph of links some spanning trees are made and the best is taken; the time grows with the number of links (times its
logarithm).
"""

from __future__ import annotations

from collections.abc import Sequence
from heapq import heappop, heappush
from typing import NamedTuple

import numpy as np

from ..types import IntArray

IDLE = 10
"""Reduction of the rank of a joint whose cut would leave a joint that moves nothing."""
RADII = (10**9, 1, 2)
"""How many links a part of the tree may grow at once: without limit, it is the tree of shortest paths from the base; with a
small one neighbours are joined first, then groups of neighbours, and so on, which keeps loops far from the base short."""
MOST_ROUNDS = 40


class Link(NamedTuple):
    """A chain of joints between two nodes that are the base or have three joints or more."""

    ends: tuple[int, int]
    joints: list[int]
    bodies: list[int]
    """Those between, one fewer than joints."""


class CutChoice(NamedTuple):
    """A link and the joints of it that may be cut, by their place in it."""

    rank: int
    places: list[int]
    last: int
    """The joint among them that was added last."""


def edges_to_cut(
    nodes: int, base: int, ends: IntArray, ranks: Sequence[int], idle: Sequence[tuple[bool, bool]] = ()
) -> list[int]:
    """Edges of a connected graph, in ascending order, without which it is a tree.

    ends    (2, m): the nodes of every edge
    ranks   of two edges of a loop the one of higher rank is cut
    idle    of every edge: whether it moves nothing where its first, or its second, node is all it carries; empty: none
    """
    links, carries = _links(nodes, base, ends)
    choices = [_choice(link, ends, ranks, idle, carries) for link in links]
    number = {base: 0}
    for link in links:
        for node in link.ends:
            number.setdefault(node, len(number))
    graph = _LinkGraph(len(number), [(number[a], number[b]) for (a, b), _, _ in links], links, choices)
    return sorted(graph.best())


def _links(nodes: int, base: int, ends: IntArray) -> tuple[list[Link], bytearray]:
    """All links, and which nodes carry branches that are on no loop."""
    first, second = ends.tolist()
    at: list[list[int]] = [[] for _ in range(nodes)]
    for k, (a, b) in enumerate(zip(first, second, strict=True)):
        at[a].append(k)
        at[b].append(k)
    degree = [len(x) for x in at]
    gone, carries = bytearray(len(first)), bytearray(nodes)
    leaves = [k for k in range(nodes) if degree[k] == 1 and k != base]
    while leaves:
        leaf = leaves.pop()
        for k in at[leaf]:
            if not gone[k]:
                gone[k], inner = 1, first[k] + second[k] - leaf
                carries[inner] = 1
                degree[inner] -= 1
                if degree[inner] == 1 and inner != base:
                    leaves.append(inner)
    out = list[Link]()
    for start in [base, *(k for k in range(nodes) if degree[k] > 2 and k != base)]:
        for k in at[start]:
            if gone[k]:
                continue
            joints, bodies, body = [k], list[int](), first[k] + second[k] - start
            gone[k] = 1
            while body != base and degree[body] == 2:
                bodies.append(body)
                k = next(j for j in at[body] if not gone[j])
                gone[k] = 1
                joints.append(k)
                body = first[k] + second[k] - body
            out.append(Link((start, body), joints, bodies))
    return out, carries


def _choice(link: Link, ends: IntArray, ranks: Sequence[int], idle: Sequence[tuple[bool, bool]], carries: bytearray) -> CutChoice:
    def is_idle(joint: int, body: int) -> bool:
        return not carries[body] and idle[joint][0 if ends[0, joint] == body else 1]

    joints, bodies = link.joints, link.bodies
    own = [ranks[j] for j in joints]
    for k in range(len(joints)) if idle else ():
        if (k and is_idle(joints[k - 1], bodies[k - 1])) or (k < len(bodies) and is_idle(joints[k + 1], bodies[k])):
            own[k] -= IDLE
    rank = max(own)
    places = [k for k, x in enumerate(own) if x == rank]
    return CutChoice(rank, places, max(joints[k] for k in places))


class _LinkGraph:
    """Node 0 is the base."""

    def __init__(self, n: int, ends: list[tuple[int, int]], links: list[Link], choices: list[CutChoice]) -> None:
        self.n, self.ends, self.links, self.choices = n, ends, links, choices
        self.lengths = [len(link.joints) for link in links]
        self.proper = [k for k, (a, b) in enumerate(ends) if a != b]
        """Links that are no loops by themselves."""

    def best(self) -> list[int]:
        """The joints to cut."""
        in_order = self._in_order()
        trees = [in_order]
        if len(in_order) < len(self.proper):  # else there is nothing to choose between links
            near = self._nodes_by_distance()
            trees += [self._grown(near, radius) for radius in RADII]
        evaluated = [self._evaluated(set(tree)) for tree in trees]
        return min(evaluated, key=lambda found: found[:2])[2]

    # --- candidates -----------------------------------------------------------------------------------------------------------
    def _in_order(self) -> list[int]:
        """A tree by Kruskal's algorithm, in the order in which the joints were added."""
        group, tree = list(range(self.n)), list[int]()
        for k in sorted(self.proper, key=lambda k: (self.choices[k].rank, self.choices[k].last)):
            a, b = (_root(group, x) for x in self.ends[k])
            if a != b:
                group[b] = a
                tree.append(k)
        return tree

    def _grown(self, seeds: list[int], radius: int) -> list[int]:
        """A tree grown around the nodes in turn; links of lower rank first."""
        group, tree = list(range(self.n)), list[int]()
        for rank in sorted({self.choices[k].rank for k in self.proper}):
            links = [k for k in self.proper if self.choices[k].rank == rank]
            for rounds in range(MOST_ROUNDS):
                at: dict[int, list[tuple[int, int]]] = {}
                for k in links:
                    a, b = (_root(group, x) for x in self.ends[k])
                    if a != b:
                        at.setdefault(a, []).append((k, b))
                        at.setdefault(b, []).append((k, a))
                if not at:
                    break
                grown = self._grown_once(at, [_root(group, x) for x in seeds], radius if rounds < MOST_ROUNDS - 1 else RADII[0])
                for k in grown:
                    a, b = (_root(group, x) for x in self.ends[k])
                    group[b] = a
                tree += grown
        return tree

    def _grown_once(self, at: dict[int, list[tuple[int, int]]], seeds: list[int], radius: int) -> list[int]:
        """Links that join groups around the seeds. `at`: links from every group of nodes to others."""
        tree, seen = list[int](), set[int]()
        for seed in seeds:
            front = [(0, 0, 0, -1, seed)] if seed in at else []  # distance, last joint, links, link, group
            while front:
                distance, _, hops, link, here = heappop(front)
                if here in seen:
                    continue
                seen.add(here)
                if link >= 0:
                    tree.append(link)
                if hops < radius:
                    for k, there in at[here]:
                        if there not in seen:
                            heappush(front, (distance + self.lengths[k], self.choices[k].last, hops + 1, k, there))
        return tree

    def _nodes_by_distance(self) -> list[int]:
        """Nodes by their distance from the base, counted in links."""
        at = self._neighbours(self.proper)
        order, seen = [0], {0}
        for here in order:
            for _, there in at[here]:
                if there not in seen:
                    seen.add(there)
                    order.append(there)
        return order

    def _neighbours(self, links: Sequence[int]) -> list[list[tuple[int, int]]]:
        at: list[list[tuple[int, int]]] = [[] for _ in range(self.n)]
        for k in links:
            a, b = self.ends[k]
            at[a].append((k, b))
            at[b].append((k, a))
        return at

    # --- their cost -----------------------------------------------------------------------------------------------------------
    def _evaluated(self, tree: set[int]) -> tuple[int, int, list[int]]:
        """Σ p², the sum of the depths of all bodies on loops, and the joints to cut."""
        at = self._neighbours(sorted(tree))
        parent, above, depth, order = [-1] * self.n, [-1] * self.n, [0] * self.n, [0]
        for here in order:
            for k, there in at[here]:
                if k != above[here]:
                    parent[there], above[there], depth[there] = here, k, depth[here] + self.lengths[k]
                    order.append(there)
        out = [k for k in range(len(self.links)) if k not in tree]
        passing = self._passing(parent, order, [self.ends[k] for k in out])
        squares = sum(self.lengths[above[x]] * passing[x] ** 2 for x in order[1:])
        total = sum(depth[x] + _ramp(depth[parent[x]], self.lengths[above[x]] - 1) for x in order[1:])
        cut = list[int]()
        for k in out:
            (a, b), joints = self.ends[k], self.links[k].joints
            more = len(joints) - 1
            sums, joint = min((_ramp(depth[a], x) + _ramp(depth[b], more - x), -joints[x]) for x in self.choices[k].places)
            squares, total = squares + more, total + sums
            cut.append(-joint)
        return squares, total, cut

    def _passing(self, parent: list[int], order: list[int], pairs: list[tuple[int, int]]) -> list[int]:
        """How many of the paths between the nodes of pairs pass through the link above each node."""
        up = [np.array([max(x, 0) for x in parent])]
        level = np.zeros(self.n, dtype=np.int64)
        for x in order[1:]:
            level[x] = level[parent[x]] + 1
        while (1 << len(up)) <= int(level.max(initial=0)):
            up.append(up[-1][up[-1]])
        a, b = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
        low, high = np.where(level[a] >= level[b], a, b), np.where(level[a] >= level[b], b, a)
        for k, ancestor in enumerate(up):
            low = np.where((level[low] - level[high]) >> k & 1, ancestor[low], low)
        for ancestor in reversed(up):
            apart = ancestor[low] != ancestor[high]
            low, high = np.where(apart, ancestor[low], low), np.where(apart, ancestor[high], high)
        common = np.where(low == high, low, up[0][low])
        count = np.bincount(a, minlength=self.n) + np.bincount(b, minlength=self.n) - 2 * np.bincount(common, minlength=self.n)
        passing: list[int] = count.tolist()
        for x in reversed(order[1:]):
            passing[parent[x]] += passing[x]
        return passing


def _ramp(depth: int, bodies: int) -> int:
    """The sum of the depths of a chain of bodies carried by one of that depth."""
    return bodies * depth + bodies * (bodies + 1) // 2


def _root(group: list[int], x: int) -> int:
    while group[x] != x:
        group[x] = x = group[group[x]]
    return x
