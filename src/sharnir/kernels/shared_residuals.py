"""Residuals of the equations of separate bodies as they were given: M v̇ + K'x = F + R, K v̇ + gamma = 0.

Many multipliers that travel with one body hold one another in soft modes. There elimination loses digits that these equations
have, and solutions by their residuals find again. docs/theory/solving.md (D10)
"""

from .algebra import add, cross, dot, get3, get3b, get9, inc33, mtv, set33, sub
from .flexible import elastic_momenta, elastic_rows, take_elastic_forces
from .separate import by_itself, times


def given_right(tree, tau, gamma, h):
    """Right-hand sides of the unknowns."""
    for p in range(tree.multiplier.shape[0]):
        for x in range(tree.unknown[p], tree.unknown[p + 1]):
            h.d[x] = -gamma[tree.number[x]] if tree.multiplier[p] == 1 else tau[tree.number[x]]


def residuals(tree, j, d, tau, K, gamma, s, h, qdd):
    """Residuals of s.acc, qdd and h.x in the equations as they were given: of axes in h.u, of unknowns in h.d.  Work h.p."""
    given_right(tree, tau, gamma, h)
    for i in range(1, tree.carrier.shape[0]):
        M, H, J, Ff, Fn = by_itself(tree, j, d.F, i)
        f, n = times(M, H, J, get3(s.acc, i), get3b(s.acc, i))
        set33(h.p, i, sub(f, Ff), sub(n, Fn))
    elastic_momenta(tree, j, qdd, h.p)
    for a in range(h.u.shape[0]):                                  # forces on shared speeds are in h.d
        h.u[a] = tree.rotor[a] * qdd[a] - (tau[tree.speed[a]] if tree.unknown_of[a] < 0 else 0.0)
    elastic_rows(tree, j, s.acc, qdd, h.u)
    take_elastic_forces(tree, d, h.u)
    for c in range(tree.on_body.shape[0]):
        p, i, k = tree.on_body[c, 0], tree.on_body[c, 1], tree.on_body[c, 3]
        for r in range(tree.unknown[p + 1] - tree.unknown[p]):
            x = tree.unknown[p] + r
            for e in range(6):
                h.d[x] = h.d[x] - K[k + 6*r + e] * s.acc[i, e]
                h.p[i, e] = h.p[i, e] + K[k + 6*r + e] * h.x[x]
    for c in range(tree.on_speed.shape[0]):
        p, a, k = tree.on_speed[c, 0], tree.on_speed[c, 1], tree.on_speed[c, 5]
        for r in range(tree.unknown[p + 1] - tree.unknown[p]):
            x = tree.unknown[p] + r
            h.d[x] = h.d[x] - K[k + r] * qdd[a]
            h.u[a] = h.u[a] + K[k + r] * h.x[x]
    for i in range(tree.carrier.shape[0] - 1, 0, -1):
        f, n = get3(h.p, i), get3b(h.p, i)
        for a in range(tree.first[i], tree.first[i + 1]):
            h.u[a] = -(h.u[a] + dot(get3(j.A, a), f) + dot(get3b(j.A, a), n))
        if tree.carrier[i] > 0:
            G = get9(j.G, i)
            f, n = mtv(G, f), mtv(G, n)
            inc33(h.p, tree.carrier[i], f, add(n, cross(get3(j.rho, i), f)))
