"""How near to a singular position runs side by side have come, in the dialect: for every lane at once."""

from typing import NamedTuple

from ...dialect.arrays import Array
from .singular_step import FAR


class Usual(NamedTuple):
    """The same for all lanes."""

    usual: Array["m"]  # pivots of a usual position; 0 of rows that do not count


class Approach(NamedTuple):
    pivots: Array["m"]  # inverse pivots
    near: Array[1]  # the largest s so far, relative to FAR: above 1 a run is near


def approach(u, a):
    """After an evaluation."""
    for i in range(u.usual.shape[0]):
        a.near[0] = max(a.near[0], u.usual[i] * a.pivots[i] / FAR)
