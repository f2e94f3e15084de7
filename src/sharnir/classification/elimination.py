"""Elimination by structure alone: what a factorisation of each form stores and multiplies, and how that grows with the model.

A form is a graph of blocks, one for each body or joint and one for each constraint. Blocks are eliminated from the leaves to the
base, a constraint after the last of its joints; nothing is known of the numbers in them.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import log2
from typing import NamedTuple

from ..forms.banded import joints_that_meet
from ..forms.constraint_rows import traced_constraints
from ..model.model import Model
from ..model.topology import path

LARGEST = 480
"""Bodies of the largest model whose growth is counted."""


class Skeleton(NamedTuple):
    """A model of which only its graph is known."""

    carriers: Sequence[int]
    freedoms: Sequence[int]
    loops: Sequence[tuple[frozenset[int], int]]
    """Joints that each constraint feels, and its number of rows."""

    def repeated(self, copies: int) -> Skeleton:
        """As many copies, each hung on the outermost body of the one before."""
        N = len(self.carriers)
        outermost = max(range(N), key=lambda i: len(path(self.carriers, i)))
        carriers = [k + c * N if k >= 0 else outermost + (c - 1) * N if c else -1 for c in range(copies) for k in self.carriers]
        loops = [(frozenset(i + c * N for i in joints), rows) for c in range(copies) for joints, rows in self.loops]
        return Skeleton(carriers, [*self.freedoms] * copies, loops)


class Cost(NamedTuple):
    """Numbers in the factors, how many of them are fill-in, and multiplications to find them."""

    entries: int
    fill: int
    multiplications: int


def skeleton(model: Model) -> Skeleton:
    s, carriers = model.structure, model.parents
    loops = []
    cut = {joint.name for joint in model.closing_joints}
    for name, one in traced_constraints(model).items():
        bodies, joints = set[int](), set[int]()
        for kind, k in one.keys:
            if kind in ("r", "G", "velocity"):
                bodies.add(k // {"r": 3, "G": 9, "velocity": 6}[kind] - 1)
            elif kind in ("q", "v"):
                first = s.q_first if kind == "q" else s.v_first
                joints.add(max(i for i in range(s.nb) if first[i + 1] <= k))
        ways = [set(path(carriers, i)) for i in bodies if i >= 0]
        inside = name in cut and len(ways) == len(bodies) > 1  # it does not feel a motion that both its bodies share
        shared = set.intersection(*ways) if inside else set()
        loops.append((frozenset(joints.union(*ways) - shared), one.n_rows))
    return Skeleton(carriers, [s.v_slice(i + 1).stop - s.v_slice(i + 1).start for i in range(s.nb)], loops)


def blocks(form: str, s: Skeleton) -> tuple[list[int], list[set[int]]]:
    """Sizes of the blocks of a form, bodies first, then constraints; and with which others each meets."""
    k = s.carriers
    size = {"lagrange1": 6, "lagrange1-full": 12, "extended": 12, "maggi": 6, "lagrange2": 0}[form]
    sign = {"lagrange1": -1, "lagrange1-full": -1, "extended": 1, "maggi": 0, "lagrange2": 1}[form]
    sizes = [size + sign * n for n in s.freedoms]
    meets = [set(path(k, i)) - {i} if form in ("maggi", "lagrange2") else {k[i]} - {-1} for i in range(len(k))]
    on_one_body = joints_that_meet(k) if form == "lagrange1" else []
    for i, j in on_one_body:
        meets[j].add(i)
    for joints, rows in s.loops:
        near = set(joints)
        if on_one_body:  # with all joints on a body that a joint of the loop moves
            moved = joints | {k[i] for i in joints}
            near |= {i for pair in on_one_body for i in pair if moved & {k[pair[0]], pair[0]} & {k[pair[1]], pair[1]}}
        sizes.append(rows)
        meets.append(near)
    return sizes, meets


def eliminated(form: str, s: Skeleton) -> Cost:
    """The cost of a factorisation of the form, blocks counted as full."""
    sizes, meets = blocks(form, s)
    N = len(s.carriers)
    when = [float(-i) for i in range(N)] + [0.5 - min(joints, default=0) for joints, _ in s.loops]
    rank = {v: place for place, v in enumerate(sorted(range(len(sizes)), key=lambda v: when[v]))}
    later: list[set[int]] = [set() for _ in sizes]
    for v, near in enumerate(meets):
        for u in near:
            first, second = (v, u) if rank[v] < rank[u] else (u, v)
            later[first].add(second)
    before = [set(x) for x in later]
    entries = fill = multiplications = 0
    for v in sorted(rank, key=lambda v: rank[v]):
        others = sum(sizes[u] for u in later[v])
        entries += sizes[v] * (sizes[v] + 1) // 2 + sizes[v] * others
        multiplications += sum((others + a) * (others + a + 1) // 2 for a in range(sizes[v]))
        fill += sizes[v] * sum(sizes[u] for u in later[v] - before[v])
        if later[v]:
            heir = min(later[v], key=lambda u: rank[u])
            later[heir] |= later[v] - {heir}
    return Cost(entries, fill, multiplications)


def growth(form: str, s: Skeleton) -> tuple[float, float] | None:
    """Exponents p with which entries and multiplications grow as Nᵖ, where the model is repeated; None where it is too large."""
    copies = min(16, LARGEST // max(len(s.carriers), 1))
    if copies < 4:
        return None
    small, large = (eliminated(form, s.repeated(c)) for c in (copies // 2, copies // 2 * 2))
    return log2(large.entries / small.entries), log2(large.multiplications / small.multiplications)
