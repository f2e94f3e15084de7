"""Iterative methods that keep the matrix of the last step and improve it by rank one until it solves this step.

These branch on numbers to decide when to stop, so they run as loops (interpreted or compiled), never as straight-line code.
Both return the number of iterations, or -1 where they stalled and must be restarted by a factorisation.
"""

from typing import NamedTuple

from ..dialect.arrays import Array
from .cholesky import factor, substitute

TOLERANCE = 1e-13               # of the residual, relative to the right-hand side, where none is asked for

class InertiaMemory(NamedTuple):
    """For systems of the size of the inertia matrix; for those of the multipliers L the same with nl in place of nv."""

    H: Array["nv", "nv"]        # carried from call to call: approximate inverse, or factors of the approximate matrix
    K: Array["nv", "nv"]
    r: Array["nv"]
    s: Array["nv"]
    y: Array["nv"]


GUARD = 1e-10                   # a denominator below this share of its terms carries no information
ROUNDING = 2.2e-16
ROUNDING_TOLERANCE = 1e-16      # share of b'b: from here on x is known well enough to say what rounding leaves of r'r
LEARN = 1e4                     # times what rounding leaves: a residual below teaches the matrix nothing but noise


def residual(A, b, x, r):
    """r = b - A x; returns r'r."""
    total = 0.0
    for a in range(x.shape[0]):
        s = b[a]
        for c in range(x.shape[0]):
            s = s - A[a, c] * x[c]
        r[a] = s
        total = total + s * s
    return total


def settled(size, last, noise):
    """Whether an iteration ends near rounding: 1 where it has converged, -1 where it has stalled, else 0."""
    if size > 0.25 * last and size <= noise:
        return 1
    if size > 0.25 * last and last <= LEARN * noise:
        return -1
    return 0


def rounding(A, x):
    """r'r by rounding alone: n terms a row, each wrong by a unit of its last place."""
    n = x.shape[0]
    total = 0.0
    for a in range(n):
        s = 0.0
        for c in range(n):
            s = s + abs(A[a, c] * x[c])
        total = total + s * s
    return n * ROUNDING * ROUNDING * total


def multiply(H, x, y):
    """y = H x."""
    for a in range(x.shape[0]):
        s = 0.0
        for c in range(x.shape[0]):
            s = s + H[a, c] * x[c]
        y[a] = s


def start_inverse(A, w):
    """w.H = A^-1, afresh."""
    n = w.y.shape[0]
    for a in range(n):
        for c in range(n):
            w.K[a, c] = A[a, c]
    factor(w.K, w.y, n)
    for c in range(n):
        for a in range(n):
            w.s[a] = 0.0
        w.s[c] = 1.0
        substitute(w.K, w.s, n)
        for a in range(n):
            w.H[a, c] = w.s[a]


def iterate_inverse(A, b, w, x, tolerance, limit):
    """Inverse iterative method [I] (4.2): x with |b - A x| <= tolerance |b|, w.H improved on the way.

    With s = H r, y = H r+ :  x += s,  H += y y'/(y'(r - r+)),  s = (1 + y'r+/(y'(r - r+))) y: symmetric rank one.
    Near to rounding H is left as it is, and x refined by it until that no longer helps: large systems end there.
    """
    n = x.shape[0]
    bb, noise = 0.0, 0.0
    for a in range(n):
        bb = bb + b[a] * b[a]
    goal = bb * tolerance * tolerance
    multiply(w.H, b, x)
    size = residual(A, b, x, w.r)
    multiply(w.H, w.r, w.s)
    for count in range(limit + 1):
        if size <= goal:
            return count
        for a in range(n):
            x[a] = x[a] + w.s[a]
            w.s[a] = w.r[a]                                        # the old residual, until the new one is known
        new = residual(A, b, x, w.r)
        multiply(w.H, w.r, w.y)
        below, along, scale = 0.0, 0.0, 0.0
        for a in range(n):
            below = below + w.y[a] * (w.s[a] - w.r[a])
            along = along + w.y[a] * w.r[a]
            scale = scale + abs(w.y[a]) * (abs(w.s[a]) + abs(w.r[a]))
        if not new < 1e8 * size:
            return -1
        last = size
        size = new
        if size <= goal:
            return count + 1
        if noise == 0.0 and size <= ROUNDING_TOLERANCE * bb:
            noise = rounding(A, x)
        if size <= LEARN * noise:
            end = settled(size, last, noise)
            if end != 0:
                return count + 1 if end > 0 else -1
            for a in range(n):
                w.s[a] = w.y[a]
        else:
            if not abs(below) > GUARD * scale:
                return -1
            for a in range(n):
                for c in range(n):
                    w.H[a, c] = w.H[a, c] + w.y[a] * w.y[c] / below
            for a in range(n):
                w.s[a] = (1.0 + along / below) * w.y[a]
    return -1


