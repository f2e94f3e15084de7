"""The polynomials between the points of a table, one for each cell of its grid, and what holds outside of the grid.

kind       between two points                                             continuous up to the
"linear"   a straight line                                                value
"cubic"    the interpolating cubic spline with not-a-knot ends            second derivative
"monotone" a cubic that never overshoots: PCHIP (Fritsch, Butland 1984)   first derivative
"""

from __future__ import annotations

from typing import Any

import numpy as np

KINDS = {"linear": 2, "cubic": 4, "monotone": 4}
"""Kinds, and the coefficients of a polynomial in one argument."""


def cells(axes: tuple[np.ndarray, ...], values: np.ndarray, kind: str, outside: str) -> np.ndarray:
    """Coefficients (n+1, …, k, …): for each argument an axis of cells, the first and the last outside of the grid; then for each
    an axis of powers of the distance from the cell's lower end, or, outside, from that end of the grid."""
    d = len(axes)
    found = values
    for a, x in enumerate(axes):
        found = np.moveaxis(_between(x, np.moveaxis(found, a, 0), kind, outside), (0, 1), (a, d + a))
    for a, x in enumerate(axes):
        found = _with_ends(np.moveaxis(found, (a, d + a), (0, 1)), x[-1] - x[-2], outside)
        found = np.moveaxis(found, (0, 1), (a, d + a))
    return found


def _between(x: np.ndarray, y: np.ndarray, kind: str, outside: str) -> np.ndarray:
    """(n-1, k, …) from values (n, …), lowest power first."""
    if kind == "linear":
        steps = np.diff(x).reshape(-1, *[1] * (y.ndim - 1))
        return np.stack([y[:-1], np.diff(y, axis=0) / steps], axis=1)
    from scipy.interpolate import CubicSpline, PchipInterpolator  # imported here: most models need no SciPy

    made: Any
    if kind == "monotone":
        made = PchipInterpolator(x, y)
    else:
        made = CubicSpline(x, y, bc_type="periodic" if outside == "repeat" else "not-a-knot")
    return np.moveaxis(made.c[::-1], 0, 1)


def _with_ends(inside: np.ndarray, last: float, outside: str) -> np.ndarray:
    """Two cells more: constant where values are held, not a number where the range must not be left. `last`: the last step."""
    ends = np.zeros((2, *inside.shape[1:]))
    if outside == "error":
        ends[:] = np.nan
    else:
        ends[0, 0] = inside[0, 0]
        ends[1, 0] = sum(inside[-1, k] * last**k for k in range(inside.shape[1]))
    return np.concatenate([ends[:1], inside, ends[1:]])


def origins(x: np.ndarray) -> np.ndarray:
    """(n+1,): where the polynomials of the cells are measured from."""
    return np.concatenate([x[:1], x])


def breaks(x: np.ndarray) -> np.ndarray:
    """(n,): where cells begin; the last point is part of the last one."""
    return np.concatenate([x[:-1], [np.nextafter(x[-1], np.inf)]])
