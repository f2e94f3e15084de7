"""The rank of a sparse matrix, row by row: Givens' rotations on columns in an order of small bandwidth.

A row is rotated into the triangle of the rows before it (George, Heath 1980). What is left of it is a new row of the triangle,
or nothing: then it depends on them. Orthogonal transformations alone, so that nothing grows; work in proportion to the number of
rows where the graph of the matrix is a chain, a strip, or many small parts.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import reverse_cuthill_mckee

NEGLIGIBLE = 0.1
"""Entries below this part of the tolerance are zeros: rounding must not decide in which column a row begins."""


def independent_rows(A: csr_array, tolerance: float) -> np.ndarray:
    """For every row, normalized by the caller, whether it is independent of the rows before it: of its part that these do not
    cancel more than `tolerance` is left."""
    pattern = csr_array((np.ones(A.nnz), A.indices, A.indptr), shape=A.shape)
    order = reverse_cuthill_mckee((pattern.T @ pattern).tocsr(), symmetric_mode=True)
    place = np.empty(A.shape[1], dtype=np.int64)
    place[order] = np.arange(A.shape[1])
    triangle: dict[int, np.ndarray] = {}
    independent = np.zeros(A.shape[0], dtype=bool)
    for k in range(A.shape[0]):
        own = slice(int(A.indptr[k]), int(A.indptr[k + 1]))
        columns, values = place[A.indices[own]], A.data[own]
        if len(columns):
            first = int(columns.min())
            row = np.zeros(int(columns.max()) - first + 1)
            row[columns - first] = values
            independent[k] = _rotated_in(triangle, row, first, tolerance)
    return independent


def _rotated_in(triangle: dict[int, np.ndarray], row: np.ndarray, first: int, tolerance: float) -> bool:
    """Whether anything is left of a row, which begins in column `first`, for a new row of the triangle."""
    while np.abs(row).max(initial=0.0) > tolerance:
        x = float(row[0])
        if abs(x) > NEGLIGIBLE * tolerance:
            above = triangle.get(first)
            if above is None:
                triangle[first] = row
                return True
            n = max(len(row), len(above))
            above, row = (np.concatenate([y, np.zeros(n - len(y))]) if len(y) < n else y for y in (above, row))
            size = math.hypot(float(above[0]), x)
            c, s = float(above[0]) / size, x / size
            triangle[first], row = c * above + s * row, c * row - s * above
        row, first = row[1:], first + 1
    return False
