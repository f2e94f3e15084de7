"""Constraint forces on top of any method: S lam = d with S = J M^-1 J', rows that depend on others left out.

The rank is found by pivoting, so this looks at numbers; it is never traced.
"""

from .cholesky import factor, substitute

PIVOT = 1e-10                                                  # of a pivot, relative to the row's own diagonal of S


def constraint_weights(M, J, right, y, W, free):
    """W = J M^-1 (a row per constraint) and free = M^-1 right, by the dense factors of M.

    Reads J (m, n), right (n,).  M (n, n) becomes its factors.  Work y (n,).  Writes W (m, n), free (n,).
    """
    n = M.shape[0]
    factor(M, y, n)
    for a in range(n):
        free[a] = right[a]
    substitute(M, free, n)
    for k in range(J.shape[0]):
        for a in range(n):
            W[k, a] = J[k, a]
        substitute(M, W[k], n)


def constraint_forces(J, W, d, S, size, order, lam):
    """lam with S lam = d on a largest set of independent rows, zero on the others; returns how many they are.

    Reads J, W (m, n), d (m,).  Writes S (m, m) its factors, size (m,) its diagonal, order (m,) rows as they were taken,
    lam (m,).  Elimination with diagonal pivots: S is symmetric and not negative.
    """
    m = J.shape[0]
    for i in range(m):
        for k in range(i + 1):
            s = 0.0
            for a in range(J.shape[1]):
                s = s + J[i, a] * W[k, a]
            S[i, k] = s
            S[k, i] = s
        size[i] = S[i, i]
        order[i] = i
        lam[i] = d[i]
    rank = 0
    for k in range(m):
        best, at = PIVOT, -1
        for i in range(k, m):
            row = order[i]
            if S[row, row] > best * size[row]:
                best, at = S[row, row] / size[row], i
        if at < 0:
            break
        p = order[at]
        order[at] = order[k]
        order[k] = p
        rank = rank + 1
        for i in range(k + 1, m):
            row = order[i]
            f = S[row, p] / S[p, p]
            lam[row] = lam[row] - f * lam[p]
            for j in range(k + 1, m):
                S[row, order[j]] = S[row, order[j]] - f * S[p, order[j]]
            S[row, p] = f
    for k in range(m - 1, -1, -1):
        p = order[k]
        if k >= rank:
            lam[p] = 0.0
        else:
            s = lam[p] / S[p, p]
            for i in range(k + 1, rank):
                s = s - S[order[i], p] * lam[order[i]]
            lam[p] = s
    return rank


def pushed(W, lam, x, sign):
    """x + sign W'lam: what the constraint forces add.  In place."""
    for k in range(W.shape[0]):
        for a in range(W.shape[1]):
            x[a] = x[a] + sign * lam[k] * W[k, a]


def constrained_accelerations(J, W, free, gamma, S, size, order, d, lam, qdd):
    """qdd = free + W'lam with J qdd + gamma = 0.  Reads J, W, free, gamma.  Writes the rest; returns the rank."""
    for k in range(J.shape[0]):
        s = -gamma[k]
        for a in range(J.shape[1]):
            s = s - J[k, a] * free[a]
        d[k] = s
    rank = constraint_forces(J, W, d, S, size, order, lam)
    for a in range(J.shape[1]):
        qdd[a] = free[a]
    pushed(W, lam, qdd, 1.0)
    return rank
