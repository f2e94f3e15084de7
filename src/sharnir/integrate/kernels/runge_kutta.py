"""Explicit Runge–Kutta methods with an embedded error estimate: the tableau is data, the text is the same for all.

    k_s = f(t + c_s h, x + h sum_j A_sj k_j),   x_new = x + h sum_j B_j k_j,   error = h sum_j E_j k_j

The derivative at the new state is stage s = `stages`.  Further stages, for the dense output alone, are made when one is
first needed.  Hairer, Norsett, Wanner I, II.4–II.6
"""

from typing import NamedTuple

from ...dialect.arrays import Array
from ...dialect.ops import select, sqrt
from .control import begin, first_step, weight_of
from .dense import hermite_rows
from .problem import copy, derive, evaluate, project
from .state import (
    ERROR_OLD,
    GOING,
    MAX_STEP,
    NOT_FINITE,
    NUMBERS,
    REJECTED,
    STEP_TOO_SMALL,
    T_OLD,
    H,
    T,
    all_finite,
    arrive_at,
    keep_old,
    reach,
    smallest_step,
)

BLOWN = 30  # halvings (by four) of a step in which numbers were not finite, before giving up


class Stages(NamedTuple):
    A: Array["ns", "ns"]  # tableau; rows beyond `stages` belong to the dense output
    B: Array["ns"]
    C: Array["ns"]
    E: Array[2, "ns"]  # error estimates; the second damps the first in dop853, else zero
    D: Array["nd", "ns"]  # dense output
    K: Array["ns", "n"]
    y: Array["n"]
    e: Array[2, "n"]


def add_stages(h, row, K, count, y):
    """y += h (row_0 k_0 + row_1 k_1 + …)."""
    for i in range(y.shape[0]):
        s = 0.0
        for j in range(count):
            s += row[j] * K[j, i]
        y[i] += h * s


def explicit_start(problem, run, order):
    if not begin(problem, run):
        return NOT_FINITE
    first_step(problem, run, order)
    run.clock[ERROR_OLD] = 1e-4
    return GOING


def explicit_step(problem, run, s, control):
    """One accepted step.  `early`: the error estimate needs the derivative at the new state.
    The next step is 0.9 (error)^-exponent (last error)^beta times this one, the factor between `least` and `most`."""
    stages, early, exponent, beta, least, most = control
    clock = run.clock
    h = clock[H]
    blown, rejected = 0, False
    keep_old(run)
    while True:
        if not abs(h) >= smallest_step(run):
            return NOT_FINITE if blown > 0 else STEP_TOO_SMALL
        t_new = reach(run, h)
        h = t_new - clock[T]
        explicit_stages(problem, run, s.A, s.B, s.C, s.K, s.y, stages, h)
        if early:
            evaluate(problem, run, t_new, s.y, s.K[stages])
        error = embedded_error(run, s.E, s.K, s.e, s.y, stages + 1 if early else stages, h)
        if 0.0 * error != 0.0:  # nan or inf somewhere: the step was too bold, or the way ends here
            all_finite(run, s.y)
            blown += 1
            if blown == BLOWN:
                return NOT_FINITE
            run.tally[REJECTED] += 1.0
            rejected = True
            h *= 0.25
            continue
        factor = growth(error, exponent, most)
        if error <= 1.0:
            copy(s.y, run.x)
            if project(problem, t_new, run.x) or not early:
                evaluate(problem, run, t_new, run.x, s.K[stages])
            if all_finite(run, s.K[stages]):
                break
            copy(run.x_old, run.x)
            blown += 1
            factor = 0.25
            if blown == BLOWN:
                return NOT_FINITE
        run.tally[REJECTED] += 1.0
        rejected = True
        h *= max(least, min(factor, 1.0))
    copy(s.K[stages], run.dx)
    clock[H] = next_step(run, h, factor, rejected, beta, least, most)
    clock[ERROR_OLD] = max(error, 1e-4)
    arrive_at(run, t_new)
    return GOING


def growth(error, exponent, most):
    """How much longer a step with this error could have been."""
    return select(error > 0.0, 0.9 * error**-exponent, most)


def next_step(run, h, factor, rejected, beta, least, most):
    """The step after an accepted one of h; just after one that was rejected it does not grow."""
    factor = max(least, min(factor * run.clock[ERROR_OLD] ** beta, select(rejected, 1.0, most)))
    h_next, longest = h * factor, run.rule[MAX_STEP]
    return select(abs(h_next) > longest, longest * h / abs(h), h_next)


def explicit_stages(problem, run, A, B, C, K, y, stages, h):
    """Evaluate all stages of a step of h; the new state is left in y."""
    copy(run.dx_old, K[0])
    for stage in range(1, stages):
        copy(run.x_old, problem.X)
        add_stages(h, A[stage], K, stage, problem.X)
        derive(problem, run, run.clock[T] + C[stage] * h)
        copy(problem.DX, K[stage])
    copy(run.x_old, y)
    add_stages(h, B, K, stages, y)


def embedded_error(run, E, K, e, y, count, h):
    """RMS of the weighted error.  With a second estimate, the combination of II.10 (10.17)."""
    n = y.shape[0]
    for r in range(2):
        for i in range(n):
            e[r, i] = 0.0
        add_stages(1.0, E[r], K, count, e[r])
    e5, e3 = 0.0, 0.0
    for i in range(n):
        w = weight_of(run, i, y[i])
        e5 += (e[0, i] / w) * (e[0, i] / w)
        e3 += (e[1, i] / w) * (e[1, i] / w)
    below = e5 + 0.01 * e3
    return abs(h) * e5 / sqrt(select(below != 0.0, below * run.rule[NUMBERS], 1.0))  # no error: 0 / 1


def explicit_rows(problem, run, A, C, D, K, stages, extra, rows):
    """The last step as a nested polynomial: `extra` more stages, then the `rows` of the tableau's D."""
    clock = run.clock
    h = clock[T] - clock[T_OLD]
    for stage in range(stages + 1, stages + 1 + extra):
        copy(run.x_old, problem.X)
        add_stages(h, A[stage], K, stage, problem.X)
        derive(problem, run, clock[T_OLD] + C[stage] * h)
        copy(problem.DX, K[stage])
    hermite_rows(problem, run, K)
    for d in range(rows):
        row = run.F[3 + d]
        for i in range(row.shape[0]):
            row[i] = 0.0
        add_stages(h, D[d], K, stages + 1 + extra, row)
