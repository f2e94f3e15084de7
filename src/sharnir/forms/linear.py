"""Square systems solved to rounding, whatever the sizes of their numbers: the masses of one model may differ by 1e24.

LU on the system scaled to entries near one, and a correction by the residual in extended precision, which also tells how good
the first solution was. Where it was not good, elimination on numbers of many digits (`elimination.py`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .elimination import eliminate

ACCEPTED = 1e-11
"""The correction, relative to the largest unknown of its group, up to which the corrected solution is taken."""


def solve(matrix: Any, right: np.ndarray, groups: tuple[int, ...] = ()) -> np.ndarray:
    """x of matrix x = right, dense or sparse; `groups`: where in x unknowns of another kind begin, of a size of their own."""
    n = len(right)
    if not n:
        return np.zeros(0)
    rows, columns, numbers = _entries(matrix)
    r, c = _scales(rows, columns, numbers, n)
    scaled = numbers * r[rows] * c[columns]
    first = _lu(rows, columns, scaled, n, sparse=not isinstance(matrix, np.ndarray))
    with np.errstate(all="ignore"):
        x = c * first(r * right)
        step = c * first(r * _residual(rows, columns, numbers, x, right))
    parts = zip(np.split(x, groups), np.split(step, groups), strict=True)
    if all(np.abs(dx).max(initial=0.0) <= ACCEPTED * np.abs(y).max(initial=0.0) for y, dx in parts):
        return x + step
    return c * eliminate(rows, columns, scaled, r * right)


def _entries(matrix: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Row, column and value of the numbers that are not zero."""
    if isinstance(matrix, np.ndarray):
        rows, columns = np.nonzero(matrix)
        return rows, columns, matrix[rows, columns]
    entries = matrix.tocoo()
    return entries.row, entries.col, entries.data


def _scales(rows: np.ndarray, columns: np.ndarray, numbers: np.ndarray, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Powers of two for rows and columns that bring the largest number of each near one (Ruiz)."""
    size, r, c = np.abs(numbers), np.ones(n), np.ones(n)
    for _ in range(4):
        now = size * r[rows] * c[columns]
        r, c = r * _towards_one(now, rows, n), c * _towards_one(now, columns, n)
    return r, c


def _towards_one(size: np.ndarray, where: np.ndarray, n: int) -> np.ndarray:
    largest = np.zeros(n)
    np.maximum.at(largest, where, size)
    usable = (largest > 0.0) & np.isfinite(largest)
    return np.exp2(-np.round(0.5 * np.log2(np.where(usable, largest, 1.0))))


def _lu(rows: np.ndarray, columns: np.ndarray, numbers: np.ndarray, n: int, sparse: bool) -> Callable[[np.ndarray], np.ndarray]:
    """The solution by LU; of a matrix with a pivot of zero a function that gives nan."""
    if sparse:
        from scipy.sparse import csc_array
        from scipy.sparse.linalg import splu

        try:
            return splu(csc_array((numbers, (rows, columns)), shape=(n, n))).solve
        except RuntimeError:  # exactly singular
            return lambda b: np.full(n, np.nan)
    from scipy.linalg.lapack import dgetrf, dgetrs

    matrix = np.zeros((n, n))
    matrix[rows, columns] = numbers
    lu, pivots, _ = dgetrf(matrix)
    return lambda b: dgetrs(lu, pivots, b)[0]


def _residual(rows: np.ndarray, columns: np.ndarray, numbers: np.ndarray, x: np.ndarray, right: np.ndarray) -> np.ndarray:
    """right − matrix x, products and sums in extended precision."""
    out = right.astype(np.longdouble)
    np.subtract.at(out, rows, numbers.astype(np.longdouble) * x[columns])
    return out.astype(float)
