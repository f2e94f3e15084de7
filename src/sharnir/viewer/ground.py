"""The ground under a mechanism, with a grid of round numbers."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from ..model.pose import Pose, Rotation
from ..types import FloatArray
from .outline import matrix
from .scene import GROUND, Colour, Line, Part
from .solids import square

FLOOR: Colour = (0.93, 0.94, 0.95, 1.0)
GRID: Colour = (0.72, 0.75, 0.78, 1.0)
TOUCHING, BELOW = 0.003, 0.04
"""In sizes of the mechanism: what is no deeper stands on the floor; how far else the floor is below, so that it cuts no joint."""
LINES = 10
"""On either side of the middle."""


def ground_parts(
    low: FloatArray, high: FloatArray, up: FloatArray, size: float, known: float | None = None
) -> Iterator[Part | Line]:  # fmt: skip
    """A floor at the height that is known; else through the origin where nothing goes below it, else below everything."""
    rotation = Rotation.align_z(up.tolist())
    axes = np.asarray(rotation.matrix, dtype=float)
    corner = np.array([[x, y, z] for x in (low[0], high[0]) for y in (low[1], high[1]) for z in (low[2], high[2])]) @ axes
    lowest = corner[:, 2].min()
    usual = 0.0 if -TOUCHING * size <= lowest <= size else lowest - BELOW * size
    height = usual if known is None else known
    step = round_number(max(np.ptp(corner[:, 0]), np.ptp(corner[:, 1]), 0.5 * size) / LINES)
    middle = np.round(0.5 * (corner[:, :2].min(axis=0) + corner[:, :2].max(axis=0)) / step) * step
    half = LINES * step
    centre = axes @ np.array([*middle, height])
    floor = matrix(Pose((centre - up * 2e-3 * size).tolist(), rotation), (2 * half, 2 * half, 1.0))
    yield Part("ground", "ground", square(), FLOOR, GROUND, floor)
    for k in range(-LINES, LINES + 1):
        for across in (0, 1):
            ends = np.array([[*middle, height]] * 2)
            ends[:, across] += k * step
            ends[:, 1 - across] += (-half, half)
            yield Line(f"grid, {step:g} m", "ground", ends @ axes.T, GRID)


def round_number(x: float) -> float:
    """1, 2 or 5 times a power of ten, not less than x."""
    power = 10.0 ** math.floor(math.log10(x))
    return float(next(k for k in (1, 2, 5, 10) if k * power >= x * (1 - 1e-9)) * power)
