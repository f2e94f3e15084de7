"""How large a step: the first one, and the weights against which errors are measured.  Hairer, Norsett, Wanner I, II.4"""

from ...dialect.ops import sqrt
from .problem import derive, evaluate
from .state import MAX_STEP, RTOL, SINCE, T_END, H, T, all_finite, forward_sign


def begin(problem, run):
    """The derivative at the start; whether it is finite."""
    evaluate(problem, run, run.clock[T], run.x, run.dx)
    run.tally[SINCE] = 0.0
    return all_finite(run, run.dx)


def first_step(problem, run, order):
    """clock[H]: a step whose error is about a hundredth of the tolerance, by one explicit Euler step.  II.4, page 169"""
    n = run.x.shape[0]
    t, sign = run.clock[T], forward_sign(run)
    most = min(run.rule[MAX_STEP], abs(run.clock[T_END] - t))
    if run.clock[H] == run.clock[H]:  # given by the caller
        run.clock[H] = sign * min(abs(run.clock[H]), most)
        return
    d0, d1 = 0.0, 0.0
    for i in range(n):
        weight = run.atol[i] + run.rule[RTOL] * abs(run.x[i])
        d0 += (run.x[i] / weight) * (run.x[i] / weight)
        d1 += (run.dx[i] / weight) * (run.dx[i] / weight)
    d0, d1 = sqrt(d0 / max(n, 1)), sqrt(d1 / max(n, 1))
    h = min(1e-6 if d0 < 1e-5 or d1 < 1e-5 else 0.01 * d0 / d1, most)
    for i in range(n):
        problem.X[i] = run.x[i] + sign * h * run.dx[i]
    derive(problem, run, t + sign * h)
    d2 = 0.0
    for i in range(n):
        weight = run.atol[i] + run.rule[RTOL] * abs(run.x[i])
        d2 += ((problem.DX[i] - run.dx[i]) / weight) * ((problem.DX[i] - run.dx[i]) / weight)
    d2 = sqrt(d2 / max(n, 1)) / h if h > 0.0 else 0.0
    if max(d1, d2) <= 1e-15:
        h1 = max(1e-6, 1e-3 * h)
    else:
        h1 = (0.01 / max(d1, d2)) ** (1.0 / (order + 1.0))
    if h1 == h1:  # nan: the trial step was too large
        h = min(100.0 * h, h1)
    run.clock[H] = sign * min(h, most)


def weight_of(run, i, x):
    """Error weight of component i between the old state and x."""
    return run.atol[i] + run.rule[RTOL] * max(abs(run.x_old[i]), abs(x))
