"""Projection of a state onto its constraints, in the dialect: positions by Newton's method, then speeds.

`evaluate` finds the equations c at p.X, `displace` p.dq from c.delta, `normalize` normalizes the coordinates in p.X: on symbols
and floats they are Python functions, in loops they are calls of native code.
"""

from typing import NamedTuple

from ..dialect.arrays import Array, IntegerArray
from ..dialect.memory import invoke
from ..kernels.constrained import ON_MOTION
from .solution import position_correction, speed_correction

NEWTON_STEPS = 2  # enough after a step of an integrator, which ends close to the constraints


class Projected(NamedTuple):
    X: Array["nx"]  # coordinates, speeds, and whatever follows
    dq: Array["nq"]  # displacement of the coordinates by delta
    calls: IntegerArray["nc", 2]  # for loops: the equations at X; dq from delta; normalization, where there is any


def project(evaluate, displace, normalize, c, p):
    for step in range(NEWTON_STEPS):
        project_position(evaluate, displace, normalize, ON_MOTION, c, p)
    project_speed(evaluate, ON_MOTION, c, p)


def project_position(evaluate, displace, normalize, share, c, p):
    """One step of Newton's method. `share`: what is added to the diagonal of S (kernels/constrained.py)."""
    evaluate(c, p)
    position_correction(c, share)
    displace(c, p)
    for a in range(p.dq.shape[0]):
        p.X[a] = p.X[a] + p.dq[a]
    normalize(c, p)


def project_speed(evaluate, share, c, p):
    evaluate(c, p)
    speed_correction(c, share)
    nq = p.dq.shape[0]
    for a in range(c.delta.shape[0]):
        p.X[nq + a] = p.X[nq + a] + c.delta[a]


def evaluate_by_call(c, p):
    invoke(p.calls[0, 0], p.calls[0, 1])


def displace_by_call(c, p):
    invoke(p.calls[1, 0], p.calls[1, 1])


def normalize_by_calls(c, p):
    for k in range(2, p.calls.shape[0]):
        invoke(p.calls[k, 0], p.calls[k, 1])


def project_by_calls(c, p):
    project(evaluate_by_call, displace_by_call, normalize_by_calls, c, p)
    return 0
