"""Where a run stands: what every method shares. Everything is in arrays, so that a run can be left and taken up again."""

from typing import NamedTuple

from ...dialect.arrays import Array
from ...dialect.ops import select

GOING, DONE, PAUSED, EVENT_STOP, EVENT_CHANGE, STEP_TOO_SMALL, NOT_FINITE, NO_CONVERGENCE, UNDEFINED, LEFT = range(10)

# clock: times and steps.  STARTED: 0 at a new state, 1 in the course of a run, TAKEN_OVER by another method
T, T_OLD, H, T_START, T_END, SCANNED, STARTED, ERROR_OLD = range(8)
# tally: counts and extremes
STEPS, REJECTED, EVALUATIONS, JACOBIANS, FACTORIZATIONS, SINCE, BAD, H_FIRST, H_LAST, H_MIN, H_MAX, WRITTEN = range(12)
STIFF, CALM = range(12, 14)
# rule: the options of the caller
RTOL, MAX_STEP, STEP, PIECE, SPLIT, ALARM, NUMBERS = range(7)  # NUMBERS: over which explicit methods average errors

TAKEN_OVER = -1.0
NODES = 32  # numbers that may belong to the polynomial of a step
EPS = 2.220446049250313e-16
LARGEST = 1.7976931348623157e308


class Run(NamedTuple):
    x: Array["n"]  # state at clock[T]
    dx: Array["n"]  # its derivative
    x_old: Array["n"]  # the other end of the last step
    dx_old: Array["n"]
    atol: Array["n"]
    F: Array["nF", "n"]  # the last step as a polynomial, where it is needed (dense.py)
    nodes: Array["nN"]  # numbers that belong to it
    weights: Array["nN"]
    clock: Array[8]
    tally: Array[14]
    rule: Array[7]
    total: Array["nr"]  # of problem.report over all steps
    peak: Array["nr"]


def forward_sign(run):
    return select(run.clock[T_END] >= run.clock[T], 1.0, -1.0)


def all_finite(run, x):
    """Whether all numbers are finite; if not, tally[BAD] is the first that is not."""
    bad = 0
    for i in range(x.shape[0]):
        bad += 0 if abs(x[i]) <= LARGEST else 1
    if bad == 0:
        return True
    for i in range(x.shape[0]):
        if not abs(x[i]) <= LARGEST:
            run.tally[BAD] = i
            break
    return False


def smallest_step(run):
    """Below this a step is lost in the rounding of the time."""
    return 10.0 * EPS * max(abs(run.clock[T]), 1e-300)


def reach(run, h):
    """The time at the end of a step of h: the end of the run where that is about as far."""
    t, end = run.clock[T], run.clock[T_END]
    return select((t + 1.01 * h - end) * h >= 0.0, end, t + h)


def keep_old(run):
    for i in range(run.x.shape[0]):
        run.x_old[i] = run.x[i]
        run.dx_old[i] = run.dx[i]


def arrive_at(run, t):
    """The step to t is accepted: the time goes on, the counts too."""
    clock, tally = run.clock, run.tally
    clock[T_OLD] = clock[T]
    clock[T] = t
    h = t - clock[T_OLD]
    if tally[STEPS] == 0.0:
        tally[H_FIRST] = h
        tally[H_MIN] = abs(h)
        tally[H_MAX] = abs(h)
    tally[H_LAST] = h
    tally[H_MIN] = min(tally[H_MIN], abs(h))
    tally[H_MAX] = max(tally[H_MAX], abs(h))
    tally[STEPS] += 1.0
    tally[SINCE] += 1.0
