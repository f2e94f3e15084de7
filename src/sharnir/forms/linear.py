"""Square systems solved to rounding, whatever the sizes of their numbers: the masses of one model may differ by 1e24.

LU on the system scaled to entries near one, and a correction by the residual in extended precision, which also tells how good
the first solution was. Where it was not good, elimination on numbers of many digits (`eliminate`).
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal, localcontext
from typing import Any

import numpy as np

from ..errors import SingularError

# --- sparse elimination on decimal numbers of many digits: slow, and right where floats are not
DIGITS = 100
"""The numbers of a system scaled to entries near one span up to 1e30; elimination may lose as much again."""
PIVOT = Decimal("0.01")
"""A pivot is at least this share of the largest number of its row."""
NOTHING = Decimal(10) ** -60
"""A row whose numbers are all smaller than this is rounding."""

Row = dict[int, Decimal]


def eliminate(rows: np.ndarray, columns: np.ndarray, numbers: np.ndarray, right: np.ndarray) -> np.ndarray:
    """The solution of a square system given by its entries, scaled to a largest number near one in every row and column."""
    table: list[Row] = [{} for _ in right]
    users: list[set[int]] = [set() for _ in right]
    for i, j, x in zip(rows.tolist(), columns.tolist(), numbers.tolist(), strict=True):
        table[i][j] = Decimal(x)  # exact: a float is a finite decimal
        users[j].add(i)
    with localcontext() as context:
        context.prec = DIGITS
        b = [Decimal(x) for x in right.tolist()]
        pivots = _forward(table, users, b)
        x = [Decimal(0)] * len(b)
        for i, j in reversed(pivots):
            x[j] = (b[i] - sum((a * x[k] for k, a in table[i].items() if k != j), Decimal(0))) / table[i][j]
        return np.array([float(value) for value in x])


def _forward(table: list[Row], users: list[set[int]], b: list[Decimal]) -> list[tuple[int, int]]:
    """Rows and columns of the pivots: always the shortest row that is left, and in it the column fewest others use."""
    left, pivots = set(range(len(table))), []
    while left:
        i = min(left, key=lambda k: len(table[k]))
        row = table[i]
        largest = max(map(abs, row.values()), default=Decimal(0))
        if not largest > NOTHING:
            raise SingularError("the equations of motion have no unique solution in this state")
        j = min((k for k, x in row.items() if abs(x) >= PIVOT * largest), key=lambda k: len(users[k]))
        left.remove(i)
        for k in row:
            users[k].discard(i)
        for k in users[j]:
            share = table[k].pop(j) / row[j]
            b[k] -= share * b[i]
            for c, x in row.items():
                if c != j:
                    table[k][c] = table[k].get(c, Decimal(0)) - share * x
                    users[c].add(k)
        pivots.append((i, j))
    return pivots


# --- LU in floats with a correction
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
