"""Accelerations of a mechanism with constraints, plain or stabilised, and its corrections; in the dialect of the kernels.

The same text runs on symbols, and becomes straight-line code with the equations of a small model; on floats; and compiled as
loops over arrays that straight-line code has filled, for large models.  docs/theory/loops.md
"""

from typing import NamedTuple

from ...dialect.arrays import Array, IntegerArray
from ...dialect.memory import invoke
from ...kernels.cholesky import factor, substitute
from ...kernels.constrained import (
    ON_MOTION,
    constrained_accelerations,
    constraint_forces,
    constraint_matrix,
    constraint_weights,
    correction,
    drift_correction,
    least_pivot,
    refined_on_residuals,
    weighted_rows,
)
from ...kernels.iterative import warm_started_direct, warm_started_inverse


class ConstrainedState(NamedTuple):
    """The equations at one state (either M and right, or W and free), and their solution."""

    share: Array[1]  # e
    M: Array["nm", "nm"]
    diagonal: Array["nm"]
    right: Array["nm"]
    W: Array["m", "n"]  # J M^-1
    free: Array["n"]  # accelerations without the constraints
    J: Array["m", "n"]
    gamma: Array["m"]  # J v̇ + gamma = 0; where multipliers are eliminated with the bodies, K v̇ + gamma = 0
    g: Array["mh"]  # residuals of the holonomic constraints, the first mh rows
    rate: Array["m"]  # their rates, and the residuals of the nonholonomic constraints
    qrate: Array["nq"]
    y: Array["n"]
    S: Array["m", "m"]
    L: Array["m", "m"]
    z: Array["m"]
    d: Array["m"]
    e: Array["m"]
    lam: Array["m"]
    qdd: Array["n"]
    delta: Array["n"]
    again: Array["nsr"]  # as long as solutions by residuals are many; not read


class StabilisationTerms(NamedTuple):
    decay: Array["nd"]  # of Baumgarte 2 alpha and beta^2; of GGL kappa
    dq: Array["nq"]  # displacement of the coordinates by delta
    change: Array["m"]  # change of the rates of the constraints along dq
    calls: IntegerArray["nc", 2]  # for loops: dq from delta; change from dq


class Iteration(NamedTuple):
    """Arrays that an iterative method keeps from call to call (`InertiaMemory`), how far it goes, and what it reports."""

    H: Array["n", "n"]
    K: Array["n", "n"]
    r: Array["n"]
    s: Array["n"]
    y: Array["n"]
    tolerance: Array[1]
    report: Array[2]  # iterations, of all right-hand sides together; 1 where a factorisation was needed
    each: Array[2]


class Responses(NamedTuple):
    """Responses of accelerations and multipliers of many states to any right-hand side."""

    share: Array[1]  # e
    M: Array["ns", "n", "n"]  # becomes its factors
    J: Array["ns", "m", "n"]
    K: Array["ns", "n", "n"]  # M^-1
    W: Array["ns", "m", "n"]  # J M^-1
    G: Array["ns", "m", "m"]  # row k: lam with S lam = unit k
    independent: Array["ns"]  # the least pivot of S relative to its diagonal: 1 where rows are orthogonal, 0 where dependent
    y: Array["n"]
    S: Array["m", "m"]
    L: Array["m", "m"]
    z: Array["m"]
    d: Array["m"]
    e: Array["m"]


# --- accelerations ------------------------------------------------------------------------------------------------------------
def weights(c):
    """W and free from M, which becomes its factors, and right. A method without an inertia matrix (M has no rows) gives both."""
    if c.M.shape[0] > 0:
        constraint_weights(c.M, c.diagonal, c.J, c.right, c.y, c.W, c.free)
    return 0


def weights_by_iteration(warm_started, c, w):
    """The same by an iterative method, M being left as it is: each right-hand side starts from the matrix that the one before has
    improved."""
    warm_started(c.M, c.right, w, c.free, w.tolerance[0], w.report)
    for k in range(c.J.shape[0]):
        warm_started(c.M, c.J[k], w, c.W[k], w.tolerance[0], w.each)
        w.report[0] = w.report[0] + w.each[0]
        w.report[1] = max(w.report[1], w.each[1])
    return 0


