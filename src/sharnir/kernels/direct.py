"""The direct method: the inertia matrix as B'MB, with the tangent basis of the whole system written out."""

from typing import NamedTuple

from .algebra import add, cross, dot, get9, get3, mv, scale, sv
from ..dialect.arrays import Array
from .composite import add_rotors, zero_matrix
from .flexible import add_elastic, inertia_of, moment_of


class DirectWork(NamedTuple):
    B: Array["nb1", "na", 6]        # B_ia: velocity of body i per unit of speed a, body axes; only for a on its path


def tangent_basis(tree, j, B):
    """B_ij = C_i B_kj on the path, B_ii = A_i.  Writes B (nb1, nv, 6) where axis a moves body i.              [I] (2.21)"""
    for i in range(1, tree.carrier.shape[0]):
        k, G = tree.carrier[i], get9(j.G, i)
        r = get3(j.rho, i)
        a = last_axis(tree, k)
        while a >= 0:
            x = B[k, a]
            w = (x[3], x[4], x[5])
            u, w = mv(G, add((x[0], x[1], x[2]), cross(w, r))), mv(G, w)
            for c in range(3):
                B[i, a, c] = u[c]
                B[i, a, 3 + c] = w[c]
            a = tree.above[a]
        for a in range(tree.first[i], tree.first[i + 1]):
            for c in range(6):
                B[i, a, c] = j.A[a, c]


def last_axis(tree, i):
    """The axis nearest to body i on its path, -1 where nothing moves it."""
    while i > 0 and tree.first[i] == tree.first[i + 1]:
        i = tree.carrier[i]
    return tree.first[i + 1] - 1 if i > 0 else -1


def inertia_matrix_direct(tree, j, d, M):
    """M_r = sum of B_i'M_i B_i over all bodies.  Reads j: JointValues.  Writes d: DirectWork, M (nv, nv).         [I] (3.12)"""
    zero_matrix(tree, M)
    tangent_basis(tree, j, d.B)
    for i in range(1, tree.carrier.shape[0]):
        m, h, J = tree.mass[i], moment_of(tree, j, i), inertia_of(tree, j, i)
        a = last_axis(tree, i)
        while a >= 0:
            x = d.B[i, a]
            u, w = (x[0], x[1], x[2]), (x[3], x[4], x[5])
            f, n = add(scale(u, m), cross(w, h)), add(sv(J, w), cross(h, u))
            b = a
            while b >= 0:
                y = d.B[i, b]
                M[a, b] = M[a, b] + dot((y[0], y[1], y[2]), f) + dot((y[3], y[4], y[5]), n)
                b = tree.above[b]
            a = tree.above[a]
    mirror(tree, M)
    add_rotors(tree, M)
    add_elastic(tree, j, M)


def mirror(tree, M):
    """The upper triangle from the lower one."""
    mirror_rows(M, 0, tree.above.shape[0])


def mirror_rows(M, low, high):
    for a in range(low, high):
        for b in range(a):
            M[b, a] = M[a, b]
