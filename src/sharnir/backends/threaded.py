"""One state of a large model shared by threads: the tree divided into parts, the stages of a program bound to each part."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..dialect.arithmetic import Options
from ..dialect.cache import Cache
from ..dialect.native import Loop, Native
from ..dialect.storage import allocate
from ..model.per_structure import per_structure
from ..model.structure import Structure
from ..programs.kernels.parallel import BodyRanges
from ..programs.program import Program
from ..programs.sharing import BODIES, ONCE, SHARING, TRUNK, Sharing, Stage
from ..types import IntArray

# --- a tree divided among threads: a trunk near the base, and parts of roughly equal size, none of which touches another
PARTS = (8, 4, 2, 1)
"""Parts for each thread that are tried: more of them balance better, but make the trunk larger."""


class Division(NamedTuple):
    trunk: IntArray
    """(n, 2): bodies from the first to before the second, ascending."""
    parts: list[IntArray]
    """Ranges of bodies of every part, the largest part first."""

    def time(self, threads: int) -> float:
        """Time on so many threads, each taking the next part when it has finished one, relative to one thread."""
        busy, trunk, total = [0] * threads, size_of(self.trunk), 0
        for part in map(size_of, self.parts):
            total += part
            busy[busy.index(min(busy))] += part
        return (trunk + max(busy)) / max(trunk + total, 1)


def size_of(rows: IntArray) -> int:
    return int((rows[:, 1] - rows[:, 0]).sum())


def divide(carrier: IntArray, threads: int) -> Division:
    """The division of a tree that takes so many threads the least time."""
    n = len(carrier)
    size = subtree_sizes(carrier)
    end = np.arange(n) + size
    if (end > end[carrier]).any():  # bodies are numbered leaves-last: subtrees are not contiguous
        return Division(np.array([[1, n]]), [])
    divisions = [_divide(carrier, size, max(1, n // (parts * threads))) for parts in PARTS]
    return min(divisions, key=lambda division: division.time(threads))


def _divide(carrier: IntArray, size: IntArray, limit: int) -> Division:
    """The division with at most `limit` bodies carried by one body of the trunk."""
    heavy = size - 1 > limit
    heavy[0] = True
    whole = (carrier == 0) & ~heavy
    trunk = (heavy | heavy[carrier]) & ~whole
    trunk[0] = False
    low = np.sort(np.concatenate([np.flatnonzero(whole), np.flatnonzero(trunk & ~heavy & (size > 1)) + 1]))
    root = np.where(whole[low], low, low - 1)
    return Division(_runs(trunk), _gathered(low, root + size[root], max(1, limit // 2)))


def subtree_sizes(carrier: IntArray) -> IntArray:
    """Bodies in the subtree of each body, itself included."""
    size, carriers = [1] * len(carrier), carrier.tolist()
    for i in range(len(carriers) - 1, 0, -1):
        size[carriers[i]] += size[i]
    return np.array(size, dtype=np.int64)


def bands(n: int, threads: int) -> list[IntArray]:
    """Bodies 1 … n in parts of equal numbers: two bands each, as far from the first body as from the last, so that parts take
    equally long where the work of a body grows along the tree."""
    count = max(1, min(4 * threads, n // 2))
    edges = np.linspace(1, n + 1, 2 * count + 1).astype(np.int64)
    rows = np.column_stack([edges[:-1], edges[1:]])
    return [rows[[k, 2 * count - 1 - k]] for k in range(count)]


def _runs(inside: np.ndarray) -> IntArray:
    """Ranges of rows where something holds."""
    edges = np.flatnonzero(np.diff(np.concatenate([[0], inside.astype(np.int8), [0]])))
    return edges.reshape(-1, 2).astype(np.int64)


def _gathered(low: IntArray, high: IntArray, limit: int) -> list[IntArray]:
    """Ranges put together to parts of about so many bodies, the largest first; ranges that touch become one."""
    if not len(low):
        return []
    part_of = (np.cumsum(high - low) - 1) // limit
    out = []
    for rows in np.split(np.column_stack([low, high]), np.flatnonzero(np.diff(part_of)) + 1):
        begins = np.concatenate([[True], rows[1:, 0] != rows[:-1, 1]])
        ends = np.concatenate([begins[1:], [True]])
        out.append(np.column_stack([rows[begins, 0], rows[ends, 1]]))
    return sorted(out, key=size_of, reverse=True)


# --- the stages of a program, bound to the parts of a tree
WORTH_SHARING = 0.85
"""The longest time, relative to one thread and without handing over, for which a tree is shared."""


def shared_steps(
    program: Program, structure: Structure, groups: tuple[Any, ...], threads: int, store: Cache
) -> list[list[Native]]:
    """The steps of a program for one state, each as functions that run at once; none where one thread is as fast."""
    sharing = SHARING.get(program.name)
    if sharing is None or not pays(sharing, structure, threads):
        return []
    return [_bound(program, stage, structure, groups, parts_of(stage, structure, threads), store) for stage in sharing.stages]


def pays(sharing: Sharing, structure: Structure, threads: int) -> bool:
    """Whether so many threads are faster than one."""
    if structure.nb < sharing.least:
        return False
    return not sharing.in_subtrees or division_of(structure, threads).time(threads) <= WORTH_SHARING


@per_structure
def division_of(structure: Structure, threads: int) -> Division:
    return divide(structure.carrier, threads)


def parts_of(stage: Stage, structure: Structure, threads: int) -> list[IntArray]:
    """The parts that a stage is done in."""
    if stage.over == ONCE:
        return [np.array([[1, structure.nb + 1]])]
    if stage.over == BODIES:
        return bands(structure.nb, threads)
    division = division_of(structure, threads)
    return [division.trunk] if stage.over == TRUNK else division.parts


def _bound(
    program: Program, stage: Stage, structure: Structure, groups: tuple[Any, ...], parts: list[IntArray], store: Cache
) -> list[Native]:
    loop = Loop(stage.function, (*program.groups, BodyRanges), Options(), shared=2, store=store)
    tree, joints, x, work, y = groups
    out = []
    for rows in parts:
        own = allocate_own(program.work, work, stage.own, program.sizes(structure))
        out.append(loop.bind(tree, joints, x, own, y, BodyRanges(rows)))
    return out


def allocate_own(declared: Any, work: Any, own: tuple[str, ...], sizes: dict[str, int]) -> Any:
    """The work with arrays of its own at some paths."""
    for path in own:
        name, _, rest = path.partition(".")
        kind = declared.__annotations__[name]
        part = allocate_own(kind, getattr(work, name), (rest,), sizes) if rest else allocate(kind, sizes)
        work = work._replace(**{name: part})
    return work
