"""Composite bodies: the inertia matrix from bodies welded together, O(n depth)."""

from typing import NamedTuple

from .algebra import add, add6, congruence_sym, cross, dot, get3, get3b, get6, get9, mtv, scale, set3, set6, sv
from .flexible import add_elastic, inertia_of, moment_of
from ..dialect.arrays import Array


class CompositeWork(NamedTuple):
    """Mass properties of body i welded to all it carries, about its origin, body axes."""

    mass: Array["nb1"]
    moment: Array["nb1", 3]
    inertia: Array["nb1", 6]


def composite_bodies(tree, j, c):
    """M*_i = M_i + sum C_l'M*_l C_l over what i carries.  Reads j: JointValues.  Writes c: CompositeWork.       (D1)"""
    nb = tree.carrier.shape[0] - 1
    for i in range(nb + 1):
        c.mass[i] = tree.mass[i]
        set3(c.moment, i, moment_of(tree, j, i))
        set6(c.inertia, i, inertia_of(tree, j, i))
    for i in range(nb, 0, -1):
        k, G, r = tree.carrier[i], get9(j.G, i), get3(j.rho, i)
        if k > 0:
            m, h, J = c.mass[i], mtv(G, get3(c.moment, i)), congruence_sym(G, get6(c.inertia, i))
            hr = scale(r, m)
            c.mass[k] = c.mass[k] + m
            set3(c.moment, k, add(get3(c.moment, k), add(h, hr)))
            set6(c.inertia, k, add6(get6(c.inertia, k), add6(J, carried(r, add(h, add(h, hr))))))


def carried(r, h):
    """Contribution of a body to the moments about a point when its origin lies at r and h = 2 (first moment) + m r."""
    x, y, z = r[0]*h[0], r[1]*h[1], r[2]*h[2]
    return (y + z, x + z, x + y,
            -0.5*(r[0]*h[1] + r[1]*h[0]), -0.5*(r[0]*h[2] + r[2]*h[0]), -0.5*(r[1]*h[2] + r[2]*h[1]))


def inertia_matrix_composite(tree, j, c, M):
    """M_r = A'M*A: momenta of each composite body, carried down its path.  Reads c after composite_bodies.  Writes M."""
    zero_matrix(tree, M)
    composite_columns(tree, j, c, M, 1, tree.carrier.shape[0])
    add_rotors(tree, M)
    add_elastic(tree, j, M)


def composite_columns(tree, j, c, M, low, high):
    """Rows and columns of M that belong to joints low .. high - 1 and those they stand on: no joint needs another."""
    for i in range(low, high):
        m, h, J = c.mass[i], get3(c.moment, i), get6(c.inertia, i)
        for a in range(tree.first[i], tree.first[i + 1]):
            u, w = get3(j.A, a), get3b(j.A, a)
            f, n = add(scale(u, m), cross(w, h)), add(sv(J, w), cross(h, u))
            for b in range(tree.first[i], a + 1):
                M[a, b] = dot(get3(j.A, b), f) + dot(get3b(j.A, b), n)
                M[b, a] = M[a, b]
            k = i
            while tree.carrier[k] > 0:
                G = get9(j.G, k)
                f, n = mtv(G, f), mtv(G, n)
                n = add(n, cross(get3(j.rho, k), f))
                k = tree.carrier[k]
                for b in range(tree.first[k], tree.first[k + 1]):
                    M[a, b] = dot(get3(j.A, b), f) + dot(get3b(j.A, b), n)
                    M[b, a] = M[a, b]


def add_rotors(tree, M):
    """A rotor turns with its axis only: it adds to the diagonal."""
    for c in range(tree.geared.shape[0]):
        a = tree.geared[c]
        M[a, a] = M[a, a] + tree.rotor[a]


def zero_matrix(tree, M):
    zero_rows(tree, M, 0, tree.above.shape[0])


def zero_rows(tree, M, low, high):
    for a in range(low, high):
        for b in range(tree.above.shape[0]):
            M[a, b] = 0.0
