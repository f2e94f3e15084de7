"""The graph of a mechanism: spanning tree, closing joints, orientation, proper numbering (docs/theory/structure.md)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from operator import attrgetter
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..errors import ModelError, brief, known, unknown
from ..types import IntArray
from .loop_cuts import edges_to_cut

if TYPE_CHECKING:
    from .placed_joint import PlacedJoint

NUMBERINGS = ("depth-first", "leaves-last")
MARKED = 1000
"""The rank of a joint that is to be cut."""


class Edge(NamedTuple):
    """The fields of a joint that the graph needs; a PlacedJoint has them too."""

    name: str
    parent: str
    child: str
    cut: bool | None = None


@dataclass(frozen=True, repr=False)
class SpanningTree:
    """A properly numbered spanning tree: `carriers[i]` carries body i by joint `joints[i]`; −1 is the base. That of a model is
    printed as a drawing."""

    bodies: tuple[int, ...]
    """Position of body i in the list the user made."""
    joints: tuple[int, ...]
    """Position of joint i in the list the user made."""
    carriers: tuple[int, ...]
    reversed: tuple[bool, ...]
    """Whether joint i was named from body i to its carrier."""
    closing: tuple[int, ...]
    """Joints that close loops, in the user's order."""
    drawing: Callable[[], str] | None = field(default=None, compare=False)
    """The tree with its names as text, of the model that it is of."""

    def __repr__(self) -> str:
        return self.drawing() if self.drawing else f"<SpanningTree of {len(self.bodies)} bodies>"


def check_numbering(rule: object) -> None:
    if not isinstance(rule, str) or rule not in NUMBERINGS:
        raise ModelError(unknown(f"numbering {brief(rule)}", rule, NUMBERINGS, "numberings"))


def spanning_tree(
    bodies: Sequence[str],
    ground: str,
    edges: Sequence[Edge | PlacedJoint],
    numbering: str = "depth-first",
    ranks: Callable[[], tuple[Sequence[int], Sequence[tuple[bool, bool]]]] | None = None,
    deformations: Mapping[int, int] | None = None,
) -> SpanningTree:
    """Orient the graph away from the base. In a loop the joint that is marked is cut, else the one that `edges_to_cut` finds
    (`loop_cuts.py`); `ranks`, its last two arguments, is called only where there may be loops. `deformations`: of flexible
    bodies, {body: its deformation}, which carries all that hangs on the body and is joined to it by the first of its joints."""
    check_numbering(numbering)
    n = len(bodies)
    node = {name: k for k, name in enumerate(bodies)}
    node[ground] = n
    nodes = (map(node.__getitem__, map(attrgetter(end), edges)) for end in ("parent", "child"))
    ends = np.stack([np.fromiter(x, dtype=np.int64, count=len(edges)) for x in nodes])
    order = _depth_first(n, ends)
    if len(order) < n:
        reached = set(order)
        loose = [name for k, name in enumerate(bodies) if k not in reached]
        raise ModelError(
            f"not connected to {ground!r}: {known(loose)}; join one of them to the rest, "
            f"or let it float: model.add_floating({loose[0]!r})"
        )
    closing = np.zeros(len(edges), dtype=bool)
    if len(edges) > n or any(map(attrgetter("cut"), edges)):  # else no joint closes a loop
        closing[_cuts(n, edges, ends, *(ranks() if ranks else ([0] * len(edges), [])))] = True
        order = _depth_first(n, ends[:, ~closing])
    tree = np.flatnonzero(~closing)
    number, carrier, joint = (np.empty(n + 1, dtype=np.int64) for _ in range(3))
    number[order], number[n] = np.arange(n), -1
    parent, child = ends[:, tree]
    outer = np.where(number[parent] > number[child], parent, child)  # of the two bodies the one that is carried
    carrier[outer], joint[outer] = parent + child - outer, tree
    for body, row in (deformations or {}).items():
        carrier[:n][(carrier[:n] == body) & (np.arange(n) != row)] = row
    if numbering == "leaves-last":
        order = _leaves_last(order, carrier.tolist())
        number[order] = np.arange(n)
    joints = joint[order]
    return SpanningTree(
        bodies=tuple(order),
        joints=tuple(joints.tolist()),
        carriers=tuple(number[carrier[order]].tolist()),
        reversed=tuple((ends[1, joints] != order).tolist()),
        closing=tuple(np.flatnonzero(closing).tolist()),
    )


def _cuts(
    base: int, edges: Sequence[Edge | PlacedJoint], ends: IntArray, ranks: Sequence[int], idle: Sequence[tuple[bool, bool]]
) -> list[int]:
    """Edges that are cut: marked ones, and one of every loop that is left."""
    marked = {k for k, edge in enumerate(edges) if edge.cut}
    cut = edges_to_cut(base + 1, base, ends, [MARKED if k in marked else rank for k, rank in enumerate(ranks)], idle)
    for k in sorted(marked.difference(cut)):
        raise ModelError(
            f"joint {edges[k].name!r} is marked cut=True but closes no loop: without it "
            f"{edges[k].child!r} would be disconnected; leave out cut"
        )
    return cut


def _depth_first(base: int, ends: IntArray) -> list[int]:
    """Bodies connected to the base in depth-first order."""
    node, other = ends.T.ravel(), ends[::-1].T.ravel()
    by_node = np.argsort(-node, kind="stable")[::-1]  # the neighbours of a node are adjacent, those of later joints first
    first = np.searchsorted(node[by_node], np.arange(base + 2)).tolist()
    neighbours = other[by_node].tolist()
    order, seen, stack = list[int](), bytearray(base + 1), [base]
    while stack:
        body = stack.pop()
        if not seen[body]:
            seen[body] = 1
            order.append(body)
            stack += neighbours[first[body] : first[body + 1]]
    return order[1:]


def _leaves_last(order: list[int], carrier: list[int]) -> list[int]:
    """The numbering of [I] §1: leaves get the largest free numbers, are cut off, and so on inward."""
    height = [0] * (len(order) + 1)  # of a body above the farthest leaf that it carries
    for body in reversed(order):
        height[carrier[body]] = max(height[carrier[body]], height[body] + 1)
    return sorted(order, key=lambda body: -height[body])


def path(carriers: Sequence[int], i: int) -> list[int]:
    """P_i: the joints on the path from the base to body i."""
    out = []
    while i >= 0:
        out.append(i)
        i = carriers[i]
    return out[::-1]


def children(carriers: Sequence[int], i: int) -> list[int]:
    """S_i: the joints whose carrier is body i (−1: the base)."""
    return [j for j, k in enumerate(carriers) if k == i]
