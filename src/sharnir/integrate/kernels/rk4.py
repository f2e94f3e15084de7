"""The classical method of Runge and Kutta, order 4, fixed step.  Kutta 1901

Four evaluations a step; stages are written straight into the problem's buffer.
"""

from .advance import advance
from .dense import hermite_rows, nested_polynomial
from .fixed import fixed_arrival, fixed_start, fixed_target
from .problem import slope
from .state import EVALUATIONS, T, keep_old


def rk4_update(problem, x, x_old, k, t, h, t_new):
    """x = x_old + h (k1 + 2 k2 + 2 k3 + k4) / 6.  Reads x = x_old and k = k1, the slope at (t, x_old)."""
    rk4_stage(problem.X, x, x_old, k, 0.5 * h, h / 6.0)
    slope(problem, t + 0.5 * h)
    rk4_stage(problem.X, x, x_old, problem.DX, 0.5 * h, h / 3.0)
    slope(problem, t + 0.5 * h)
    rk4_stage(problem.X, x, x_old, problem.DX, h, h / 3.0)
    slope(problem, t_new)
    for i in range(x.shape[0]):
        x[i] += h / 6.0 * problem.DX[i]


def rk4_stage(X, x, x_old, k, ahead, weight):
    """The state of the next stage, and this stage's share of the sum."""
    for i in range(x.shape[0]):
        X[i] = x_old[i] + ahead * k[i]
        x[i] += weight * k[i]


def rk4_step(problem, run, memory):
    t = run.clock[T]
    t_new = fixed_target(run)
    keep_old(run)
    rk4_update(problem, run.x, run.x_old, run.dx_old, t, t_new - t, t_new)
    run.tally[EVALUATIONS] += 3.0
    return fixed_arrival(problem, run, t_new)


def rk4(problem, run, events, output, memory):
    return advance(fixed_start, rk4_step, hermite_rows, nested_polynomial, problem, run, events, output, memory)
