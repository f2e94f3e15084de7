"""What the light sees: over every square of the ground the highest and the lowest surface."""

from typing import NamedTuple

from ....dialect.arrays import Array, IntegerArray
from .scan import corners_of, scan

NOTHING = -1e30


class Cast(NamedTuple):
    cast: Array["n", 3]
    faces: IntegerArray["nf", 3]
    chosen: IntegerArray["nc"]
    highest: Array["nt", "nt"]  # heights, in texels; NOTHING where the light reaches the ground
    lowest: Array["nt", "nt"]  # of what is above the ground


def cast_shadows(c):
    n = c.highest.shape[0]
    for i in range(n):
        for j in range(n):
            c.highest[i, j], c.lowest[i, j] = NOTHING, -NOTHING
    for j in range(c.chosen.shape[0]):
        scan(shade_ground, c, c.chosen[j], corners_of(c.cast, c.faces, c.chosen[j]), n, 0, n)
    return 0


def shade_ground(c, f, place, x, y, height):
    n = c.highest.shape[0]
    i, j = place // n, place % n
    c.highest[i, j] = max(c.highest[i, j], height)
    if height > 0.0:
        c.lowest[i, j] = min(c.lowest[i, j], height)
