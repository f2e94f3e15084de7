"""What curves of cost against size say: how fast they grow, where they cross, which of them is the lowest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from math import exp, log
from typing import NamedTuple

import numpy as np

Curve = Mapping[float, float]
"""Cost by size."""


class Crossing(NamedTuple):
    at: float
    """The size, interpolated in logarithms."""
    lower: int
    """Which curve is the lower one beyond: 0, the first, or 1, the second."""


class Reign(NamedTuple):
    """A stretch of sizes over which one curve is the lowest."""

    name: str
    first: float
    last: float


def exponent(curve: Curve, first: float = 0.0, last: float = np.inf) -> float | None:
    """p of cost ≈ c·size^p by least squares in logarithms, sizes first … last; None where there are fewer than three."""
    points = [(log(x), log(y)) for x, y in curve.items() if first <= x <= last]
    if len(points) < 3:
        return None
    return float(np.polyfit(*np.transpose(points), 1)[0])


def last_decade(curve: Curve) -> tuple[float, float]:
    """The range for the exponent of the tail: from a tenth of the largest size."""
    return max(curve) / 10.0, max(curve)


def crossings(a: Curve, b: Curve, margin: float = 1.0) -> list[Crossing]:
    """Where two curves change places, over the sizes both have. A lead below `margin` is a draw: noise is no crossing."""
    sizes = sorted(set(a) & set(b))
    gaps = [log(a[x] / b[x]) for x in sizes]
    clear = [(k, gap > 0) for k, gap in enumerate(gaps) if abs(gap) > log(margin)]
    found = []
    for (i, above), (j, above_then) in pairwise(clear):
        if above != above_then:
            k = next(k for k in range(i, j) if (gaps[k + 1] > 0) == above_then)  # the first change of sign among the draws
            share = gaps[k] / (gaps[k] - gaps[k + 1])
            found.append(Crossing(exp(log(sizes[k]) + share * log(sizes[k + 1] / sizes[k])), int(above_then)))
    return found


def reigns(curves: Mapping[str, Curve], margin: float = 1.05) -> list[Reign]:
    """Which curve is the lowest, from the least size to the largest. One gives way only to another lower by `margin`."""
    found: list[Reign] = []
    for x in sorted({x for curve in curves.values() for x in curve}):
        here = {name: curve[x] for name, curve in curves.items() if x in curve}
        best = min(here, key=lambda name: here[name])
        ruling = found[-1].name if found else None
        if ruling in here and here[ruling] <= margin * here[best]:
            found[-1] = found[-1]._replace(last=x)
        else:
            found.append(Reign(best, x, x))
    return found


def ratio_range(a: Curve, b: Curve, sizes: Sequence[float] | None = None) -> tuple[float, float] | None:
    """Least and largest a/b over the sizes both have."""
    ratios = [a[x] / b[x] for x in (sizes or sorted(set(a) & set(b))) if x in a and x in b]
    return (min(ratios), max(ratios)) if ratios else None
