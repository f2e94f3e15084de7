"""Sparse elimination on decimal numbers of many digits: slow, and right where floats are not."""

from __future__ import annotations

from decimal import Decimal, localcontext

import numpy as np

from ..errors import SingularError

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
