"""Storage for kernels: arrays of the shapes their groups declare (`arrays.py`)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import prod
from typing import Any

import numpy as np

from .arrays import Array


def resolve(shape: Any, sizes: Mapping[str, int]) -> tuple[int, ...]:
    """("nb1", 3) -> (8, 3)."""
    return tuple([_size(part, sizes) for part in shape])


def _size(part: Any, sizes: Mapping[str, int]) -> int:
    if isinstance(part, int):
        return part
    if part in sizes:
        return sizes[part]
    name, _, more = part.partition("+")
    return sizes[name] + (int(more) if more else 0)


def flat(x: Any) -> list[Any]:
    """The arrays of a group one after the other, groups within it opened up; of a declared group their types."""
    if isinstance(x, np.ndarray) or (isinstance(x, type) and issubclass(x, Array)):
        return [x]
    parts = x.__annotations__.values() if isinstance(x, type) else x
    return [array for part in parts for array in flat(part)]


def allocate(group: Any, sizes: Mapping[str, int], make: Callable[[tuple[int, ...]], Any] | None = None, lanes: int = 1) -> Any:
    """A group of arrays (groups within groups too). Numbers are filled with nan, unless there are very many, so that an
    element that is read before it is written shows.

    `make` makes arrays of numbers of another kind. With several lanes, arrays of numbers have one more axis, the last.
    """
    if not issubclass(group, Array):
        return group(*[allocate(part, sizes, make, lanes) for part in group.__annotations__.values()])
    shape, dtype = resolve(group.shape, sizes), group.dtype
    if dtype == "int64":
        return np.zeros(shape, dtype=np.int64)
    if make is not None:
        return make(shape)
    return _aligned(shape if lanes == 1 else (*shape, lanes), dtype)


LARGE = 1 << 20
"""Size from which on an array is not filled: touching all its memory takes longer than using it once."""


def _aligned(shape: tuple[int, ...], dtype: Any) -> np.ndarray:
    """An array aligned to a cache line, so that no vector of lanes crosses one."""
    size = prod(shape) * (2 if dtype is complex else 1)
    block = np.empty(size + 8)
    start = -(block.ctypes.data // 8) % 8
    if size < LARGE:
        block[start : start + size] = np.nan
    return block[start : start + size].view(dtype).reshape(shape)


def allocate_together(groups: Sequence[Any], sizes: Mapping[str, int]) -> tuple[np.ndarray, tuple[Any, ...]]:
    """Groups of floats (complex ones too) in one block of memory filled with nan, so that copying the block copies them all."""
    block = np.full(sum(_numbers(group, sizes) for group in groups), np.nan)
    at = 0

    def view(group: Any) -> Any:
        nonlocal at
        if not issubclass(group, Array):
            return group(*[view(part) for part in group.__annotations__.values()])
        start, at = at, at + _numbers(group, sizes)
        return block[start:at].view(group.dtype).reshape(resolve(group.shape, sizes))

    return block, tuple([view(group) for group in groups])


def _numbers(group: Any, sizes: Mapping[str, int]) -> int:
    """Floats in a group, or in an array."""
    return sum(prod(resolve(x.shape, sizes)) * (2 if x.dtype is complex else 1) for x in flat(group))


def descriptor_length(declared: Any) -> int:
    """How many integers say where an array is, or the arrays of a group: for each its address and its shape."""
    return sum(1 + len(x.shape) for x in flat(declared))
