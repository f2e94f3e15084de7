"""Explicit Runge–Kutta methods for as many runs as there are lanes: each has its own time, step and error; none waits.

The text of runge_kutta.py where it does not branch on numbers, compiled so that every number is a vector of lanes. All lanes
attempt a step together; which of them have taken it is a selection, lane by lane, so that no lane depends on its neighbours.
What comes up in a lane (the end, a step that is too small, a stiff stretch) stands in `mark`, for lane_scheduler.py to act on.
"""

from typing import NamedTuple

from ...dialect.arrays import Array, IntegerArray
from ...dialect.ops import select
from .control import SLOW, WINDOW, estimated_step, stiff_and_calm
from .dense import nested_polynomial
from .dop853 import DOP853_A, DOP853_B, DOP853_C, DOP853_CONTROL, DOP853_D, DOP853_E
from .dopri5 import DOPRI5_A, DOPRI5_B, DOPRI5_C, DOPRI5_CONTROL, DOPRI5_D, DOPRI5_E
from .problem import evaluate, project
from .runge_kutta import BLOWN, embedded_error, explicit_rows, explicit_stages, growth, next_step
from .state import (
    ALARM,
    CALM,
    ERROR_OLD,
    GOING,
    LARGEST,
    LEFT,
    NOT_FINITE,
    REJECTED,
    STEP_TOO_SMALL,
    STEPS,
    STIFF,
    T_END,
    T_OLD,
    H,
    T,
    keep_old,
    reach,
    smallest_step,
)

START, STEP, PREPARE, BETWEEN = range(4)  # tasks
# mark: what a lane has beside its run
STATUS, TAKEN, STARTING, SHORTENED, FAILURES, PACE_STEPS, PACE_T = range(7)


class Vector(NamedTuple):
    K: Array["ns", "n"]
    y: Array["n"]
    e: Array[2, "n"]
    mark: Array[7]
    at: Array[1]  # a time within the last step
    between: Array["n"]  # the state there
    task: IntegerArray[1]


def dop853_lanes(problem, run, v):
    work_on_lanes(problem, run, v, DOP853_A, DOP853_B, DOP853_C, DOP853_D, DOP853_E, DOP853_CONTROL, 7.0, 12, 3, 4)


def dopri5_lanes(problem, run, v):
    work_on_lanes(problem, run, v, DOPRI5_A, DOPRI5_B, DOPRI5_C, DOPRI5_D, DOPRI5_E, DOPRI5_CONTROL, 4.0, 6, 0, 1)


def work_on_lanes(problem, run, v, A, B, C, D, E, control, order, stages, extra, rows):
    """The task at hand, by a table: its order, stages, and of its dense output the `extra` stages and `rows`."""
    if v.task[0] == START:
        start_lanes(problem, run, v, order)
    elif v.task[0] == STEP:
        step_lanes(problem, run, v, A, B, C, E, control)
    elif v.task[0] == PREPARE:
        explicit_rows(problem, run, A, C, D, v.K, stages, extra, rows)
    else:
        nested_polynomial(run, v.at[0], v.between)


def start_lanes(problem, run, v, order):
    """Where a lane has a new run, its derivative and its first step. The others find the derivative they have."""
    mark, clock = v.mark, run.clock
    evaluate(problem, run, clock[T], run.x, run.dx)
    starting = mark[STARTING] == 1.0
    mark[STATUS] = select(starting and not_finite(run.dx), NOT_FINITE, mark[STATUS])
    mark[STARTING] = 0.0
    clock[H] = select(starting, estimated_step(problem, run, order), clock[H])


def step_lanes(problem, run, v, A, B, C, E, control):
    """A step of every lane, taken where its error is small enough; else it will be shorter next time."""
    stages, early, exponent, beta, least, most = control
    clock, tally, mark = run.clock, run.tally, v.mark
    keep_old(run)
    too_small = not abs(clock[H]) >= smallest_step(run)
    t_new = reach(run, clock[H])
    h = t_new - clock[T]
    explicit_stages(problem, run, A, B, C, v.K, v.y, stages, h)
    if early:
        evaluate(problem, run, t_new, v.y, v.K[stages])
    error = embedded_error(run, E, v.K, v.e, v.y, stages + 1 if early else stages, h)
    if project(problem, t_new, v.y) or not early:
        evaluate(problem, run, t_new, v.y, v.K[stages])
    blown, small_error = not abs(error) <= LARGEST, error <= 1.0
    undefined = not_finite(v.K[stages])
    factor = growth(error, exponent, most)
    shorter = h * select(blown, 0.25, max(least, min(select(small_error, 0.25, factor), 1.0)))
    longer = next_step(run, h, factor, mark[SHORTENED] == 1.0, beta, least, most)
    stiff, calm = stiff_and_calm(run, A, B, v.K, v.y, stages, h)
    taken = small_error and not undefined and not too_small
    failures = mark[FAILURES] + select(blown or (small_error and undefined), 1.0, 0.0)
    mark[TAKEN] = select(taken, 1.0, 0.0)
    mark[SHORTENED] = select(taken, 0.0, 1.0)
    mark[FAILURES] = select(taken, 0.0, failures)
    for i in range(run.x.shape[0]):
        run.x[i] = select(taken, v.y[i], run.x[i])
        run.dx[i] = select(taken, v.K[stages, i], run.dx[i])
    clock[H] = select(taken, longer, shorter)
    clock[ERROR_OLD] = select(taken, max(error, 1e-4), clock[ERROR_OLD])
    clock[T_OLD] = select(taken, clock[T], clock[T_OLD])
    clock[T] = select(taken, t_new, clock[T])
    tally[STEPS] += select(taken, 1.0, 0.0)
    tally[REJECTED] += select(taken, 0.0, 1.0)
    tally[STIFF] = select(taken, stiff, tally[STIFF])
    tally[CALM] = select(taken, calm, tally[CALM])
    left = tally[STIFF] > run.rule[ALARM] or slow(run, mark)
    status = select(too_small, STEP_TOO_SMALL, select(failures >= BLOWN, NOT_FINITE, select(left, LEFT, GOING)))
    mark[STATUS] = select(mark[STATUS] == GOING, status, mark[STATUS])


def slow(run, mark):
    """Whether a run is at a pace at which it is looked at for chatter: that is done for one run alone."""
    clock, steps = run.clock, run.tally[STEPS] - mark[PACE_STEPS]
    due = steps >= WINDOW
    pace = abs(clock[T] - mark[PACE_T]) / max(steps, 1.0)
    ahead = abs(clock[T_END] - clock[T]) / max(pace, 1e-300)
    mark[PACE_STEPS] = select(due, run.tally[STEPS], mark[PACE_STEPS])
    mark[PACE_T] = select(due, clock[T], mark[PACE_T])
    return due and ahead >= SLOW


def not_finite(x):
    bad = 0.0
    for i in range(x.shape[0]):
        bad = select(abs(x[i]) <= LARGEST, bad, 1.0)
    return bad == 1.0
