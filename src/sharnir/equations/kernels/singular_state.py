"""One state near a singular position, in the dialect: projected and derived in double-double, or interpolated along its motion.

The state is copied from those of the run, of which a rollout has many, to buffers of its own, which the functions behind `calls`
work on.  docs/theory/loops.md
"""

from typing import NamedTuple

from ...dialect.arrays import Array, IntegerArray
from ...dialect.memory import invoke
from ...dialect.ops import sqrt

ITERATIONS = 12  # of Newton's method in double-double
CONVERGED = 1e-9  # change of a coordinate, to the power of 3/2 of sigma: the next one would be its square over sigma
TRUSTED = 0.25  # of sigma: the largest way onto the constraints; further off, the other branch may be nearer
APART = 1e-2  # change of a coordinate between two states of the interpolation

# roles of the calls
PLAIN, AFTER, PREPARE, PROJECT, DERIVE, POSITION, SPEED, EXACT, JACOBIAN = range(9)
# layout
STATES, NQ, NV, CAUSES, STEP, PROJECTED, DIRECTION = range(7)
# tally
EVALUATIONS, PASSAGES, NOW, NEAREST, FIRST_T, FIRST_ROW, FAILED, FAILED_T, SETTLED = range(9)


class Passage(NamedTuple):
    X: Array["nx"]  # all states: coordinates, speeds, work; whatever follows
    DX: Array["nx"]
    T: Array[1]
    J: Array["nj", "nj"]  # the integrator's Jacobian, by columns
    tau: Array["nt"]  # of all states, or one row for all
    parameter: Array["np"]
    pivots: Array["ni"]  # inverse pivots of all states
    typical: Array["m"]  # typical pivots; 0 for rows that depend on those before them everywhere
    kept: Array["nx"]
    held: Array["nx"]
    start: Array["nx"]
    x: Array["n1"]  # one state
    dx: Array["n2"]  # its rates, accelerations, powers
    own_tau: Array["nv"]
    own_parameter: Array["npar"]
    q2: Array["nq", 2]  # double-double
    v2: Array["nv", 2]
    tau2: Array["nv", 2]
    parameter2: Array["npar", 2]
    t2: Array[1, 2]
    rate2: Array["nq", 2]
    qdd2: Array["nv", 2]
    more2: Array["nw", 2]
    mean: Array["n2"]
    layout: IntegerArray[7]
    calls: IntegerArray["nc", 2]
    first: IntegerArray[10]  # role r is played by the calls first[r] ... first[r + 1] - 1
    tally: Array[9]


def perform(p, role):
    for c in range(p.first[role], p.first[role + 1]):
        invoke(p.calls[c, 0], p.calls[c, 1])


def copied(source, target):
    for i in range(target.shape[0]):
        target[i] = source[i]


# --- in and out ---------------------------------------------------------------------------------------------------------------
def take(p, k, X):
    """State k to the buffers of one."""
    n, nq, nv = p.layout[STATES], p.layout[NQ], p.layout[NV]
    for a in range(nq):
        p.x[a] = X[k * nq + a]
    for a in range(nv):
        p.x[nq + a] = X[n * nq + k * nv + a]
    of_tau = k * nv if p.tau.shape[0] > nv else 0
    for a in range(nv):
        p.own_tau[a] = p.tau[of_tau + a]
    np = p.own_parameter.shape[0]
    of_parameter = k * np if p.parameter.shape[0] > np else 0
    for a in range(np):
        p.own_parameter[a] = p.parameter[of_parameter + a]


def give(p, k):
    """The derivative of state k from the buffers of one."""
    n, nq, nv, nw = p.layout[STATES], p.layout[NQ], p.layout[NV], p.layout[CAUSES]
    for a in range(nq):
        p.DX[k * nq + a] = p.dx[a]
    for a in range(nv):
        p.DX[n * nq + k * nv + a] = p.dx[nq + a]
    for a in range(nw):
        p.DX[n * (nq + nv) + k * nw + a] = p.dx[nq + nv + a]


