"""Rows that depend on one another: independent ones of them, and multipliers of all."""

from __future__ import annotations

import numpy as np

Rows = tuple[np.ndarray, np.ndarray]
"""J (m×n) and γ (m)."""
RANK = 1e-11
"""Largest remainder of a row that depends on others, of rows scaled to one length."""
RANK_OF_SQUARE = 3e-7
"""The same where rows enter squared, JM⁻¹Jᵀ: the remainder must exceed the rounding of the squares."""


def independent(rows: Rows) -> Rows:
    """As many rows as are independent."""
    used = independent_rows(rows[0])
    return rows[0][used], rows[1][used]


def partition(J: np.ndarray, zero: float = 1e-9) -> tuple[list[int], list[int], list[int]]:
    """Independent coordinates, dependent ones, and the rows that determine them: Gauss with full pivoting."""
    left, rows, columns = J.copy(), list[int](), list[int]()
    size = np.abs(J).max(initial=0.0)
    while left.size:
        i, j = np.unravel_index(np.abs(left).argmax(), left.shape)
        if not abs(left[i, j]) > zero * size:
            break
        rows.append(int(i))
        columns.append(int(j))
        left = left - np.outer(left[:, j] / left[i, j], left[i])
        left[:, columns] = 0.0
        left[rows] = 0.0
    return [k for k in range(J.shape[1]) if k not in columns], columns, rows


def independent_rows(J: np.ndarray, zero: float = RANK) -> list[int]:
    """As many independent rows as the rank of J, rows of any length counted alike. J alone decides, not masses."""
    length = np.abs(J).max(axis=1, initial=0.0)[:, None]
    return sorted(partition(np.divide(J, length, where=length > 0.0, out=np.zeros_like(J)), zero)[2])


def least(J: np.ndarray, force: np.ndarray) -> np.ndarray:
    """The multipliers of all rows, of least length, with this force Jᵀλ."""
    return np.linalg.lstsq(J.T, force, rcond=RANK)[0]
