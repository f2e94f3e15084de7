"""Lagrange's equations of the first kind by Cholesky's method on the band of L: [I] (3.10) as §4 and Fig. 1 (method 3) take it.

Multipliers stand in the order of the joints' numbers. The band follows from the numbering alone; of a chain it is as wide as two
joints have constraints, of a tree with branches it grows with the number of bodies (docs/theory/solving.md).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .blocks import Matrix
from .lagrange1 import solve_by
from .matrices import Matrices
from .solution import Solution


def solve(m: Matrices, tau: np.ndarray) -> Solution:
    """(3.10) with L factorised within its band."""
    width = half_bandwidth(m.k, [Z.shape[1] for Z in m.Z_blocks])
    return solve_by(m, tau, lambda L, right: solve_band(L, right, width))


def joints_that_meet(carriers: Sequence[int]) -> list[tuple[int, int]]:
    """Pairs of different joints that touch one body, the smaller number first: the blocks of L beside its diagonal."""
    of_body: dict[int, list[int]] = {}
    for i, k in enumerate(carriers):
        if k >= 0:  # the base moves as given: joints on it do not feel each other
            of_body.setdefault(k, [k]).append(i)
    return [(i, j) for joints in of_body.values() for n, j in enumerate(joints) for i in joints[:n]]


def half_bandwidth(carriers: Sequence[int], sizes: Sequence[int]) -> int:
    """How many diagonals of L below the main one are not zero, given the number of constraints of every joint."""
    start = np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)])
    blocks = [*((i, i) for i in range(len(sizes))), *joints_that_meet(carriers)]
    return int(max((start[j + 1] - 1 - start[i] for i, j in blocks if sizes[i] and sizes[j]), default=0))


def solve_band(L: Matrix, right: np.ndarray, width: int) -> np.ndarray:
    """The solution of a symmetric positive definite system with so many diagonals beside the main one."""
    if not len(right):
        return right
    from scipy.linalg import cho_solve_banded, cholesky_banded

    band = np.zeros((width + 1, len(right)))
    for c in range(width + 1):
        band[c, : len(right) - c] = L.diagonal(-c)
    return cho_solve_banded((cholesky_banded(band, lower=True), True), right)
