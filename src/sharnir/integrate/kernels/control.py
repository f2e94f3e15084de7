"""How large a step: the first one, the weights against which errors are measured, and whether stability limits it.

Hairer, Norsett, Wanner I, II.4.  Steps of an explicit method that its stability limits, not its accuracy, are counted. The last
stage and the new state belong to the same time and are near each other; how much faster than they themselves their derivatives
differ is an estimate of the largest eigenvalue that matters:  h |λ| ≈ h |f(y) - f(Y)| / |y - Y|.  Hairer, Wanner II, IV.2, and
their code DOP853.
"""

from ...dialect.ops import select, sqrt
from .problem import derive, evaluate
from .state import CALM, MAX_STEP, NUMBERS, RTOL, SINCE, STIFF, T_END, T_OLD, H, T, all_finite, forward_sign

WINDOW = 400  # steps over which the pace of a run is taken
SLOW = 1e5  # steps that it would still need at that pace, to be suspected of chatter (chatter.py)
NEVER = 1e300  # rule[ALARM] of a run that nobody watches
BOUND = 6.1  # h |λ| where dop853 becomes unstable
RELIEF = 6.0  # steps within the bound, one after the other, after which those beyond it are forgotten


def begin(problem, run):
    """The derivative at the start; whether it is finite."""
    evaluate(problem, run, run.clock[T], run.x, run.dx)
    run.tally[SINCE] = 0.0
    return all_finite(run, run.dx)


def first_step(problem, run, order):
    """Set clock[H], as the caller has given it, or estimated."""
    if run.clock[H] == run.clock[H]:
        run.clock[H] = forward_sign(run) * min(abs(run.clock[H]), longest_step(run))
    else:
        run.clock[H] = estimated_step(problem, run, order)


def longest_step(run):
    return min(run.rule[MAX_STEP], abs(run.clock[T_END] - run.clock[T]))


def estimated_step(problem, run, order):
    """A step whose error is about a hundredth of the tolerance, by one explicit Euler step.  II.4, page 169"""
    n, numbers = run.x.shape[0], max(run.rule[NUMBERS], 1.0)
    t, sign, most = run.clock[T], forward_sign(run), longest_step(run)
    d0, d1 = 0.0, 0.0
    for i in range(n):
        weight = run.atol[i] + run.rule[RTOL] * abs(run.x[i])
        d0 += (run.x[i] / weight) * (run.x[i] / weight)
        d1 += (run.dx[i] / weight) * (run.dx[i] / weight)
    d0, d1 = sqrt(d0 / numbers), sqrt(d1 / numbers)
    h = min(select(d0 < 1e-5 or d1 < 1e-5, 1e-6, 0.01 * d0 / max(d1, 1e-5)), most)
    for i in range(n):
        problem.X[i] = run.x[i] + sign * h * run.dx[i]
    derive(problem, run, t + sign * h)
    d2 = 0.0
    for i in range(n):
        weight = run.atol[i] + run.rule[RTOL] * abs(run.x[i])
        d2 += ((problem.DX[i] - run.dx[i]) / weight) * ((problem.DX[i] - run.dx[i]) / weight)
    d2 = select(h > 0.0, sqrt(d2 / numbers) / max(h, 1e-300), 0.0)
    fastest = max(d1, d2)
    h1 = select(fastest <= 1e-15, max(1e-6, 1e-3 * h), (0.01 / max(fastest, 1e-15)) ** (1.0 / (order + 1.0)))
    h = select(h1 == h1, min(100.0 * h, h1), h)  # nan: the trial step was too large
    return sign * min(h, most)


def weight_of(run, i, x):
    """Error weight of component i between the old state and x."""
    return run.atol[i] + run.rule[RTOL] * max(abs(run.x_old[i]), abs(x))


def count_stiff_steps(run, s, stages):
    """tally[STIFF] after an accepted step."""
    h = run.clock[T] - run.clock[T_OLD]
    run.tally[STIFF], run.tally[CALM] = stiff_and_calm(run, s.A, s.B, s.K, run.x, stages, h)


def stiff_and_calm(run, A, B, K, x, stages, h):
    """The counts after a step of h to x.  Weighted as errors are: numbers that no tolerance watches do not count."""
    apart, turned = 0.0, 0.0
    last = stages - 1
    before = A[last]
    for i in range(x.shape[0]):
        d = B[last] * K[last, i]
        for j in range(last):
            d += (B[j] - before[j]) * K[j, i]
        w = weight_of(run, i, x[i])
        d = h * d / w
        f = h * (K[stages, i] - K[last, i]) / w
        apart += d * d
        turned += f * f
    beyond = sqrt(turned) > BOUND * sqrt(apart)
    calm = select(beyond, 0.0, run.tally[CALM] + 1.0)
    stiff = select(beyond, run.tally[STIFF] + 1.0, select(calm >= RELIEF, 0.0, run.tally[STIFF]))
    return stiff, calm
