"""The implicit midpoint rule, order 2, fixed step, symplectic: x1 = x + h f(t + h/2, (x + x1)/2), solved to rounding.

The slope k is found by fixed-point iteration from an extrapolation of the last two; it is done when the correction stops
getting smaller, which is when only rounding is left.  The sum over steps is compensated (Kahan), so that over a million of
them rounding errors do not drift.  Hairer, Lubich, Wanner: Geometric Numerical Integration, VI.4, VIII.5–6
"""

from typing import NamedTuple

from ...dialect.arrays import Array
from .advance import advance
from .dense import hermite_rows, nested_polynomial
from .fixed import fixed_arrival, fixed_start, fixed_target, step_back
from .problem import derive
from .state import GOING, LARGEST, NO_CONVERGENCE, NOT_FINITE, SINCE, T, all_finite, keep_old

MIDPOINT_ITERATIONS = 60


class MidpointMemory(NamedTuple):
    k: Array["n"]  # slope of the step
    k_last: Array["n"]  # of the one before
    carry: Array["n"]  # compensation of the rounding of x (Kahan)


def midpoint_start(problem, run, memory):
    status = fixed_start(problem, run, memory)
    for i in range(run.x.shape[0]):
        memory.k[i] = run.dx[i]
        memory.k_last[i] = run.dx[i]
        memory.carry[i] = 0.0
    return status


def midpoint_step(problem, run, memory):
    t_new = fixed_target(run)
    h = t_new - run.clock[T]
    keep_old(run)
    for i in range(run.x.shape[0]):  # extrapolated from the last two slopes
        guess = 2.0 * memory.k[i] - memory.k_last[i] if run.tally[SINCE] > 1.0 else run.dx[i]
        memory.k_last[i] = memory.k[i]
        memory.k[i] = guess
    status = midpoint_slope(problem, run, memory, run.clock[T] + 0.5 * h, h)
    if status != GOING:
        step_back(run)
        return status
    for i in range(run.x.shape[0]):
        rise = h * memory.k[i] + memory.carry[i]
        run.x[i] = run.x_old[i] + rise
        memory.carry[i] = rise - (run.x[i] - run.x_old[i])
    return fixed_arrival(problem, run, t_new)


def midpoint_slope(problem, run, memory, t, h):
    """memory.k = f(t, x + h/2 k) to rounding."""
    before, first = LARGEST, 0.0
    for count in range(MIDPOINT_ITERATIONS):
        for i in range(run.x.shape[0]):
            problem.X[i] = run.x_old[i] + 0.5 * (h * memory.k[i] + memory.carry[i])
        derive(problem, run, t)
        change, size = 0.0, 0.0
        for i in range(run.x.shape[0]):
            change = max(change, abs(problem.DX[i] - memory.k[i]))
            size = max(size, abs(problem.DX[i]))
            memory.k[i] = problem.DX[i]
        if not all_finite(run, memory.k):
            return NOT_FINITE
        if change == 0.0 or (change >= before and change <= 1e-10 * size):
            return GOING
        if count == 0:
            first = change
        if change > 1e6 * first:
            return NO_CONVERGENCE
        before = change
    return NO_CONVERGENCE


def midpoint(problem, run, events, output, memory):
    return advance(midpoint_start, midpoint_step, hermite_rows, nested_polynomial, problem, run, events, output, memory)
