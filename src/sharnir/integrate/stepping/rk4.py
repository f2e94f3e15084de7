"""The classical method of Runge and Kutta, order 4, fixed step.  Kutta 1901

Four evaluations a step; stages are written straight into the problem's buffer, so there is nothing else to pay for.
"""

from .advance import advance
from .dense import hermite_rows, nested_polynomial
from .fixed import fixed_arrival, fixed_start, fixed_target
from .problem import derive
from .state import T, keep_old


def rk4_step(problem, run, memory):
    t = run.clock[T]
    t_new = fixed_target(run)
    h = t_new - t
    keep_old(run)
    rk4_stage(problem.X, run.x, run.x_old, run.dx_old, 0.5 * h, h / 6.0)
    derive(problem, run, t + 0.5 * h)
    rk4_stage(problem.X, run.x, run.x_old, problem.DX, 0.5 * h, h / 3.0)
    derive(problem, run, t + 0.5 * h)
    rk4_stage(problem.X, run.x, run.x_old, problem.DX, h, h / 3.0)
    derive(problem, run, t_new)
    for i in range(run.x.shape[0]):
        run.x[i] += h / 6.0 * problem.DX[i]
    return fixed_arrival(problem, run, t_new)


def rk4_stage(X, x, x_old, k, ahead, weight):
    """The place of the next stage, and this stage's share of the sum."""
    for i in range(x.shape[0]):
        X[i] = x_old[i] + ahead * k[i]
        x[i] += weight * k[i]


def rk4(problem, run, events, output, memory):
    return advance(fixed_start, rk4_step, hermite_rows, nested_polynomial, problem, run, events, output, memory)
