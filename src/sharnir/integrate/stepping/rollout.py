"""Many trajectories side by side, fixed steps: one flat state of all lanes, part by part (all q, then all v).

A lane that leaves the numbers is stopped where it was, and the others go on. Inputs are held over a step: row k of `held`
is copied to where the derivative reads it.
"""

from typing import NamedTuple

from ...dialect.arrays import Array, IntegerArray
from .problem import DERIVATIVE, PROJECTION, RATES, copy, has, perform
from .rk4 import rk4_stage


class Lanes(NamedTuple):
    x: Array["n"]
    x_old: Array["n"]
    u: Array["m"]  # inputs, where the derivative reads them
    held: Array["nu", "m"]  # a row for each step from the first on; none: u stays as it is
    rows: Array["rows", "n"]  # what is kept
    failed: Array["lanes"]  # when a lane failed; inf: it has not
    parts: IntegerArray["parts"]  # numbers in each part of a lane's state
    clock: Array[3]  # time of the start, step, split (where all q end)
    count: IntegerArray[4]  # steps done, steps to do until, rows kept, a row every so many steps


def rollout_rk4(problem, lanes):
    while begin_step(problem, lanes):
        h = lanes.clock[1]
        t = lanes.clock[0] + h * lanes.count[0]
        x, x_old = lanes.x, lanes.x_old
        copy(x, x_old)
        copy(x, problem.X)
        derive_at(problem, t)
        rk4_stage(problem.X, x, x_old, problem.DX, 0.5 * h, h / 6.0)
        derive_at(problem, t + 0.5 * h)
        rk4_stage(problem.X, x, x_old, problem.DX, 0.5 * h, h / 3.0)
        derive_at(problem, t + 0.5 * h)
        rk4_stage(problem.X, x, x_old, problem.DX, h, h / 3.0)
        derive_at(problem, t + h)
        for i in range(x.shape[0]):
            x[i] += h / 6.0 * problem.DX[i]
        end_step(problem, lanes, t + h)
    return 0


def rollout_euler(problem, lanes):
    """Semi-implicit: speeds first, positions with the new speeds."""
    while begin_step(problem, lanes):
        h, split = lanes.clock[1], int(lanes.clock[2])
        t = lanes.clock[0] + h * lanes.count[0]
        x = lanes.x
        copy(x, lanes.x_old)
        copy(x, problem.X)
        derive_at(problem, t)
        for i in range(split, x.shape[0]):
            x[i] += h * problem.DX[i]
            problem.X[i] = x[i]
        problem.T[0] = t
        perform(problem, RATES if has(problem, RATES) else DERIVATIVE)
        for i in range(split):
            x[i] += h * problem.DX[i]
        end_step(problem, lanes, t + h)
    return 0


def derive_at(problem, t):
    problem.T[0] = t
    perform(problem, DERIVATIVE)


def begin_step(problem, lanes):
    """Whether there is a step to do; its inputs are put in place."""
    done = lanes.count[0]
    if done >= lanes.count[1]:
        return False
    if lanes.held.shape[0] > 0:
        copy(lanes.held[done], lanes.u)
    return True


def end_step(problem, lanes, t):
    stop_lost_lanes(lanes, t)
    if has(problem, PROJECTION):
        copy(lanes.x, problem.X)
        problem.T[0] = t
        perform(problem, PROJECTION)
        copy(problem.X, lanes.x)
    count = lanes.count
    count[0] += 1
    if count[0] % count[3] == 0:
        copy(lanes.x, lanes.rows[count[2]])
        count[2] += 1


def stop_lost_lanes(lanes, t):
    """A lane with a number that is not finite goes back to where it was, for good."""
    n = lanes.failed.shape[0]
    lost = 0.0
    for i in range(lanes.x.shape[0]):
        lost = lost + 0.0 * lanes.x[i]
    for lane in range(n):
        if lost == 0.0 and not lanes.failed[lane] < t:
            continue
        good, at = 0.0, 0
        for part in range(lanes.parts.shape[0]):
            size = lanes.parts[part]
            for c in range(size):
                good = good + 0.0 * lanes.x[at + lane * size + c]
            at += n * size
        if good != 0.0 and lanes.failed[lane] > t:
            lanes.failed[lane] = t
        if lanes.failed[lane] <= t:
            at = 0
            for part in range(lanes.parts.shape[0]):
                size = lanes.parts[part]
                for c in range(size):
                    lanes.x[at + lane * size + c] = lanes.x_old[at + lane * size + c]
                at += n * size
