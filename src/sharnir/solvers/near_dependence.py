"""Derivatives of accelerations where constraint rows nearly depend on one another.

There the solution is the one of (L7), in which ε stands beside S, and not that of the equations with constraints. Its six sweeps
are differentiated one by one: each is a state of a and λ with residuals of its own.  docs/theory/derivatives_closed.md (DC6)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from ..kernels.constrained import FLOOR, REFINED

Residuals = Callable[[np.ndarray, np.ndarray], Mapping[str, np.ndarray]]
"""From a (k, n) and λ (k, m): "r" and "s", and the changes "dr" (k, n, c), "ds" (k, m, c) along all directions; M and J."""


def refined_changes(residuals: Residuals, qdd: np.ndarray, lam: np.ndarray, share: float) -> tuple[np.ndarray, np.ndarray]:
    """Derivatives of a (k, n, c) and λ (k, m, c) as (L7) has them. `lam` may be any that goes with `qdd`: other methods divide
    the load between dependent rows in other ways, and r is differentiated at the λ of the sweeps."""
    here = residuals(qdd, lam)
    M, J = here["M"], here["J"]
    W = np.linalg.solve(M, J.swapaxes(1, 2)).swapaxes(1, 2)
    S = J @ W.swapaxes(1, 2)
    E = share * _diagonal(S)
    A = S + E[:, :, None] * np.eye(E.shape[1])
    d = _times(S, lam) - here["s"]
    free = qdd - _times(W.swapaxes(1, 2), lam)
    dE = share * _changes_of_diagonal(residuals, W)

    total, step, dlam = np.zeros_like(d), _solve(A, d), np.zeros_like(here["ds"])
    for _ in range(1 + REFINED):
        total = total + step
        here = residuals(free + _times(W.swapaxes(1, 2), total), total)
        defect = W @ here["dr"] - here["ds"]  # changes of d − Sλ at fixed λ
        dlam = dlam + np.linalg.solve(A, defect - S @ dlam - dE * step[:, :, None])
        step = _solve(A, E * step)
    return np.linalg.solve(M, J.swapaxes(1, 2) @ dlam - here["dr"]), dlam


def _changes_of_diagonal(residuals: Residuals, W: np.ndarray) -> np.ndarray:
    """(k, m, c): of what ε multiplies, from those of S: dS_kk is the change of row k along the motion of a unit λ_k."""
    m = W.shape[1]
    nothing = residuals(np.zeros_like(W[:, 0]), np.zeros(W.shape[:2]))
    dS = np.empty_like(nothing["ds"])
    for k in range(m):
        unit = np.zeros(W.shape[:2])
        unit[:, k] = 1.0
        found = residuals(np.ascontiguousarray(W[:, k]), unit)
        dS[:, k] = found["ds"][:, k] - nothing["ds"][:, k] - np.einsum("bn,bnc->bc", W[:, k], found["dr"] - nothing["dr"])
    return dS + FLOOR / m * dS.sum(axis=1, keepdims=True)


def _diagonal(S: np.ndarray) -> np.ndarray:
    """The diagonal of S as `constraint_matrix` adds to it."""
    d = np.diagonal(S, axis1=1, axis2=2)
    return d + FLOOR / d.shape[1] * d.sum(axis=1, keepdims=True)


def _solve(A: np.ndarray, x: np.ndarray) -> np.ndarray:
    return np.linalg.solve(A, x[:, :, None])[:, :, 0]


def _times(A: np.ndarray, x: np.ndarray) -> np.ndarray:
    return (A @ x[:, :, None])[:, :, 0]
