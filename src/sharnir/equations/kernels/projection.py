"""Projection of a state onto its constraints, in the dialect: positions by Newton's method, then speeds.

`position` and `speed` find in c.delta the correction of the state in p, `retract` moves p.q by it: on symbols and floats they are
Python functions, in loops they are calls of native code.
"""

from typing import NamedTuple

from ...dialect.arrays import Array, IntegerArray
from ...dialect.memory import invoke
from .solution import position_correction, speed_correction

NEWTON_STEPS = 2  # enough after a step of an integrator, which ends close to the constraints


class Projected(NamedTuple):
    q: Array["nq"]
    v: Array["n"]
    calls: IntegerArray["nc", 2]  # for loops: the equations at q, v; the retraction of q by delta


def project(position, speed, retract, c, p):
    for step in range(NEWTON_STEPS):
        project_position(position, retract, c, p)
    project_speed(speed, c, p)


def project_position(position, retract, c, p):
    """One step of Newton's method."""
    position(c, p)
    retract(c, p)


def project_speed(speed, c, p):
    speed(c, p)
    for a in range(c.delta.shape[0]):
        p.v[a] = p.v[a] + c.delta[a]


def position_by_call(c, p):
    invoke(p.calls[0, 0], p.calls[0, 1])
    position_correction(c)


def speed_by_call(c, p):
    invoke(p.calls[0, 0], p.calls[0, 1])
    speed_correction(c)


def retract_by_call(c, p):
    invoke(p.calls[1, 0], p.calls[1, 1])


def project_by_calls(c, p):
    project(position_by_call, speed_by_call, retract_by_call, c, p)
    return 0
