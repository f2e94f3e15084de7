"""Types that many layers and the user's calls have in common, and the one place where arrays of callers are converted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .errors import NOT_A_NUMBER, StateError, brief

FloatArray: TypeAlias = NDArray[np.float64]
IntArray: TypeAlias = NDArray[np.int64]

Vector: TypeAlias = Sequence[float] | FloatArray
"""A few numbers: a position, a direction, an inertia."""

State: TypeAlias = ArrayLike | Mapping[str, ArrayLike] | None
"""Coordinates, speeds or joint forces: an array, {joint: value}, or None for the neutral position or zeros."""

Wrenches: TypeAlias = ArrayLike | Mapping[str, ArrayLike] | None
"""(N, 6) or (B, N, 6), or (6,) of some bodies by name."""

Parameters: TypeAlias = ArrayLike | Mapping[str, ArrayLike] | None
"""{name: number or (B,)}, or all of them in order, (P,) or (B, P)."""

FilePath: TypeAlias = str | PathLike[str]


def real_array(x: ArrayLike, what: str) -> FloatArray:
    """C-contiguous floats, of any shape."""
    if isinstance(x, np.ma.MaskedArray) and np.ma.is_masked(x):
        holes = int(np.ma.getmaskarray(x).sum())
        raise StateError(f"{what}: a masked array with {holes} of {x.size} numbers masked; fill them first: x.filled(…)")
    try:
        a = np.asarray(x)
        if a.dtype.kind == "c":
            raise StateError(f"{what}: expected real numbers, got complex ones")
        if a.dtype.kind not in "fiubO":
            raise ValueError
        return np.asarray(a, dtype=float, order="C")
    except NOT_A_NUMBER as error:
        if isinstance(error, StateError):
            raise
        raise StateError(f"{what}: expected numbers, got {brief(x)}") from None


def integers(x: ArrayLike) -> IntArray:
    """An array of integers, empty where there are none."""
    return np.array(x, dtype=np.int64)


def starts(lengths: ArrayLike) -> IntArray:
    """First indices of consecutive runs of these lengths, and the end of the last."""
    return np.concatenate([[0], np.cumsum(integers(lengths))]).astype(np.int64)


def truth(x: object, what: str) -> bool:
    """A yes or no; an array is neither."""
    if isinstance(x, (bool, np.bool_)) or (isinstance(x, int) and x in (0, 1)):
        return bool(x)
    raise StateError(f"{what}: expected True or False, got {brief(x)}")


def random_generator(seed: object) -> np.random.Generator:
    """A generator as it is, or a new one with a seed, which may be None."""
    if isinstance(seed, np.random.Generator):
        return seed
    if seed is not None and (isinstance(seed, (bool, np.timedelta64)) or not isinstance(seed, (int, np.integer)) or seed < 0):
        raise StateError(f"expected a seed, a whole number of at least 0, or a numpy.random.Generator; got {brief(seed)}")
    return np.random.default_rng(None if seed is None else int(seed))
