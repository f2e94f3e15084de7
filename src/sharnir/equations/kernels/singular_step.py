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

from ...dialect.arrays import Array
from ...dialect.ops import sqrt
from .singular_state import (
    AFTER,
    DERIVE,
    DIRECTION,
    EVALUATIONS,
    FAILED,
    FAILED_T,
    FIRST_ROW,
    FIRST_T,
    JACOBIAN,
    NEAREST,
    NOW,
    PASSAGES,
    PLAIN,
    PREPARE,
    PROJECT,
    PROJECTED,
    SETTLED,
    STATES,
    STEP,
    TRUSTED,
    blend,
    copied,
    derive_exactly,
    give,
    interpolate,
    perform,
    project_exactly,
    put_back,
    take,
)

FAR, NEAR, INSIDE, SINGULAR, DEGENERATE = 25.0, 100.0, 1e3, 1e7, 1e16


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
    """Statistics: how often, how near, in which row."""
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
    """By differences near singular positions, where the derivative is that of states on the constraints."""
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


# --- how near to a singular position runs side by side have come, in the dialect: for every lane at once
class TypicalPivots(NamedTuple):
    """The same for all lanes."""

    typical: Array["m"]  # typical pivots; 0 of rows that do not count


class Approach(NamedTuple):
    pivots: Array["m"]  # inverse pivots
    near: Array[1]  # the largest s so far, relative to FAR: above 1 a run is near


def approach(u, a):
    """After an evaluation."""
    for i in range(u.typical.shape[0]):
        a.near[0] = max(a.near[0], u.typical[i] * a.pivots[i] / FAR)
