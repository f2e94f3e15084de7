"""Through singular positions, in the dialect: the derivative and what follows a step, guarded by how near a state is to one.

Every evaluation leaves the inverse pivots of S = J M^-1 J'. The largest, each relative to the typical one of its row, says how
near the state is to a singular position: s = 1/sigma^2.  docs/theory/loops.md

    s < FAR             unchanged: `plain`
    FAR ... NEAR        the state is moved onto the constraints before its derivative is computed, smoothly more
    NEAR ... INSIDE     all the way
    INSIDE and above    all of it in double-double arithmetic, the end of a step included
    SINGULAR and above  the derivative is interpolated between six states along the motion: so near, the lengths of the mechanism,
                        rounded to doubles, decide whether branches cross at all
    DEGENERATE          and states are not projected any more
"""

from typing import NamedTuple

from ...dialect.arrays import Array, IntegerArray
from ...dialect.memory import invoke
from ...dialect.ops import sqrt

FAR, NEAR, INSIDE, SINGULAR, DEGENERATE = 25.0, 100.0, 1e3, 1e7, 1e16
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
    """Copy state k to the buffers of one."""
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
    """Copy the derivative of state k from the buffers of one."""
    n, nq, nv, nw = p.layout[STATES], p.layout[NQ], p.layout[NV], p.layout[CAUSES]
    for a in range(nq):
        p.DX[k * nq + a] = p.dx[a]
    for a in range(nv):
        p.DX[n * nq + k * nv + a] = p.dx[nq + a]
    for a in range(nw):
        p.DX[n * (nq + nv) + k * nw + a] = p.dx[nq + nv + a]


def put_back(p, k):
    """Copy state k back from the buffers of one."""
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
    """Project p.x onto the constraints, in q2 and v2; whether it moved no further than `furthest`."""
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
    """Compute p.dx at p.x moved onto the constraints."""
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
    """Interpolate p.dx from states before and after on the branch along which the speeds lead: it is a smooth function there."""
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


# --- how near ------------------------------------------------------------------------------------------------------------------
def nearness(p, k):
    """s of state k, by the last evaluation."""
    m = p.typical.shape[0]
    most = 0.0
    for i in range(m):
        most = max(most, p.typical[i] * p.pivots[(k * m + i) * p.layout[STEP]])
    return most


def anything_near(p):
    for k in range(p.layout[STATES]):
        if nearness(p, k) > FAR:
            return True
    return False


# --- the derivative -------------------------------------------------------------------------------------------------------------
def derive(p):
    copied(p.X, p.kept)
    perform(p, PLAIN)
    for k in range(p.layout[STATES]):
        if nearness(p, k) > FAR:
            derive_near(p, k)
    return 0


def derive_near(p, k):
    perform(p, PREPARE)  # once: rows that are always dependent are not counted after that
    s = nearness(p, k)
    if not s > FAR:
        return
    if s > INSIDE:
        note(p, k, s)
    if p.layout[PROJECTED] == 0:
        return
    take(p, k, p.kept)
    if s > INSIDE:
        p.tally[EVALUATIONS] += 1.0
        if not (s < SINGULAR and derive_exactly(p, 1.0 / sqrt(s))) and not interpolate(p, k):
            p.tally[FAILED] += 1.0
            p.tally[FAILED_T] = p.T[0]
            return  # nothing changes
    else:
        perform(p, PROJECT)
        blend(p, k, (1.0 / FAR - 1.0 / s) / (1.0 / FAR - 1.0 / NEAR))
        perform(p, DERIVE)
    give(p, k)


def note(p, k, s):
    """Count passages, and record how near, in which row."""
    if p.tally[NOW] == 0.0 and p.layout[DIRECTION] * p.T[0] > p.tally[SETTLED]:  # not again for the dense output
        p.tally[PASSAGES] += 1.0
        p.tally[NOW] = 1.0
        if p.tally[PASSAGES] == 1.0:
            p.tally[FIRST_T] = p.T[0]
            m = p.typical.shape[0]
            for i in range(m):
                if p.typical[i] * p.pivots[(k * m + i) * p.layout[STEP]] >= s:
                    p.tally[FIRST_ROW] = i
    p.tally[NEAREST] = max(p.tally[NEAREST], s)


# --- after a step ---------------------------------------------------------------------------------------------------------------
def settle(p):
    """The work after a step; where a state ends near a singular position, its projection in double-double."""
    p.tally[SETTLED] = max(p.tally[SETTLED], p.layout[DIRECTION] * p.T[0])
    if not anything_near(p):  # the last evaluation of a step is at its end, or little before
        p.tally[NOW] = 0.0
        perform(p, AFTER)
        return 0
    copied(p.X, p.kept)
    perform(p, PLAIN)
    perform(p, PREPARE)
    copied(p.kept, p.X)
    perform(p, AFTER)
    inside = False
    for k in range(p.layout[STATES]):
        s = nearness(p, k)
        if s > INSIDE:
            inside = True
        if s > FAR and s < DEGENERATE and p.layout[PROJECTED] == 1:
            take(p, k, p.kept)
            if s < INSIDE:
                perform(p, PROJECT)
                put_back(p, k)
            elif project_exactly(p, TRUSTED / sqrt(s)):
                for a in range(p.q2.shape[0]):
                    p.x[a] = p.q2[a, 0]
                for a in range(p.v2.shape[0]):
                    p.x[p.q2.shape[0] + a] = p.v2[a, 0]
                put_back(p, k)
    if not inside:
        p.tally[NOW] = 0.0
    return 0


# --- the Jacobian ---------------------------------------------------------------------------------------------------------------
def jacobian(p):
    """The Jacobian, by differences near singular positions, where the derivative is that of states on the constraints."""
    if not anything_near(p):
        perform(p, JACOBIAN)
        return 0
    copied(p.X, p.start)
    derive(p)
    copied(p.DX, p.held)
    for j in range(p.J.shape[0]):
        copied(p.start, p.X)
        x = p.start[j]
        p.X[j] = x + 1.5e-8 * max(abs(x), 1e-2)
        step = p.X[j] - x
        derive(p)
        for i in range(p.J.shape[0]):
            p.J[j, i] = (p.DX[i] - p.held[i]) / step
    copied(p.start, p.X)
    return 0


# --- how near to a singular position runs side by side have come, all lanes at once
class TypicalPivots(NamedTuple):
    """Pivots that those of a state are compared with, shared by all lanes."""

    typical: Array["m"]  # typical pivots; 0 of rows that do not count


class Approach(NamedTuple):
    pivots: Array["m"]  # inverse pivots
    near: Array[1]  # the largest s so far, relative to FAR: above 1 a run is near


def approach(u, a):
    """Record in `a.near` how near the last evaluation was."""
    for i in range(u.typical.shape[0]):
        a.near[0] = max(a.near[0], u.typical[i] * a.pivots[i] / FAR)
