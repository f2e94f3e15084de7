"""Solving the equations of a tree with constraints, and bringing a state back onto them: in the dialect of the kernels.

What the state gives is written by straight-line code; here it is solved, with the rank found on the way.
"""

from typing import NamedTuple

from ..integrate.stepping.problem import invoke
from ..kernels.arrays import Array, IntegerArray
from ..kernels.constrained import constrained_accelerations, constraint_forces, constraint_weights, pushed

MOST = 8  # iterations of a correction of position


class Closed(NamedTuple):
    """One state: what the straight-line code writes, and what the solution adds."""

    M: Array["n", "n"]
    right: Array["n"]
    W: Array["m", "n"]
    free: Array["n"]
    J: Array["m", "n"]
    gamma: Array["m"]
    g: Array["mh"]
    rate: Array["m"]
    qrate: Array["nq"]
    y: Array["n"]
    S: Array["m", "m"]
    size: Array["m"]
    d: Array["m"]
    lam: Array["m"]
    qdd: Array["n"]
    order: IntegerArray["m"]
    rank: IntegerArray[1]


class Correction(NamedTuple):
    """A state and the functions that look at it."""

    X: Array["nx"]  # coordinates, speeds, and whatever follows
    delta: Array["n"]  # a small motion, as speeds
    dq: Array["nq"]  # what it does to the coordinates
    calls: IntegerArray["nc", 2]  # the equations at X; rates of the coordinates at delta; and, where there are any, quaternions
    tolerance: Array[2]  # of position; the largest violation that was met


def solve_with_matrix(c):
    constraint_weights(c.M, c.J, c.right, c.y, c.W, c.free)
    return solve_with_weights(c)


def solve_with_weights(c):
    c.rank[0] = constrained_accelerations(c.J, c.W, c.free, c.gamma, c.S, c.size, c.order, c.d, c.lam, c.qdd)
    return 0


def correct_with_matrix(p, c):
    for turn in range(MOST):
        invoke(p.calls[0, 0], p.calls[0, 1])
        constraint_weights(c.M, c.J, c.right, c.y, c.W, c.free)
        if not correct_position(p, c, turn):
            break
    return correct_speeds(p, c)


def correct_with_weights(p, c):
    for turn in range(MOST):
        invoke(p.calls[0, 0], p.calls[0, 1])
        if not correct_position(p, c, turn):
            break
    return correct_speeds(p, c)


def correct_position(p, c, turn):
    """One step of Newton's method, shortest in the metric of the masses; returns whether it was needed."""
    worst = 0.0
    for k in range(c.g.shape[0]):
        worst = max(worst, abs(c.g[k]))
    if turn == 0:
        p.tolerance[1] = max(p.tolerance[1], worst)
    if not worst > p.tolerance[0]:
        return False
    for k in range(c.d.shape[0]):
        c.d[k] = c.g[k] if k < c.g.shape[0] else 0.0
    constraint_forces(c.J, c.W, c.d, c.S, c.size, c.order, c.lam)
    for a in range(p.delta.shape[0]):
        p.delta[a] = 0.0
    pushed(c.W, c.lam, p.delta, -1.0)
    invoke(p.calls[1, 0], p.calls[1, 1])
    for a in range(p.dq.shape[0]):
        p.X[a] = p.X[a] + p.dq[a]
    if p.calls.shape[0] > 2:
        invoke(p.calls[2, 0], p.calls[2, 1])
    return True


def correct_speeds(p, c):
    """Speeds that break the constraints are taken away, least in the metric of the masses."""
    for k in range(c.d.shape[0]):
        c.d[k] = c.rate[k]
    constraint_forces(c.J, c.W, c.d, c.S, c.size, c.order, c.lam)
    nq = p.dq.shape[0]
    for k in range(c.W.shape[0]):
        for a in range(c.W.shape[1]):
            p.X[nq + a] = p.X[nq + a] - c.lam[k] * c.W[k, a]
    return 0
