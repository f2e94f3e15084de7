"""Coordinate partitioning (Wehage, Haug 1982): which coordinates depend on the others, and their values from the others.

In the dialect of the kernels, with branches on numbers: pivots are chosen, iterations stopped. Compiled as loops, for models of
any size. Rows are scaled to unit length, so that pivots have no units.  docs/theory/loops.md (L17)-(L19)
"""

from typing import NamedTuple

from ...dialect.arrays import Array, IntegerArray
from ...dialect.memory import invoke
from ...dialect.ops import sqrt

IN_POSITION, IN_SPEED, INDEPENDENT = 2.0, 1.0, 0.0
MAX_ITERATIONS = 10  # of Newton's method
CONVERGED = 1e-15  # a residual at rounding
NEARLY_CONVERGED = 1e-7  # a residual whose square, what the next iteration leaves, is at rounding
PIVOT = 1e-3  # smaller pivots are not used: rows that depend on others, branches that cross (L7)
GROWTH = 10.0  # the largest effect of an independent coordinate on a dependent one that is accepted


class Partition(NamedTuple):
    X: Array["nx"]  # the state: coordinates, speeds, whatever follows
    v: Array["n"]  # the speeds in X
    g: Array["mh"]
    rate: Array["m"]
    J: Array["m", "n"]
    E: Array["m", "n"]  # J, eliminated
    right: Array["m"]
    row_of: IntegerArray["n"]  # the row that has its pivot in a column; -1: none
    done: IntegerArray["m"]  # rows that have their pivot
    kind: Array["n"]  # of every speed: dependent IN_POSITION (and in speed), dependent IN_SPEED, or INDEPENDENT
    best: Array["n"]
    delta: Array["n"]
    tally: Array[2]  # how often a partition was chosen; growth in the present one
    calls: IntegerArray["nc", 2]  # g, rate, J at X; the retraction of the coordinates by delta


def recover(p):
    """Compute dependent coordinates and speeds in X from the independent ones."""
    before = 0.0
    for iteration in range(MAX_ITERATIONS):
        invoke(p.calls[0, 0], p.calls[0, 1])
        gap = 0.0
        for k in range(p.g.shape[0]):
            gap = max(gap, abs(p.g[k]))
        if not gap > CONVERGED or (iteration > 0 and (before < NEARLY_CONVERGED or not gap < 0.5 * before)):
            break
        before = gap
        for k in range(p.g.shape[0]):
            p.right[k] = -p.g[k]
        solve_dependent(p, p.g.shape[0], IN_POSITION)
        invoke(p.calls[1, 0], p.calls[1, 1])
    for k in range(p.rate.shape[0]):
        p.right[k] = -p.rate[k]
    solve_dependent(p, p.rate.shape[0], IN_SPEED)
    for a in range(p.delta.shape[0]):
        p.v[a] = p.v[a] + p.delta[a]
    return 0


def solve_dependent(p, rows, least):
    """p.delta, of the dependent ones alone: J delta = right in the first rows; zero where pivots vanish."""
    begin_elimination(p, rows)
    eliminate_rows(p, rows, rows, p.kind, least)
    for a in range(p.delta.shape[0]):
        p.delta[a] = p.right[p.row_of[a]] if p.row_of[a] >= 0 else 0.0


def begin_elimination(p, rows):
    """E = the rows of J scaled to unit length, and right with them; no row has a pivot yet."""
    for a in range(p.row_of.shape[0]):
        p.row_of[a] = -1
    for k in range(rows):
        s = 0.0
        for a in range(p.J.shape[1]):
            s = s + p.J[k, a] * p.J[k, a]
        s = 1.0 / sqrt(s) if s > 0.0 else 0.0
        for a in range(p.J.shape[1]):
            p.E[k, a] = s * p.J[k, a]
        p.right[k] = s * p.right[k]
        p.done[k] = 0


def eliminate_rows(p, among, rows, kind, least):
    """Gauss-Jordan elimination in the first `rows`, with full pivoting among the first `among` of them and the columns of at
    least that kind; returns the number of pivots."""
    n = p.J.shape[1]
    count = 0
    for a in range(n):
        count += 1 if p.row_of[a] >= 0 else 0
    while True:
        best, r, c = PIVOT, -1, -1
        for k in range(among):
            for a in range(n):
                if p.done[k] == 0 and p.row_of[a] < 0 and kind[a] >= least and abs(p.E[k, a]) > best:
                    best, r, c = abs(p.E[k, a]), k, a
        if r < 0:
            return count
        count += 1
        p.done[r] = 1
        p.row_of[c] = r
        s = 1.0 / p.E[r, c]
        for a in range(n):
            p.E[r, a] = s * p.E[r, a]
        p.right[r] = s * p.right[r]
        for k in range(rows):
            x = p.E[k, c]
            if k != r and x != 0.0:
                for a in range(n):
                    p.E[k, a] = p.E[k, a] - x * p.E[r, a]
                p.right[k] = p.right[k] - x * p.right[r]


def growth(p):
    """The largest effect of a column without a pivot on one that has one."""
    most = 0.0
    for c in range(p.row_of.shape[0]):
        if p.row_of[c] >= 0:
            for a in range(p.row_of.shape[0]):
                if p.row_of[a] < 0:
                    most = max(most, abs(p.E[p.row_of[c], a]))
    return most


def largest_left(p):
    """The largest number in rows and columns without a pivot: a pivot the partition does not allow."""
    most = 0.0
    for k in range(p.rate.shape[0]):
        for a in range(p.row_of.shape[0]):
            if p.done[k] == 0 and p.row_of[a] < 0:
                most = max(most, abs(p.E[k, a]))
    return most


def reconsider(p):
    """A new partition where the old one has become ill-conditioned.  Reads p.J, of the state where `recover` ended."""
    n, m, mh = p.kind.shape[0], p.rate.shape[0], p.g.shape[0]
    begin_elimination(p, m)
    eliminate_rows(p, mh, m, p.kind, IN_POSITION)
    now = eliminate_rows(p, m, m, p.kind, IN_SPEED)
    bad = growth(p)
    p.tally[1] = bad
    if bad <= GROWTH and largest_left(p) <= PIVOT:
        return 0
    begin_elimination(p, m)
    for a in range(n):
        p.best[a] = INDEPENDENT
    eliminate_rows(p, mh, m, p.best, INDEPENDENT)
    for a in range(n):
        if p.row_of[a] >= 0:
            p.best[a] = IN_POSITION
    found = eliminate_rows(p, m, m, p.best, INDEPENDENT)
    good = growth(p)
    if found < now or (found == now and not good < 0.5 * bad):  # nothing better: a singular position, which is passed through
        return 0
    for a in range(n):
        p.kind[a] = p.best[a]
        if p.best[a] == INDEPENDENT and p.row_of[a] >= 0:
            p.kind[a] = IN_SPEED
    p.tally[0] = p.tally[0] + 1.0
    p.tally[1] = good
    return 1
