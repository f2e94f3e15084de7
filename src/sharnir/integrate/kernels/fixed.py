"""Parts shared by the methods of fixed step: a grid that does not drift and ends exactly at the end."""

from .problem import evaluate, project
from .state import GOING, NOT_FINITE, SINCE, STEP, T_END, T_START, T, all_finite, arrive_at, forward_sign


def fixed_start(problem, run, memory):
    evaluate(problem, run, run.clock[T], run.x, run.dx)
    run.clock[T_START] = run.clock[T]
    run.tally[SINCE] = 0.0
    return GOING if all_finite(run, run.dx) else NOT_FINITE


def fixed_target(run):
    """The end of the next step: counted from the start, so that rounding does not pile up."""
    clock = run.clock
    step = run.rule[STEP] * forward_sign(run)
    t = clock[T_START] + (run.tally[SINCE] + 1.0) * step
    if (clock[T_END] - t) * step <= 1e-9 * step * step:
        return clock[T_END]
    return t


def fixed_arrival(problem, run, t):
    """The new state stands in run.x: accept it and find its derivative, or go back."""
    if not all_finite(run, run.x):
        return step_back(run)
    project(problem, t, run.x)
    evaluate(problem, run, t, run.x, run.dx)
    if not all_finite(run, run.dx):
        return step_back(run)
    arrive_at(run, t)
    return GOING


def step_back(run):
    for i in range(run.x.shape[0]):
        run.x[i] = run.x_old[i]
        run.dx[i] = run.dx_old[i]
    return NOT_FINITE
