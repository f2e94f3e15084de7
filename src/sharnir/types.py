"""Types that many layers and the user's calls have in common, and the one place where arrays of callers are converted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .errors import StateError

FloatArray: TypeAlias = NDArray[np.float64]
IntArray: TypeAlias = NDArray[np.int64]

Vector: TypeAlias = Sequence[float] | FloatArray
"""A few numbers: a position, a direction, an inertia."""

State: TypeAlias = ArrayLike | Mapping[str, ArrayLike] | None
"""Coordinates, speeds or joint forces: an array, {joint: value}, or None for the neutral position or zeros."""

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
    except (TypeError, ValueError) as error:
        if isinstance(error, StateError):
            raise
        raise StateError(f"{what}: expected numbers, got {x!r}") from None
