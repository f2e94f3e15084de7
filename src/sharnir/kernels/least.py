"""The part of joint forces that constraints carry, removed: x - J'(J J')^-1 J x, and how close rows are to dependence.

Rows are brought to length one. `independent` is the least pivot of their Gram matrix: the squared sine of the angle between
a row and all before it. Near zero the factors are meaningless and the caller determines the rank (docs/theory/loops.md).
"""

from .cholesky import factor, substitute
from ..dialect.ops import select, sqrt


LIFT = 1e-13                                                       # on the diagonal: no pivot vanishes, not even a constant


def row_angles(J, unit, L, z, independent):
    """Factors L of the Gram matrix of the rows of J at length one.  Reads J (m, n).  Work z (m,).

    Writes unit (m,) one over the length of every row, L (m, m), independent (1,).
    """
    m = J.shape[0]
    independent[0] = 1.0
    for k in range(m):
        s = 0.0
        for a in range(J.shape[1]):
            s = s + J[k, a] * J[k, a]
        unit[k] = select(s > 0.0, 1.0 / sqrt(select(s > 0.0, s, 1.0)), 0.0)
        L[k, k] = 1.0 + LIFT
        independent[0] = select(s > 0.0, independent[0], 0.0)
    for i in range(m):
        for k in range(i):
            s = 0.0
            for a in range(J.shape[1]):
                s = s + J[i, a] * J[k, a]
            L[i, k] = s * unit[i] * unit[k]
    factor(L, z, m)
    for k in range(m):
        pivot = 1.0 / L[k, k]
        independent[0] = select(pivot < independent[0], pivot, independent[0])


def without_rows(J, unit, L, e, x):
    """x <- x - J'(J J')^-1 J x, twice: the second pass removes what rounding left.  After row_angles.  Work e (m,)."""
    m = J.shape[0]
    for sweep in range(2):
        for k in range(m):
            s = 0.0
            for a in range(J.shape[1]):
                s = s + J[k, a] * x[a]
            e[k] = s * unit[k]
        substitute(L, e, m)
        for k in range(m):
            for a in range(J.shape[1]):
                x[a] = x[a] - e[k] * unit[k] * J[k, a]


def unmet(J, gamma, qdd, left, size):
    """left = J qdd + gamma, and the size of what is added up there.  Reads J (m, n), gamma, qdd.  Writes left, size (m,)."""
    for k in range(J.shape[0]):
        s, total = gamma[k], select(gamma[k] < 0.0, -gamma[k], gamma[k])
        for a in range(J.shape[1]):
            x = J[k, a] * qdd[a]
            s = s + x
            total = total + select(x < 0.0, -x, x)
        left[k] = s
        size[k] = total
