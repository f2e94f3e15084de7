"""One state of a mechanism with constraints, in the dialect of the kernels: its accelerations, and the way back onto them.

Small models run these functions on symbols, and they become straight-line code with all the rest; for large ones they
are compiled as loops over arrays that straight-line code has filled.
"""

from typing import NamedTuple

from ..dialect.arrays import Array, IntegerArray
from ..dialect.memory import invoke
from ..kernels.constrained import constrained_accelerations, constraint_weights, correction, drift_correction

TURNS = 2  # steps of Newton's method for a correction of position: a step of the integrator leaves little to do


class Closed(NamedTuple):
    """What the state gives (either M and right, or W and free), and what the solution adds."""

    M: Array["nm", "nm"]
    right: Array["nm"]
    W: Array["m", "n"]  # J M^-1
    free: Array["n"]  # accelerations without the constraints
    J: Array["m", "n"]
    gamma: Array["m"]  # J v̇ + gamma = 0
    g: Array["mh"]  # kept at zero: rows of position, the first mh
    rate: Array["m"]  # kept at zero: rates of those, and rows of speeds
    qrate: Array["nq"]
    y: Array["n"]
    S: Array["m", "m"]
    L: Array["m", "m"]
    z: Array["m"]
    d: Array["m"]
    e: Array["m"]
    lam: Array["m"]
    qdd: Array["n"]
    delta: Array["n"]


class Correction(NamedTuple):
    """A state and the functions that look at it, for loops."""

    X: Array["nx"]  # coordinates, speeds, and whatever follows
    dq: Array["nq"]  # what `delta` does to the coordinates
    calls: IntegerArray["nc", 2]  # the equations at X; the rates of the coordinates at delta; where there are any, quaternions


class Keeping(NamedTuple):
    """What a stabilisation that is an equation needs beside the state, for loops."""

    decay: Array["nd"]
    dq: Array["nq"]  # what `delta` does to the rates of the coordinates
    change: Array["m"]  # what that does to the rates of the constraints
    calls: IntegerArray["nc", 2]  # dq from delta; change from dq


def weights(c):
    """W and free from M and right; of a method that makes no inertia matrix they are there already, and M has no rows."""
    if c.M.shape[0] > 0:
        constraint_weights(c.M, c.J, c.right, c.y, c.W, c.free)


def solve(c):
    weights(c)
    return solve_weighted(c)


def solve_weighted(c):
    """The rest of `solve`: `weights` leaves factors in place of M and can be had once."""
    constrained_accelerations(c.J, c.W, c.free, c.gamma, c.S, c.L, c.z, c.d, c.e, c.lam, c.qdd)
    return 0


def close_gap(c):
    """c.delta: a small motion that closes the gaps of position."""
    weights(c)
    correction(c.J, c.W, c.g, c.S, c.L, c.z, c.d, c.e, c.lam, c.delta)


def stop_slip(c):
    """c.delta: the change of the speeds that stops what breaks the constraints."""
    weights(c)
    correction(c.J, c.W, c.rate, c.S, c.L, c.z, c.d, c.e, c.lam, c.delta)


def damp(c, decay):
    """c.gamma with what makes violations die out: g̈ + decay_0 ġ + decay_1 g = 0; rows of speeds have no g."""
    for k in range(c.rate.shape[0]):
        c.gamma[k] = c.gamma[k] + decay[0] * c.rate[k]
    for k in range(c.g.shape[0]):
        c.gamma[k] = c.gamma[k] + decay[1] * c.g[k]


def drift(c, decay):
    """c.delta: what to add to the speeds, so that coordinates that follow them keep ġ + decay_0 g = 0."""
    weights(c)
    drift_correction(c.J, c.W, c.g, c.rate, decay[0], c.S, c.L, c.z, c.d, c.e, c.lam, c.delta)


def solve_damped(k, c):
    damp(c, k.decay)
    return solve(c)


def solve_drifting(k, c):
    drift(c, k.decay)
    invoke(k.calls[0, 0], k.calls[0, 1])
    invoke(k.calls[1, 0], k.calls[1, 1])
    for a in range(k.dq.shape[0]):
        c.qrate[a] = c.qrate[a] + k.dq[a]
    for r in range(k.change.shape[0]):
        c.gamma[r] = c.gamma[r] + k.change[r] + k.decay[0] * c.rate[r]
    return solve_weighted(c)


def correct(p, c):
    for _ in range(TURNS):
        invoke(p.calls[0, 0], p.calls[0, 1])
        close_gap(c)
        move(p)
    invoke(p.calls[0, 0], p.calls[0, 1])
    stop_slip(c)
    return change_speeds(p, c)


def move(p):
    """The coordinates by delta."""
    invoke(p.calls[1, 0], p.calls[1, 1])
    for a in range(p.dq.shape[0]):
        p.X[a] = p.X[a] + p.dq[a]
    for k in range(2, p.calls.shape[0]):
        invoke(p.calls[k, 0], p.calls[k, 1])


def change_speeds(p, c):
    nq = p.dq.shape[0]
    for a in range(c.delta.shape[0]):
        p.X[nq + a] = p.X[nq + a] + c.delta[a]
    return 0
