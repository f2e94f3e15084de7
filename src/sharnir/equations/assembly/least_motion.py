"""The least motion that changes residuals as asked: δ = −Jᵀ(JJᵀ + μ)⁻¹ g, rows dense or sparse, dependent ones allowed; and the
search that takes such steps.

Undamped while steps keep what they promise, it converges fast; damped where one does not, it descends to a least sum of squares.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

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


def times(A: np.ndarray, x: np.ndarray) -> np.ndarray:
    """A x of many states."""
    return np.asarray((A @ x[..., None])[..., 0])


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


# --- a damped Newton method for the least sum of squares (Levenberg, Marquardt): one search for all
FIRST_DAMPING, LAST_DAMPING = 1e-3, 1e9
STRAIGHT = 0.25
"""The share of the expected gain above which a step needs no damping."""
ACCEPTED = 1e-3
"""The share of the expected gain above which a step is taken."""


class Step(NamedTuple):
    """A step: the motion, and the decrease of the cost that it promises."""

    motion: np.ndarray
    promised: float
    ends: float | None = None
    """The search ends where this step leaves more than so large a share of the cost."""


P = TypeVar("P", bound=Any)
"""A point of a search: its `cost` is the sum of squares."""


def damped_newton(
    now: P,
    step: Callable[[P, float, float], Step | None],
    moved: Callable[[P, np.ndarray], P | None],
    iterations: int,
    damping: float = 0.0,
) -> P:
    """The end of the search from `now`. Damping is relative to the size of the equations.

    step   from a point, the damping, and the gain of the last step, relative to its promise (nan at first); None: the end
    moved  the point after a motion; None where it leads to none
    """
    gain = np.nan
    for _ in range(iterations):
        found = step(now, damping, gain)
        if found is None:
            break
        trial = moved(now, found.motion)
        if found.ends is not None and (trial is None or not trial.cost < found.ends * now.cost):
            return trial if trial is not None and trial.cost < now.cost else now
        gain = -1.0 if trial is None else (now.cost - trial.cost) / found.promised
        if trial is not None and ACCEPTED < gain < np.inf:
            now = trial
            damping = (0.1 * damping if damping > 1e-8 else 0.0) if gain > STRAIGHT else max(2.0 * damping, FIRST_DAMPING)
        elif damping > LAST_DAMPING:
            break
        else:
            damping = max(8.0 * damping, FIRST_DAMPING)
    return now
