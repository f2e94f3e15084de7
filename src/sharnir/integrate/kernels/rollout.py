"""Many trajectories side by side, fixed steps: one flat state of all lanes, part by part (all q, then all v).

The updates are those of rk4.py and euler.py, on the state of all lanes at once. A lane whose state is not finite is stopped
at its last finite state, and the others go on. Inputs are held over a step: row k of `held` is copied to where the derivative
reads it.
"""

from typing import NamedTuple

from ...dialect.arrays import Array, IntegerArray
from .euler import euler_update
from .problem import copy, project, slope
from .rk4 import rk4_update


class Lanes(NamedTuple):
    x: Array["n"]
    x_old: Array["n"]
    u: Array["m"]  # inputs, where the derivative reads them
    held: Array["nu", "m"]  # a row for each step from the first on; none: u stays as it is
    rows: Array["rows", "n"]  # the states that are stored
    failed: Array["lanes"]  # when a lane failed; inf: it has not
    parts: IntegerArray["parts"]  # numbers in each part of a lane's state
    clock: Array[3]  # time of the start, step, split (where all q end)
    count: IntegerArray[4]  # steps done, steps to do until, rows stored, a row every so many steps


def rollout_rk4(problem, lanes):
    return roll_out(rk4_lanes, problem, lanes)


def rollout_euler(problem, lanes):
    return roll_out(euler_lanes, problem, lanes)


def rk4_lanes(problem, lanes, t, h):
    rk4_update(problem, lanes.x, lanes.x_old, problem.DX, t, h, t + h)


def euler_lanes(problem, lanes, t, h):
    euler_update(problem, lanes.x, problem.DX, t, h, int(lanes.clock[2]))


def roll_out(update, problem, lanes):
    """Take all steps up to count[1]; `update` finds the new state from the old one and its slope in problem.DX."""
    x, count, h = lanes.x, lanes.count, lanes.clock[1]
    while count[0] < count[1]:
        if lanes.held.shape[0] > 0:
            copy(lanes.held[count[0]], lanes.u)
        t = lanes.clock[0] + h * count[0]
        copy(x, lanes.x_old)
        copy(x, problem.X)
        slope(problem, t)
        update(problem, lanes, t, h)
        stop_failed_lanes(lanes, t + h)
        project(problem, t + h, x)
        count[0] += 1
        if count[0] % count[3] == 0:
            copy(x, lanes.rows[count[2]])
            count[2] += 1
    return 0


def stop_failed_lanes(lanes, t):
    """A lane with a number that is not finite goes back to its last state, for good."""
    n = lanes.failed.shape[0]
    zero = 0.0
    for i in range(lanes.x.shape[0]):
        zero = zero + 0.0 * lanes.x[i]
    for lane in range(n):
        if zero == 0.0 and not lanes.failed[lane] < t:
            continue
        of_lane, at = 0.0, 0
        for part in range(lanes.parts.shape[0]):
            size = lanes.parts[part]
            for c in range(size):
                of_lane = of_lane + 0.0 * lanes.x[at + lane * size + c]
            at += n * size
        if of_lane != 0.0 and lanes.failed[lane] > t:
            lanes.failed[lane] = t
        if lanes.failed[lane] <= t:
            at = 0
            for part in range(lanes.parts.shape[0]):
                size = lanes.parts[part]
                for c in range(size):
                    lanes.x[at + lane * size + c] = lanes.x_old[at + lane * size + c]
                at += n * size
