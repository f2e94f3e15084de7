"""Constraint forces on top of any method: S lam = d with S = J M^-1 J'.

S loses rank where rows depend on each other, always (over-constrained mechanisms) or in passing (singular positions). A
little, e, is added to its diagonal and the solution refined: a mode of S of size s is answered by the share
1 - (e/(s + e))^6, so that what is regular is answered to rounding, what is dependent not at all, and between them nothing
jumps. Why e is no smaller, and multipliers that are not determined: docs/theory/loops.md (L7)
"""

from .cholesky import factor, substitute
from ..dialect.ops import select

ON_FORCES = 1e-5                                                   # e for accelerations, at most (equations/motion/share.py)
ON_MOTION = 10.0                                                   # times e for corrections of position and speed
EXACT = 1e-24                                                      # e in double-double arithmetic, rows independent
REFINED = 5                                                        # times
FLOOR = 1e-6                                                       # part of the mean that every diagonal is taken to have
SWITCHED_OFF = 1e-270                                              # added to what may be zero: all rows off (theory/impacts.md)


def constraint_weights(M, diagonal, J, right, y, W, free):
    """W = J M^-1 (a row per constraint) and free = M^-1 right, by the dense factors of M.

    Reads J (m, n), right (n,).  M (n, n) becomes its factors, but above its diagonal, which `diagonal` (n,) keeps.
    Work y (n,).  Writes W (m, n), free (n,).
    """
    n = M.shape[0]
    for a in range(n):
        diagonal[a] = M[a, a]
    factor(M, y, n)
    for a in range(n):
        free[a] = right[a]
    substitute(M, free, n)
    weighted_rows(M, J, W)


def weighted_rows(M, J, W):
    """W = J M^-1 with the factors of M in its place.  Reads M (n, n), J (m, n).  Writes W (m, n)."""
    n = M.shape[0]
    for k in range(J.shape[0]):
        for a in range(n):
            W[k, a] = J[k, a]
        substitute(M, W[k], n)


def constraint_matrix(J, W, share, S, L, z):
    """S = J W' and the factors L of S with `share` of its diagonal added.  Reads J, W (m, n).  Writes S, L (m, m), z (m,)."""
    m = J.shape[0]
    trace = SWITCHED_OFF
    for i in range(m):
        for k in range(i + 1):
            s = 0.0
            for a in range(J.shape[1]):
                s = s + J[i, a] * W[k, a]
            S[i, k] = s
            S[k, i] = s
            L[i, k] = s
        trace = trace + S[i, i]
    for i in range(m):
        L[i, i] = S[i, i] + share * (S[i, i] + trace * (FLOOR / m))
    factor(L, z, m)


def least_pivot(S, L):
    """Least pivot of the factors L of S with a share of its diagonal, relative to that diagonal: 1 where rows are orthogonal."""
    least = 1.0
    for k in range(S.shape[0]):
        size = L[k, k] * S[k, k]
        pivot = select(size > 0.0, 1.0 / select(size > 0.0, size, 1.0), 0.0)
        least = select(pivot < least, pivot, least)
    return least


def constraint_forces(S, L, d, e, lam):
    """lam with S lam = d, refined.  Reads S, L after constraint_matrix, d (m,).  Work e (m,).  Writes lam (m,)."""
    m = S.shape[0]
    for k in range(m):
        lam[k] = d[k]
    substitute(L, lam, m)
    for sweep in range(REFINED):
        for k in range(m):
            s = d[k]
            for i in range(m):
                s = s - S[k, i] * lam[i]
            e[k] = s
        substitute(L, e, m)
        for k in range(m):
            lam[k] = lam[k] + e[k]


def pushed(W, lam, sign, x):
    """x + sign W'lam, in place: what constraint forces lam add.  Reads W (m, n), lam (m,).  Changes x (n,)."""
    for k in range(W.shape[0]):
        for a in range(W.shape[1]):
            x[a] = x[a] + sign * lam[k] * W[k, a]


def constrained_accelerations(J, W, free, gamma, share, S, L, z, d, e, lam, qdd):
    """qdd = free + W'lam with J qdd + gamma = 0.  Reads J, W (m, n), free (n,), gamma (m,).  Writes the rest."""
    constraint_matrix(J, W, share, S, L, z)
    for k in range(J.shape[0]):
        s = -gamma[k]
        for a in range(J.shape[1]):
            s = s - J[k, a] * free[a]
        d[k] = s
    constraint_forces(S, L, d, e, lam)
    for a in range(J.shape[1]):
        qdd[a] = free[a]
    pushed(W, lam, 1.0, qdd)


def refined_on_residuals(M, diagonal, right, J, W, gamma, L, e, y, lam, qdd):
    """lam and qdd, improved by the residuals of M qdd = right + J'lam and J qdd + gamma = 0: where modes are soft, S has lost
    digits that these equations have.  Reads M, diagonal, W, L after constraint_matrix.  Work e (m,), y (n,)."""
    n = M.shape[0]
    for a in range(n):
        s = right[a] - diagonal[a] * qdd[a]
        for k in range(J.shape[0]):
            s = s + J[k, a] * lam[k]
        for b in range(n):
            if b != a:
                s = s - (M[a, b] if b > a else M[b, a]) * qdd[b]
        y[a] = s
    substitute(M, y, n)
    for a in range(n):
        qdd[a] = qdd[a] + y[a]
    for k in range(J.shape[0]):
        e[k] = -gamma[k]
        for a in range(n):
            e[k] = e[k] - J[k, a] * qdd[a]
    substitute(L, e, J.shape[0])
    for k in range(J.shape[0]):
        lam[k] = lam[k] + e[k]
    pushed(W, e, 1.0, qdd)


def correction(J, W, gap, share, S, L, z, d, e, lam, delta):
    """delta: the motion, least in the metric of the masses, that closes `gap`.  Reads J, W (m, n), gap (k <= m,)."""
    constraint_matrix(J, W, share, S, L, z)
    for k in range(J.shape[0]):
        d[k] = 0.0
    for k in range(gap.shape[0]):
        d[k] = gap[k]
    constraint_forces(S, L, d, e, lam)
    for a in range(J.shape[1]):
        delta[a] = 0.0
    pushed(W, lam, -1.0, delta)


def drift_correction(J, W, g, rate, decay, share, S, L, z, d, e, lam, delta):
    """delta: the change of speeds, least in the metric of the masses, after which rates are -decay g.  Reads J, W (m, n),
    rate (m,), g (k <= m,).  The factors are those of the accelerations, so that straight-line code has them once."""
    constraint_matrix(J, W, share, S, L, z)
    for k in range(J.shape[0]):
        d[k] = -rate[k]
    for k in range(g.shape[0]):
        d[k] = d[k] - decay * g[k]
    constraint_forces(S, L, d, e, lam)
    for a in range(J.shape[1]):
        delta[a] = 0.0
    pushed(W, lam, 1.0, delta)