def put_back(p, k):
    """State k from the buffers of one."""
    n, nq, nv = p.layout[STATES], p.layout[NQ], p.layout[NV]
    for a in range(nq):
        p.X[k * nq + a] = p.x[a]
    for a in range(nv):
        p.X[n * nq + k * nv + a] = p.x[nq + a]


def blend(p, k, share):
    """The state that is derived: between the one of `plain` and the one on the constraints, without a kink."""
    if share < 1.0:
        w = share * share * (3.0 - 2.0 * share)
        n, nq, nv = p.layout[STATES], p.layout[NQ], p.layout[NV]
        for a in range(nq):
            plain = p.X[k * nq + a]
            p.x[a] = plain + w * (p.x[a] - plain)
        for a in range(nv):
            plain = p.X[n * nq + k * nv + a]
            p.x[nq + a] = plain + w * (p.x[nq + a] - plain)


# --- in double-double -----------------------------------------------------------------------------------------------------------
def single(x, pairs):
    for a in range(pairs.shape[0]):
        pairs[a, 0] = x[a]
        pairs[a, 1] = 0.0


def project_exactly(p, furthest):
    """p.x onto the constraints, in q2 and v2; whether the way was no longer than that."""
    nq = p.q2.shape[0]
    for a in range(nq):
        p.q2[a, 0] = p.x[a]
        p.q2[a, 1] = 0.0
    for a in range(p.v2.shape[0]):
        p.v2[a, 0] = p.x[nq + a]
        p.v2[a, 1] = 0.0
    single(p.own_parameter, p.parameter2)
    single(p.T, p.t2)
    for iteration in range(ITERATIONS):
        for a in range(nq):
            p.rate2[a, 0] = p.q2[a, 0]
            p.rate2[a, 1] = p.q2[a, 1]
        perform(p, POSITION)
        change, way = 0.0, 0.0
        for a in range(nq):
            change = max(change, abs((p.q2[a, 0] - p.rate2[a, 0]) + (p.q2[a, 1] - p.rate2[a, 1])))
            way = max(way, abs(p.q2[a, 0] - p.x[a]))
        if not way <= furthest:
            return False
        if change <= CONVERGED * furthest * sqrt(furthest):
            break
    perform(p, SPEED)
    return True


def derive_exactly(p, sigma):
    """p.dx at p.x moved onto the constraints."""
    if not project_exactly(p, TRUSTED * sigma):
        return False
    single(p.own_tau, p.tau2)
    perform(p, EXACT)
    nq, nv = p.q2.shape[0], p.v2.shape[0]
    bad = 0.0
    for a in range(nq):
        p.dx[a] = p.rate2[a, 0]
        bad = bad + 0.0 * p.dx[a]
    for a in range(nv):
        p.dx[nq + a] = p.qdd2[a, 0]
        bad = bad + 0.0 * p.dx[nq + a]
    for a in range(p.more2.shape[0]):
        p.dx[nq + nv + a] = p.more2[a, 0]
    return bad == 0.0


def interpolate(p, k):
    """p.dx from states before and after on the branch along which the speeds lead: it is a smooth function there."""
    nq, fastest = p.q2.shape[0], 0.0
    for a in range(nq):
        fastest = max(fastest, abs(p.DX[k * nq + a]))
    if not fastest > 0.0:
        return False  # at rest: the branches have the same right
    step = APART / fastest
    for i in range(p.mean.shape[0]):
        p.mean[i] = 0.0
    for j in range(-3, 4):
        if j != 0:
            take(p, k, p.kept)
            for a in range(nq):
                p.x[a] = p.x[a] + j * step * p.DX[k * nq + a]
            if not derive_exactly(p, APART * abs(j)):
                return False
            weight = 0.75 if abs(j) == 1 else -0.3 if abs(j) == 2 else 0.05
            for i in range(p.mean.shape[0]):
                p.mean[i] = p.mean[i] + weight * p.dx[i]
    copied(p.mean, p.dx)
    return True
