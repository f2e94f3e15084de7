"""Runs side by side near singular positions, in the dialect: a state that is near one is derived, and follows its step, alone.

The arrays hold a state in each lane. The functions behind `calls` are those of passage.py, for one state.
"""

from typing import NamedTuple

from ..dialect.arrays import Array, IntegerArray
from ..dialect.memory import invoke
from .passage import FAR

LARGE = 1e300  # inverse pivots of a state that was near: how near it is now is found where it follows its step


class Usual(NamedTuple):
    """The same for all lanes."""

    usual: Array["m"]


class Approach(NamedTuple):
    pivots: Array["m"]  # inverse pivots
    near: Array[1]  # s by the last evaluation, relative to FAR


def approach(u, a):
    """For every lane at once."""
    most = 0.0
    for i in range(u.usual.shape[0]):
        most = max(most, u.usual[i] * a.pivots[i])
    a.near[0] = most / FAR


class Alone(NamedTuple):
    X: Array["n", "lanes"]
    DX: Array["n", "lanes"]
    T: Array[1, "lanes"]
    parameter: Array["np", "lanes"]
    tau: Array["nv", "lanes"]
    near: Array[1, "lanes"]
    kept: Array["n", "lanes"]  # X before the projection of all lanes
    x: Array["n"]  # of one state
    dx: Array["n"]
    t: Array[1]
    own_parameter: Array["np"]
    own_tau: Array["nv"]
    pivots: Array["m"]
    calls: IntegerArray["nc", 2]  # the derivative of one state, from calls[after] on what follows a step
    after: IntegerArray[1]


def derive_near_lanes(a):
    for lane in range(a.near.shape[1]):
        if a.near[0, lane] > 1.0:
            bring(a, a.X, lane)
            for c in range(a.after[0]):
                invoke(a.calls[c, 0], a.calls[c, 1])
            for i in range(a.dx.shape[0]):
                a.DX[i, lane] = a.dx[i]


def keep_lanes(a):
    for lane in range(a.near.shape[1]):
        if a.near[0, lane] > 1.0:
            for i in range(a.x.shape[0]):
                a.kept[i, lane] = a.X[i, lane]


def settle_near_lanes(a):
    """After all were projected: those that were near by the last evaluation, from where they were."""
    for lane in range(a.near.shape[1]):
        if a.near[0, lane] > 1.0:
            bring(a, a.kept, lane)
            for i in range(a.pivots.shape[0]):
                a.pivots[i] = LARGE
            for c in range(a.after[0], a.calls.shape[0]):
                invoke(a.calls[c, 0], a.calls[c, 1])
            for i in range(a.x.shape[0]):
                a.X[i, lane] = a.x[i]


def bring(a, X, lane):
    """A state to the arrays of one."""
    a.t[0] = a.T[0, lane]
    for i in range(a.x.shape[0]):
        a.x[i] = X[i, lane]
    for i in range(a.own_parameter.shape[0]):
        a.own_parameter[i] = a.parameter[i, lane]
    for i in range(a.own_tau.shape[0]):
        a.own_tau[i] = a.tau[i, lane]
