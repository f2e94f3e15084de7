"""Samples of large studies for drawing: reproducible, with the extremes of every column."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from ...types import IntArray
from .columns import Column, Table

SEED = 1


def sample(table: Table, columns: Iterable[Column], most: int) -> IntArray:
    """About `most` rows at most, in order. A tenth of them is for failed runs, as long as there are so many."""
    if len(table) <= most:
        return np.arange(len(table))
    good, failed = np.flatnonzero(table.ok), np.flatnonzero(~table.ok)
    share = max(most // 10, most - len(good))
    some_failed = _some(failed, share)
    extremes = [k for c in columns if len(c.finite) for k in c.extremes]
    some = _some(good, most - len(some_failed))
    return np.unique(np.concatenate([some, some_failed, np.asarray(extremes, dtype=np.int64)]))


def thinned_grid(shape: tuple[int, ...], most: int) -> list[IntArray]:
    """Indices that are kept along each dimension, evenly spaced with both ends: at most so many nodes, or two by each."""
    sizes = list(shape)
    while np.prod(sizes, dtype=float) > most and max(sizes, default=0) > 2:
        k = sizes.index(max(sizes))
        sizes[k] = max(2, int(0.9 * sizes[k]))
    return [np.unique(np.linspace(0, n - 1, kept).round().astype(np.int64)) for n, kept in zip(shape, sizes, strict=True)]


def _some(rows: NDArray[np.int64], most: int) -> NDArray[np.int64]:
    if len(rows) <= most:
        return rows
    return np.random.default_rng(SEED).choice(rows, most, replace=False)
