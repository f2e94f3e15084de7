"""The graph of a mechanism: spanning tree, closing joints, orientation, proper numbering (docs/theory/structure.md)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..errors import ModelError, known

NUMBERINGS = ("depth-first", "leaves-last")


@dataclass(frozen=True)
class Edge:
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
    order = sorted(range(len(edges)), key=lambda k: (edges[k].cut, edges[k].rank, k))
    group = {name: name for name in (ground, *bodies)}

    def root(name: str) -> str:
        while group[name] != name:
            group[name] = group[group[name]]
            name = group[name]
        return name

    tree: list[int] = []
    closing: list[int] = []
    for k in order:  # Kruskal
        a, b = root(edges[k].parent), root(edges[k].child)
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
    loose = [name for name in bodies if root(name) != root(ground)]
    if loose:
        raise ModelError(
            f"not connected to {ground!r}: {known(loose)}; join one of them to the rest, "
            f"or let it float: model.add_floating({loose[0]!r})"
        )
    return _number(list(bodies), ground, edges, sorted(tree), tuple(sorted(closing)), numbering)


def _number(
    bodies: list[str], ground: str, edges: Sequence[Edge], tree: list[int], closing: tuple[int, ...], numbering: str
) -> Tree:
    neighbours: dict[str, list[tuple[str, int]]] = {name: [] for name in (ground, *bodies)}
    for k in tree:
        neighbours[edges[k].parent].append((edges[k].child, k))
        neighbours[edges[k].child].append((edges[k].parent, k))
    carrier: dict[str, tuple[str, int]] = {}
    order: list[str] = []
    stack = [ground]
    while stack:  # depth first: subtrees stay together
        body = stack.pop()
        if body != ground:
            order.append(body)
        for other, k in reversed(neighbours[body]):
            if other != ground and other not in carrier and carrier.get(body, ("", -1))[0] != other:
                carrier[other] = (body, k)
                stack.append(other)
    if numbering == "leaves-last":
        order = _leaves_last(order, {b: carrier[b][0] for b in order})
    elif numbering != "depth-first":
        raise ModelError(f"unknown numbering {numbering!r}; choose from {known(NUMBERINGS)}")
    number = {body: i for i, body in enumerate(order)}
    number[ground] = -1
    position = {name: k for k, name in enumerate(bodies)}
    joints = tuple(carrier[b][1] for b in order)
    return Tree(
        bodies=tuple(position[b] for b in order),
        joints=joints,
        carriers=tuple(number[carrier[b][0]] for b in order),
        reversed=tuple(edges[k].child != b for k, b in zip(joints, order, strict=True)),
        closing=closing,
    )


def _leaves_last(order: list[str], carrier: dict[str, str]) -> list[str]:
    """The numbering of [I] §1: leaves get the largest free numbers, are cut off, and so on inward."""
    left, out = list(order), list[str]()
    while left:
        bearing = {carrier[b] for b in left}
        leaves = [b for b in left if b not in bearing]
        out = leaves + out
        left = [b for b in left if b in bearing]
    return out


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
