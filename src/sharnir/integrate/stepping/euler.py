"""Semi-implicit (symplectic) Euler, order 1, fixed step: speeds first, then positions with the new speeds.

    v1 = v + h a(q, v),   q1 = q + h q'(q, v1);   x = (q, v), q its first `split` numbers

Hairer, Lubich, Wanner: Geometric Numerical Integration, I.1.2
"""

from .advance import advance
from .dense import hermite_rows, nested_polynomial
from .fixed import fixed_arrival, fixed_start, fixed_target
from .problem import RATES, derive, has, perform
from .state import SPLIT, T, keep_old


def euler_step(problem, run, memory):
    t_new = fixed_target(run)
    h = t_new - run.clock[T]
    split = int(run.rule[SPLIT])
    keep_old(run)
    for i in range(split):
        problem.X[i] = run.x[i]
    for i in range(split, run.x.shape[0]):
        run.x[i] += h * run.dx[i]
        problem.X[i] = run.x[i]
    if has(problem, RATES):
        problem.T[0] = run.clock[T]
        perform(problem, RATES)
    else:
        derive(problem, run, run.clock[T])
    for i in range(split):
        run.x[i] += h * problem.DX[i]
    return fixed_arrival(problem, run, t_new)


def euler(problem, run, events, output, memory):
    return advance(fixed_start, euler_step, hermite_rows, nested_polynomial, problem, run, events, output, memory)
