"""Types that many layers and the user's calls have in common."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

FloatArray: TypeAlias = NDArray[np.float64]
IntArray: TypeAlias = NDArray[np.int64]

Vector: TypeAlias = Sequence[float] | FloatArray
"""A few numbers: a position, a direction, an inertia."""

State: TypeAlias = ArrayLike | Mapping[str, ArrayLike] | None
"""Coordinates, speeds or joint forces: an array, {joint: value}, or None for the neutral position or zeros."""

FilePath: TypeAlias = str | PathLike[str]
