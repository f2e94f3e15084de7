"""A tree divided among threads: a trunk near the base, and parts of roughly equal size, none of which touches another.

What body i carries stands in rows i + 1 … of every array where bodies are numbered depth-first. A body that carries much is part
of the trunk, and so is everything it carries directly: folding inward, a subtree then changes only rows of its own and that of
the one body of the trunk that carries it. Nothing is ever folded into the base: what it carries need not be of the trunk.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..types import IntArray

PARTS = (8, 4, 2, 1)
"""Parts for each thread that are tried: more of them balance better, but make the trunk larger."""


class Division(NamedTuple):
    trunk: IntArray
    """(n, 2): bodies from the first to before the second, ascending."""
    parts: list[IntArray]
    """The same of every part, the largest part first."""

    def time(self, threads: int) -> float:
        """Of all bodies on so many threads, each taking the next part when it has finished one, relative to one thread."""
        busy, trunk, total = [0] * threads, size_of(self.trunk), 0
        for part in map(size_of, self.parts):
            total += part
            busy[busy.index(min(busy))] += part
        return (trunk + max(busy)) / max(trunk + total, 1)


def size_of(rows: IntArray) -> int:
    """Bodies in some ranges."""
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
    """With no more than so many bodies carried by one body of the trunk."""
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
