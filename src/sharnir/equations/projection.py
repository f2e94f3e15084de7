"""Projection of a state onto its constraints, in the dialect: positions by Newton's method, then speeds.

`evaluate` finds the equations c at the state in p, `retract` moves p.q by c.delta: on symbols and floats they are Python
functions, in loops they are calls of native code.
"""

from typing import NamedTuple

from ..dialect.arrays import Array, IntegerArray
from ..dialect.memory import invoke
from .solution import position_correction, speed_correction

NEWTON_STEPS = 2  # enough after a step of an integrator, which ends close to the constraints


class Projected(NamedTuple):
    q: Array["nq"]
    v: Array["n"]
    calls: IntegerArray["nc", 2]  # for loops: the equations at q, v; the retraction of q by delta


def project(evaluate, retract, c, p):
    for step in range(NEWTON_STEPS):
        project_position(evaluate, retract, c, p)
    project_speed(evaluate, c, p)


def project_position(evaluate, retract, c, p):
    """One step of Newton's method."""
    evaluate(c, p)
    position_correction(c)
    retract(c, p)


def project_speed(evaluate, c, p):
    evaluate(c, p)
    speed_correction(c)
    for a in range(c.delta.shape[0]):
        p.v[a] = p.v[a] + c.delta[a]


def evaluate_by_call(c, p):
    invoke(p.calls[0, 0], p.calls[0, 1])


def retract_by_call(c, p):
    invoke(p.calls[1, 0], p.calls[1, 1])


def project_by_calls(c, p):
    project(evaluate_by_call, retract_by_call, c, p)
    return 0