def weights_by_inverse_iteration(c, w):
    return weights_by_iteration(warm_started_inverse, c, w)


def weights_by_direct_iteration(c, w):
    return weights_by_iteration(warm_started_direct, c, w)


def solve_weighted(c):
    constrained_accelerations(c.J, c.W, c.free, c.gamma, c.share[0], c.S, c.L, c.z, c.d, c.e, c.lam, c.qdd)
    for sweep in range(c.again.shape[0]):
        refined_on_residuals(c.M, c.diagonal, c.right, c.J, c.W, c.gamma, c.L, c.e, c.y, c.lam, c.qdd)
    return 0


def find_responses(x):
    """Fill `Responses` by the factors that accelerations are found by.  (DC5)"""
    for b in range(x.M.shape[0]):
        M, n = x.M[b], x.M.shape[1]
        factor(M, x.y, n)
        for a in range(n):
            unit(x.K[b, a], a)
            substitute(M, x.K[b, a], n)
        weighted_rows(M, x.J[b], x.W[b])
        constraint_matrix(x.J[b], x.W[b], x.share[0], x.S, x.L, x.z)
        x.independent[b] = least_pivot(x.S, x.L)
        for k in range(x.J.shape[1]):
            unit(x.d, k)
            constraint_forces(x.S, x.L, x.d, x.e, x.G[b, k])
    return 0


def unit(x, k):
    for a in range(x.shape[0]):
        x[a] = 0.0
    x[k] = 1.0


# --- stabilised: after `weights`, before `solve_weighted` -----------------------------------------------------------------------
def add_baumgarte(c, s):
    """gamma such that g'' + decay_0 g' + decay_1 g = 0; nonholonomic rows have no g.  (L12)"""
    for k in range(c.rate.shape[0]):
        c.gamma[k] = c.gamma[k] + s.decay[0] * c.rate[k]
    for k in range(c.g.shape[0]):
        c.gamma[k] = c.gamma[k] + s.decay[1] * c.g[k]


class DriftingRows(NamedTuple):
    """The arrays of `add_baumgarte`, without the rest of a `ConstrainedState`."""

    gamma: Array["m"]
    g: Array["mh"]
    rate: Array["m"]
    decay: Array["nd"]


def decaying(c):
    add_baumgarte(c, c)
    return 0


def add_ggl(correct, displace, c, s):
    """qrate such that g' + decay_0 g = 0 along it, and gamma such that the rates decay as fast.  (L14), (L16)

    `correct` finds c.delta, the change of speeds after which rates are -decay_0 g; `displace` s.dq and s.change from it.
    """
    correct(c, s)
    displace(c, s)
    for a in range(s.dq.shape[0]):
        c.qrate[a] = c.qrate[a] + s.dq[a]
    for k in range(s.change.shape[0]):
        c.gamma[k] = c.gamma[k] + s.change[k] + s.decay[0] * c.rate[k]


def correct_drift(c, s):
    drift_correction(c.J, c.W, c.g, c.rate, s.decay[0], c.share[0], c.S, c.L, c.z, c.d, c.e, c.lam, c.delta)


def displace_by_calls(c, s):
    invoke(s.calls[0, 0], s.calls[0, 1])
    invoke(s.calls[1, 0], s.calls[1, 1])


def solve_baumgarte(c, s):
    add_baumgarte(c, s)
    return solve_weighted(c)


def solve_ggl(c, s):
    add_ggl(correct_drift, displace_by_calls, c, s)
    return solve_weighted(c)


# --- corrections of a state -----------------------------------------------------------------------------------------------------
def position_correction(c):
    """c.delta: the small motion, least in the metric of the masses, that closes the gaps g."""
    weights(c)
    correction(c.J, c.W, c.g, ON_MOTION * c.share[0], c.S, c.L, c.z, c.d, c.e, c.lam, c.delta)


def speed_correction(c):
    """c.delta: the change of speeds, least in the metric of the masses, after which the rates vanish."""
    weights(c)
    correction(c.J, c.W, c.rate, ON_MOTION * c.share[0], c.S, c.L, c.z, c.d, c.e, c.lam, c.delta)
