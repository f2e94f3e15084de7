"""Semi-implicit (symplectic) Euler, order 1, fixed step: speeds first, then positions with the new speeds.

    v1 = v + h a(q, v),   q1 = q + h q'(q, v1);   x = (q, v), q its first `split` numbers

Hairer, Lubich, Wanner: Geometric Numerical Integration, I.1.2
"""

from .advance import advance
from .dense import hermite_rows, nested_polynomial
from .fixed import fixed_arrival, fixed_start, fixed_target
from .problem import DERIVATIVE, RATES, has, perform
from .state import EVALUATIONS, SPLIT, T, keep_old


def euler_update(problem, x, k, t, h, split):
    """x after a step of h.  Reads x and k, the slope at (t, x)."""
    for i in range(split):
        problem.X[i] = x[i]
    for i in range(split, x.shape[0]):
        x[i] += h * k[i]
        problem.X[i] = x[i]
    problem.T[0] = t
    perform(problem, RATES if has(problem, RATES) else DERIVATIVE)
    for i in range(split):
        x[i] += h * problem.DX[i]


def euler_step(problem, run, memory):
    t = run.clock[T]
    t_new = fixed_target(run)
    keep_old(run)
    euler_update(problem, run.x, run.dx, t, t_new - t, int(run.rule[SPLIT]))
    run.tally[EVALUATIONS] += 0.0 if has(problem, RATES) else 1.0
    return fixed_arrival(problem, run, t_new)


def euler(problem, run, events, output, memory):
    return advance(fixed_start, euler_step, hermite_rows, nested_polynomial, problem, run, events, output, memory)
