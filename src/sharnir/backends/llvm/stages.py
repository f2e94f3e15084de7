"""Straight-line code cut into stages that fit the processor's instruction cache.

Each stage is run over some blocks of states before the next one, so that its code is fetched once for all of them;
what a later stage needs of an earlier one is spilled to memory, a slot for each value and block.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from ...trace import Graph

LENGTH = 1000
"""Operations in a stage: the best of 700 … 2000 when tried on ANYmal, Talos and Panda (Zen 3); the optimum is flat."""

STAGED = 4
"""Lanes up to which code is cut: with eight (Zen 4) what waits between stages takes twice the room, there are twice the
registers, and uncut code was faster by 0 … 30 % on every program of the same robots, by 50 % on derivatives; it compiles in half
the time."""

BLOCKS = 16
"""Blocks of states that go through a stage together: the best of 8, 16, 32 in the same trial."""


@dataclass(frozen=True)
class Plan:
    stages: list[list[int]]
    """Nodes of each stage, arguments first. Inputs belong to the first."""
    slots: dict[int, int]
    """Values that a later stage needs, and the slot each is spilled to."""
    blocks: int
    stored: list[list[int]]
    """For each stage, the sets of outputs that are complete by then and stored."""


def plan(graph: Graph, order: Sequence[int], early: Sequence[int], outputs: Sequence[Sequence[int]], several: bool) -> Plan:
    """Stages for the nodes of `order`; those in `early` come first. `outputs`: nodes that are stored together. One stage where
    `several` is false."""
    nodes = graph.nodes
    first = set(early)
    line = [*early, *(k for k in order if k not in first and nodes[k][0] != "const")]
    place = {k: n for n, k in enumerate(line)}
    last_use = dict(place)
    for k in line:
        if nodes[k][0] != "input":
            for a in nodes[k][1:]:
                if a in last_use:
                    last_use[a] = max(last_use[a], place[k])
    complete = [max((place[k] for k in together), default=0) for together in outputs]
    for together, at in zip(outputs, complete, strict=True):
        for k in together:
            last_use[k] = max(last_use[k], at)
    parts = max(1, round((len(line) - len(early)) / LENGTH)) if several else 1
    cuts = _cuts(line, place, last_use, parts, len(early))
    stages = [line[a:b] for a, b in pairwise(cuts)]
    slots = _slots(stages, cuts, last_use)
    stored = [[n for n, at in enumerate(complete) if a <= at < max(b, 1)] for a, b in pairwise(cuts)]  # all may be constant
    return Plan(stages, slots, BLOCKS if parts > 1 else 1, stored)


def _slots(stages: Sequence[Sequence[int]], cuts: Sequence[int], last_use: dict[int, int]) -> dict[int, int]:
    """A slot for every value that a later stage needs. A stage writes its values after it has read all others: slots of what
    it was the last to read are free for them."""
    slots: dict[int, int] = {}
    free: list[int] = []
    count = 0
    done: dict[int, list[int]] = {}
    for n, (stage, end) in enumerate(zip(stages, cuts[1:], strict=True)):
        free += done.pop(n, [])
        for k in stage:
            if end <= last_use[k] < cuts[-1]:
                if not free:
                    free.append(count)
                    count += 1
                slots[k] = free.pop()
                done.setdefault(bisect_right(cuts, last_use[k]) - 1, []).append(slots[k])
    return slots


def _cuts(line: Sequence[int], place: dict[int, int], last_use: dict[int, int], parts: int, start: int) -> list[int]:
    """Places to cut, each where the fewest values are alive within a quarter of a stage of where it should be."""
    change = [0] * (len(line) + 2)
    for k in line:
        change[place[k] + 1] += 1
        change[min(last_use[k], len(line)) + 1] -= 1
    alive, total = [], 0
    for step in change:
        total += step
        alive.append(total)
    length = (len(line) - start) / parts
    cuts = [0]
    for n in range(1, parts):
        middle, reach = start + n * length, length / 4
        cuts.append(min(range(int(middle - reach), int(middle + reach)), key=lambda at: alive[at]))
    return [*cuts, len(line)]
