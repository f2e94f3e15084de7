"""The least motion that changes residuals as asked: δ = −Jᵀ(JJᵀ + μ)⁻¹ g, rows dense or sparse, dependent ones allowed."""

from __future__ import annotations

from typing import Any

import numpy as np

Rows = Any
"""A Jacobian (rows × nv): an array, or a sparse one of SciPy."""
RANK = 1e-14
"""Eigenvalues of JJᵀ below this, relative to the largest, belong to rows that depend on others."""
SPARSE_DAMPING = 1e-12
"""Damping of a sparse matrix in its place, relative to the mean of the diagonal."""
DENSE = 150
"""Rows up to which JJᵀ is factorized as a dense matrix."""
REFINEMENTS = 4


def stacked(J: Rows, more: np.ndarray) -> Rows:
    """J with more rows below."""
    if isinstance(J, np.ndarray):
        return np.concatenate([J, more])
    from scipy import sparse  # imported here: small models need no SciPy

    return sparse.csr_array(sparse.vstack([J, sparse.csr_array(more)]))


def of_speeds(J: Rows, which: np.ndarray) -> Rows:
    """J with zeros in the columns of all other speeds."""
    if isinstance(J, np.ndarray):
        return J * which
    from scipy import sparse

    return J @ sparse.diags_array(which.astype(float))


def least_motion(J: Rows, g: np.ndarray, damping: float = 0.0) -> np.ndarray:
    """(nv,): −Jᵀ(JJᵀ + μ)⁻¹ g, μ = `damping` times the mean of the diagonal."""
    if not len(g):
        return np.zeros(J.shape[1])
    return -np.asarray(J.T @ _gram_solution(J @ J.T, g, damping))


def along(J: Rows, n: np.ndarray) -> np.ndarray:
    """The part of a motion n (nv,) that changes no residual."""
    kept = n + least_motion(J, J @ n)
    return kept + least_motion(J, J @ kept)


def _gram_solution(A: Any, g: np.ndarray, damping: float) -> np.ndarray:
    m = len(g)
    mean = float(A.diagonal().sum()) / m
    if mean == 0.0:
        return np.zeros(m)
    if m <= DENSE:
        dense = A if isinstance(A, np.ndarray) else A.toarray()
        if damping:
            return np.linalg.solve(dense + damping * mean * np.eye(m), g)
        return np.linalg.lstsq(dense, g, rcond=RANK)[0]
    from scipy import sparse
    from scipy.sparse.linalg import splu

    factors = splu((sparse.csc_array(A) + max(damping, SPARSE_DAMPING) * mean * sparse.eye_array(m)).tocsc())
    found = factors.solve(g)
    for _ in range(0 if damping else REFINEMENTS):  # dependent rows stay out, the others are solved to rounding
        found = found + factors.solve(g - A @ found)
    return np.asarray(found)
