"""Block matrices, dense or sparse, and the solvers that fit them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

Matrix = Any
"""A NumPy array, or a SciPy sparse array where the matrices were made with `sparse=True`."""


def skew(x: np.ndarray) -> np.ndarray:
    """x̃: the matrix of the vector product."""
    return np.array([[0.0, -x[2], x[1]], [x[2], 0.0, -x[0]], [-x[1], x[0], 0.0]])


def transfer(G: np.ndarray, rho: np.ndarray) -> np.ndarray:
    """C = [G −Gρ̃; 0 G]: takes velocities from a carrier to a body.                                          [I] (2.13)"""
    C = np.zeros((6, 6))
    C[:3, :3] = C[3:, 3:] = G
    C[:3, 3:] = -G @ skew(rho)
    return C


def assembled(blocks: Iterable[tuple[int, int, np.ndarray]], rows: Sequence[int], columns: Sequence[int], sparse: bool) -> Matrix:
    """A matrix from (row, column, block), given the heights of its rows of blocks and the widths of its columns of blocks."""
    r, c = (np.cumsum([0, *sizes]) for sizes in (rows, columns))
    if not sparse:
        out = np.zeros((r[-1], c[-1]))
        for i, j, block in blocks:
            out[r[i] : r[i + 1], c[j] : c[j + 1]] = block
        return out
    from scipy import sparse as sp  # imported here: checking inertias needs no SciPy

    I, J, X = [np.zeros(0, int)], [np.zeros(0, int)], [np.zeros(0)]
    for i, j, block in blocks:
        di, dj = np.indices(block.shape)
        I.append((r[i] + di).ravel())
        J.append((c[j] + dj).ravel())
        X.append(block.ravel())
    where = (np.concatenate(I), np.concatenate(J))
    return sp.csr_array((np.concatenate(X), where), shape=(int(r[-1]), int(c[-1])))


def block_diagonal(blocks: Sequence[Matrix], sparse: bool) -> Matrix:
    blocks = [dense(b) for b in blocks]
    rows, columns = [b.shape[0] for b in blocks], [b.shape[1] for b in blocks]
    return assembled([(i, i, b) for i, b in enumerate(blocks)], rows, columns, sparse)


def stacked(top: Matrix, bottom: Matrix) -> Matrix:
    """One matrix on top of another."""
    if isinstance(top, np.ndarray):
        return np.vstack([top, bottom])
    from scipy import sparse as sp

    return sp.vstack([top, bottom])


def bordered(matrix: Matrix, rows: Matrix) -> Matrix:
    """[matrix −rowsᵀ; −rows 0]: a symmetric system with further rows, and multipliers that pull along them."""
    if isinstance(matrix, np.ndarray):
        K = dense(rows)
        return np.block([[matrix, -K.T], [-K, np.zeros((len(K), len(K)))]])
    from scipy import sparse as sp

    return sp.block_array([[matrix, -rows.T], [-rows, None]], format="csr")


def dense(x: Matrix) -> np.ndarray:
    """The same matrix as a NumPy array."""
    return x.toarray() if hasattr(x, "toarray") else np.asarray(x)


def solve_definite(matrix: Matrix, right: np.ndarray) -> np.ndarray:
    """A symmetric positive definite system: by Cholesky's method where it is dense, else by SuperLU."""
    if not isinstance(matrix, np.ndarray):
        from scipy.sparse.linalg import splu

        return splu(matrix.tocsc()).solve(right)
    from scipy.linalg import cho_factor, cho_solve

    return cho_solve(cho_factor(matrix), right)