def start_direct(A, w):
    """w.H = factors of A, afresh."""
    n = w.y.shape[0]
    for a in range(n):
        for c in range(n):
            w.H[a, c] = A[a, c]
    factor(w.H, w.y, n)


def update_factors(L, v, scale):
    """L D L' + scale v v' in place of L (unit lower, inverse pivots on the diagonal); v is used up.  Gill et al. 1974.

    Returns 0, or -1 where a pivot would not keep its sign.
    """
    n = v.shape[0]
    for a in range(n):
        old = 1.0 / L[a, a]
        new = old + scale * v[a] * v[a]
        if not new * old > GUARD * old * old:
            return -1
        step = scale * v[a] / new
        scale = scale * old / new
        L[a, a] = 1.0 / new
        for b in range(a + 1, n):
            v[b] = v[b] - v[a] * L[b, a]
            L[b, a] = L[b, a] + step * v[b]
    return 0


def iterate_direct(A, b, w, x, tolerance, limit):
    """Direct iterative method, our reading: the dual update, of A itself, kept as Cholesky factors.

    With A_k s = r:  x += s,  A_k -= r+ r+'/(r+'s): symmetric rank one again, so that A_k s = A s from then on.
    Near to rounding A_k is left as it is, as above.
    """
    n = x.shape[0]
    bb, noise = 0.0, 0.0
    for a in range(n):
        bb = bb + b[a] * b[a]
        x[a] = b[a]
    goal = bb * tolerance * tolerance
    substitute(w.H, x, n)
    size = residual(A, b, x, w.r)
    for count in range(limit + 1):
        if size <= goal:
            return count
        for a in range(n):
            w.s[a] = w.r[a]
        substitute(w.H, w.s, n)
        for a in range(n):
            x[a] = x[a] + w.s[a]
        new = residual(A, b, x, w.r)
        if not new < 1e8 * size:
            return -1
        last = size
        size = new
        if size <= goal:
            return count + 1
        if noise == 0.0 and size <= ROUNDING_TOLERANCE * bb:
            noise = rounding(A, x)
        if size <= LEARN * noise:
            end = settled(size, last, noise)
            if end != 0:
                return count + 1 if end > 0 else -1
        else:
            below, scale = 0.0, 0.0
            for a in range(n):
                below = below + w.r[a] * w.s[a]
                scale = scale + abs(w.r[a] * w.s[a])
                w.y[a] = w.r[a]
            if not abs(below) > GUARD * scale:
                return -1
            if update_factors(w.H, w.y, -1.0 / below) < 0:
                return -1
    return -1


def warm_started(start, iterate, A, b, w, x, tolerance, report):
    """x = A^-1 b from what the last call left in w.H; from a fresh start where there is nothing or it is of no use.

    Writes report (2,): iterations, and 1 where a factorisation was needed.
    """
    n = x.shape[0]
    report[0] = 0.0
    report[1] = 0.0
    if n == 0:
        return
    count = -1
    if w.H[0, 0] == w.H[0, 0]:                                     # nan: there was no call before
        count = iterate(A, b, w, x, tolerance, n + 1)
    if count < 0:
        report[1] = 1.0
        start(A, w)
        count = iterate(A, b, w, x, tolerance, n + 1)
    report[0] = count


def warm_started_inverse(A, b, w, x, tolerance, report):
    warm_started(start_inverse, iterate_inverse, A, b, w, x, tolerance, report)


def warm_started_direct(A, b, w, x, tolerance, report):
    warm_started(start_direct, iterate_direct, A, b, w, x, tolerance, report)
