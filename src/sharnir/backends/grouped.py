"""Thousands of small functions: machine code for each shape, run on all of that shape; native copies and sums.

Only arrays grow with the number of functions: each function gathers what it reads from one flat vector, and its results
are added at its places in another.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from ..dialect.arithmetic import STEPPING
from ..dialect.cache import Cache
from ..dialect.double_double_code import PAIRS
from ..dialect.jit import host_lanes
from ..dialect.kernels.rows import Copied, Gathered, Scattered, copy_rows, gather, scatter
from ..dialect.native import Native, address, bind_kernel
from ..model.forces.groups import Group, joined
from . import sizes
from .graph_function import GraphFunction
from .traced import TracedProgram

FEW = 4
"""Groups of fewer functions are joined."""

AT_ONCE = 1 << 17
"""Numbers gathered at once: as many as the caches next to the processor hold."""


class GroupedCode:
    """Groups of functions made ready, for one state without Python (`chain`) or for many (`run`)."""

    def __init__(self, groups: Sequence[Group], store: Cache | None = None, pairs: bool = False) -> None:
        """`pairs`: in double-double arithmetic, for `chain` alone; every array has one more axis, of two."""
        self.groups = _fewer(groups)
        self._store, self.pairs = store or Cache(), pairs
        self._functions: dict[tuple[int, tuple[str, ...]], GraphFunction] = {}

    def chain(self, flat: np.ndarray, answers: Mapping[str, np.ndarray]) -> list[Native]:
        """Native functions that read one flat vector and leave the answers in these arrays."""
        zeros = np.zeros(max(x.size for x in answers.values()))
        out = [self.copied([(zeros[: x.size], x) for x in answers.values()])]
        for g, group in enumerate(self.groups):
            out += self._bound(g, group, flat, answers)
        return out

    def _bound(self, g: int, group: Group, flat: np.ndarray, answers: Mapping[str, np.ndarray]) -> list[Native]:
        n, shape = len(group.force), group.shape
        lanes = host_lanes() if n >= host_lanes() and not self.pairs else 1
        more = (2,) if self.pairs else ()
        found = {name: np.zeros((n, len(shape.outputs[name]), *more)) for name in answers}
        reads = np.zeros((*group.reads.shape, *more))
        numbers = np.stack([group.numbers, np.zeros_like(group.numbers)], axis=-1) if self.pairs else group.numbers
        bound = self._function(g, tuple(answers)).bind({"read": reads, "number": numbers, **found}, n, lanes, self.pairs)
        first = self._kernel(gather, Gathered(flat, group.reads.ravel(), reads.reshape(-1, *more)))
        last = [
            self._kernel(scatter, Scattered(found[name].reshape(-1, *more), group.places_of(name).ravel(), target))
            for name, target in answers.items()
            if found[name].size
        ]
        return [first, bound, *last]

    def copied(self, pairs: Sequence[tuple[np.ndarray, np.ndarray]]) -> Native:
        return native_copy(pairs, self._store)

    def run(self, flat: np.ndarray, answers: Mapping[str, np.ndarray]) -> None:
        """Rows (n, …) of flat vectors in; answers are added to rows (n, …)."""
        for group, states, values in self._pieces(flat, tuple(answers)):
            for (name, out), x in zip(answers.items(), values, strict=True):
                _add(out, states, group.places_of(name), x)

    def _pieces(self, flat: np.ndarray, answers: tuple[str, ...]) -> Iterator[tuple[Group, slice, list[np.ndarray]]]:
        """Every group on some states at a time, its answers as (states, functions, numbers)."""
        for g, group in enumerate(self.groups):
            function = self._function(g, answers)
            n, sizes = len(group.force), [len(group.shape.outputs[name]) for name in answers]
            step = max(1, AT_ONCE // (n * (group.reads.shape[1] + group.numbers.shape[1] + sum(sizes) + 1)))
            for first in range(0, len(flat), step):
                states = slice(first, min(first + step, len(flat)))
                m = states.stop - first
                reads = np.take(flat[states], group.reads, axis=1).reshape(m * n, -1)
                numbers = group.numbers if m == 1 else np.tile(group.numbers, (m, 1))
                values = [np.empty((m * n, size)) for size in sizes]
                function.run(m * n, [reads, numbers], values)
                yield group, states, [x.reshape(m, n, -1) for x in values]

    def _function(self, g: int, answers: tuple[str, ...]) -> GraphFunction:
        if (g, answers) not in self._functions:
            shape = self.groups[g].shape
            outputs = {name: shape.outputs[name] for name in answers}
            traced = TracedProgram(shape.graph, {"read": shape.reads, "number": shape.numbers}, outputs)
            self._functions[g, answers] = GraphFunction(traced, self._store)
        return self._functions[g, answers]

    def _kernel(self, entry: Callable[[Any], int], group: Gathered | Scattered) -> Native:
        return bind_kernel(entry, group, options=PAIRS if self.pairs else STEPPING, store=self._store)


def native_copy(pairs: Sequence[tuple[np.ndarray, np.ndarray]], store: Cache) -> Native:
    """A native function that copies arrays: (from, to)."""
    rows = np.array([(address(x), address(y), x.size) for x, y in pairs], dtype=np.int64)
    native = bind_kernel(copy_rows, Copied(rows), store=store)
    native.keep_alive(pairs)
    return native


def _fewer(groups: Sequence[Group]) -> list[Group]:
    out = [group for group in groups if len(group.force) >= FEW]
    few: list[Group] = []
    size = 0
    for group in groups:
        if len(group.force) < FEW:
            few.append(group)
            size += len(group.force) * len(group.shape.graph.nodes)
            if size > sizes.JOINED:
                out.append(joined(few))
                few, size = [], 0
    return out + ([joined(few)] if few else [])


def _add(out: np.ndarray, states: slice, places: np.ndarray, values: np.ndarray) -> None:
    """values (states, functions, k) added at places (functions, k) of every row of `out`: also where several go to the same."""
    m, size = states.stop - states.start, out.shape[1]
    where = places.ravel() + size * np.arange(m)[:, None]
    out[states] += np.bincount(where.ravel(), values.ravel(), m * size).reshape(m, size)


def native_add(x: np.ndarray, places: np.ndarray, y: np.ndarray, store: Cache, pairs: bool = False) -> Native:
    """y[places] += x; `pairs`: both (…, 2), in double-double arithmetic."""
    return bind_kernel(scatter, Scattered(x, places, y), options=PAIRS if pairs else STEPPING, store=store)


def native_take(x: np.ndarray, places: np.ndarray, y: np.ndarray, store: Cache) -> Native:
    """y = x[places]."""
    return bind_kernel(gather, Gathered(x, places, y), store=store)


def native_rounded(two: np.ndarray, one: np.ndarray, store: Cache) -> Native:
    """The first parts of pairs."""
    return native_take(two.reshape(-1), 2 * np.arange(one.size), one, store)


def native_add_to_pairs(x: np.ndarray, two: np.ndarray, store: Cache) -> Native:
    """Plain numbers added to the first parts of pairs."""
    return native_add(x, 2 * np.arange(x.size), two.reshape(-1), store)
