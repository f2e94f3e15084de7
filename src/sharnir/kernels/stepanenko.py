"""Stepanenko's method: the inertia matrix column by column, each by inverse dynamics for one unit acceleration."""

from typing import NamedTuple

from .algebra import add, cross, dot, get3, get3b, get9, inc33, mtv, mv, scale, set33, sv
from ..dialect.arrays import Array, IntegerArray
from .composite import add_rotors, zero_matrix
from .flexible import add_elastic, inertia_of, moment_of


class StepanenkoWork(NamedTuple):
    acc: Array["nb1", 6]
    R: Array["nb1", 6]
    moves: IntegerArray["nb1"]             # 1 where the current axis moves the body


def inertia_matrix_stepanenko(tree, j, s, M):
    """Column a of M_r: the joint forces that give axis a unit acceleration from rest.  Writes s, M (nv, nv).     [K]"""
    zero_matrix(tree, M)
    stepanenko_columns(tree, j, s, M, 1, tree.carrier.shape[0])
    add_rotors(tree, M)
    add_elastic(tree, j, M)


def stepanenko_columns(tree, j, s, M, low, high):
    """The columns of joints low .. high - 1, and the rows that are equal to them: no column needs another."""
    nb = tree.carrier.shape[0] - 1
    for i in range(low, high):
        for a in range(tree.first[i], tree.first[i + 1]):
            for k in range(nb + 1):
                s.moves[k] = 0
            for k in range(i, nb + 1):                             # outward from body i
                if k == i:
                    u, w = get3(j.A, a), get3b(j.A, a)
                elif s.moves[tree.carrier[k]] == 1:
                    G, w = get9(j.G, k), get3b(s.acc, tree.carrier[k])
                    u, w = mv(G, add(get3(s.acc, tree.carrier[k]), cross(w, get3(j.rho, k)))), mv(G, w)
                else:
                    continue
                s.moves[k] = 1
                h = moment_of(tree, j, k)
                set33(s.acc, k, u, w)
                set33(s.R, k, add(scale(u, tree.mass[k]), cross(w, h)), add(sv(inertia_of(tree, j, k), w), cross(h, u)))
            for k in range(nb, i - 1, -1):                         # inward to body i
                if s.moves[k] == 1:
                    f, n = get3(s.R, k), get3b(s.R, k)
                    for b in range(tree.first[k], tree.first[k + 1]):
                        if b >= a:
                            M[b, a] = dot(get3(j.A, b), f) + dot(get3b(j.A, b), n)
                            M[a, b] = M[b, a]
                    if k > i:
                        G = get9(j.G, k)
                        f, n = mtv(G, f), mtv(G, n)
                        inc33(s.R, tree.carrier[k], f, add(n, cross(get3(j.rho, k), f)))
