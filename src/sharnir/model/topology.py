"""The graph of a mechanism: spanning tree, closing joints, orientation, proper numbering (docs/theory/structure.md)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..errors import ModelError, known

NUMBERINGS = ("depth-first", "leaves-last")


class Edge(NamedTuple):
    """A joint as the graph sees it."""

    name: str
    parent: str
    child: str
    cut: bool = False
    rank: int = 0
    """Of several joints in a loop the one of highest rank is cut."""


@dataclass(frozen=True)
class Tree:
    """A properly numbered spanning tree: body i hangs on `carriers[i]` by joint `joints[i]`; −1 is the base."""

    bodies: tuple[int, ...]
    """Position of body i in the list the user made."""
    joints: tuple[int, ...]
    """Position of joint i in the list the user made."""
    carriers: tuple[int, ...]
    reversed: tuple[bool, ...]
    """Whether joint i was named from body i to its carrier."""
    closing: tuple[int, ...]
    """Joints that close loops, in the user's order."""


def spanning_tree(bodies: Sequence[str], ground: str, edges: Sequence[Edge], numbering: str = "depth-first") -> Tree:
    """Orient the graph away from the base. In a loop the joint that is marked is cut, else the one of highest rank, of
    equals the last."""
    if numbering not in NUMBERINGS:
        raise ModelError(f"unknown numbering {numbering!r}; choose from {known(NUMBERINGS)}")
    node = {name: k for k, name in enumerate(bodies)}
    node[ground] = len(bodies)
    parent, child = [node[e.parent] for e in edges], [node[e.child] for e in edges]
    tree, closing = _kruskal(len(bodies) + 1, edges, parent, child)
    ends = np.array([parent, child], dtype=np.int64)
    order, carrier, joint = _depth_first(len(bodies), np.array(sorted(tree), dtype=np.int64), ends)
    if len(order) < len(bodies):
        reached = set(order)
        loose = [name for k, name in enumerate(bodies) if k not in reached]
        raise ModelError(
            f"not connected to {ground!r}: {known(loose)}; join one of them to the rest, "
            f"or let it float: model.add_floating({loose[0]!r})"
        )
    if numbering == "leaves-last":
        order = _leaves_last(order, carrier)
    position = np.array(order, dtype=np.int64)
    number = np.empty(len(bodies) + 1, dtype=np.int64)
    number[position] = np.arange(len(bodies))
    number[-1] = -1
    joints = np.array(joint, dtype=np.int64)[position]
    return Tree(
        bodies=tuple(order),
        joints=tuple(joints.tolist()),
        carriers=tuple(number[np.array(carrier, dtype=np.int64)[position]].tolist()),
        reversed=tuple((ends[1, joints] != position).tolist()),
        closing=tuple(sorted(closing)),
    )


def _kruskal(nodes: int, edges: Sequence[Edge], parent: list[int], child: list[int]) -> tuple[list[int], list[int]]:
    """Edges of a spanning forest, those of lowest rank, and the others."""
    group = list(range(nodes))  # nodes that hang together lead to the same root
    tree, closing = list[int](), list[int]()
    for k in np.lexsort(([e.rank for e in edges], [e.cut for e in edges])).tolist():
        a, b = parent[k], child[k]
        while group[a] != a:
            group[a] = a = group[group[a]]
        while group[b] != b:
            group[b] = b = group[group[b]]
        if a == b:
            closing.append(k)
            continue
        if edges[k].cut:
            raise ModelError(
                f"joint {edges[k].name!r} is marked cut=True but closes no loop: without it "
                f"{edges[k].child!r} would fall off; leave out cut"
            )
        group[b] = a
        tree.append(k)
    return tree, closing


def _depth_first(base: int, tree: np.ndarray, ends: np.ndarray) -> tuple[list[int], list[int], list[int]]:
    """Bodies that hang on the base, subtrees kept together; for every body its carrier and its joint."""
    node, other = ends[:, tree].T.ravel(), ends[::-1, tree].T.ravel()
    by_node = np.argsort(node, kind="stable")  # the neighbours of a node stand together, in the order of their joints
    first = np.searchsorted(node[by_node], np.arange(base + 2)).tolist()
    neighbour, by = other[by_node].tolist(), np.repeat(tree, 2)[by_node].tolist()
    order, carrier, joint = list[int](), [-1] * base, [-1] * base
    stack = [base]
    while stack:
        body = stack.pop()
        order.append(body)
        above = carrier[body] if body != base else -1
        for k in range(first[body + 1] - 1, first[body] - 1, -1):
            below = neighbour[k]
            if below != above:
                carrier[below], joint[below] = body, by[k]
                stack.append(below)
    return order[1:], carrier, joint


def _leaves_last(order: list[int], carrier: list[int]) -> list[int]:
    """The numbering of [I] §1: leaves get the largest free numbers, are cut off, and so on inward."""
    height = [0] * (len(order) + 1)  # of a body above the farthest leaf it carries: when its turn comes
    for body in reversed(order):
        height[carrier[body]] = max(height[carrier[body]], height[body] + 1)
    return sorted(order, key=lambda body: -height[body])


def path(carriers: Sequence[int], i: int) -> list[int]:
    """P_i: the joints on the way from the base to body i."""
    out = []
    while i >= 0:
        out.append(i)
        i = carriers[i]
    return out[::-1]


def children(carriers: Sequence[int], i: int) -> list[int]:
    """S_i: the joints whose carrier is body i (−1: the base)."""
    return [j for j, k in enumerate(carriers) if k == i]
