"""The inertia matrix from Kane's equations, in the axes of the world, after [K]: the sum (9) and its recursive form.

R_a, T_a are the partial velocities of axis a (angular, and of the joint's origin); r_ij = O_j - O_i;
c_l = m_l d_l and I_l the first moment and the inertia of body l about its origin. [K] treats chains of revolute
joints; here are trees and joints of any kind, and the terms with T_a only where a joint is no hinge (`Tree.hinge`).
Each function is one row of [K]'s Table 1, so that it can be counted. The right-hand side b: `kane_forces.py`.
"""

from typing import NamedTuple

from .algebra import (
    ZERO3, add, add6, add9, congruence_sym, cross, dot, get3, get6, get9, mtv, mv, scale, set3, set6, set9, sub, sv,
)
from ..dialect.arrays import Array, IntegerArray
from .composite import add_rotors, zero_matrix
from .direct import last_axis, mirror
from .flexible import add_elastic, inertia_of, moment_of


class KaneWork(NamedTuple):
    R: Array["na", 3]           # R_a: direction of axis a
    T: Array["na", 3]           # T_a: velocity of the joint's origin
    c: Array["nb1", 3]          # c_l
    I: Array["nb1", 6]          # I_l
    mass: Array["nb1"]          # masses, first moments and moments of everything joint j carries
    C: Array["nb1", 3]
    M1: Array["nb1", 6]
    r: Array["nb1", 3]          # r_ij for the current i, j in its subtree
    s: Array["nb1", 3]          # sum of m_l r_il over the subtree of j
    M2: Array["nb1", 9]         # sum of m_l r~_il r~_jl'
    M3: Array["nb1", 9]         # sum of c~_l r~_il' over the subtree of j, j left out
    M3jj: Array["nb1", 9]       # the same with i = j
    moves: IntegerArray["nb1"]         # 1 where j is in the subtree of i


def to_world(tree, j, p, k):
    """Partial velocities and mass properties in the axes of the world.  [K] (6)"""
    for i in range(1, tree.carrier.shape[0]):
        G = get9(p.G, i)
        for a in range(tree.first[i], tree.first[i + 1]):
            set3(k.R, a, mtv(G, (j.A[a, 3], j.A[a, 4], j.A[a, 5])))
            set3(k.T, a, ZERO3 if tree.hinge[i] == 1 else mtv(G, (j.A[a, 0], j.A[a, 1], j.A[a, 2])))
        set3(k.c, i, mtv(G, moment_of(tree, j, i)))
        set6(k.I, i, congruence_sym(G, inertia_of(tree, j, i)))


def row_masses(tree, k):
    """Row 1: masses of subchains (and, beyond [K], their first moments, for joints that shift)."""
    for i in range(tree.carrier.shape[0]):
        k.mass[i] = tree.mass[i]
        set3(k.C, i, get3(k.c, i) if i > 0 else ZERO3)
    for i in range(tree.carrier.shape[0] - 1, 0, -1):
        parent = tree.carrier[i]
        k.mass[parent] = k.mass[parent] + k.mass[i]
        set3(k.C, parent, add(get3(k.C, parent), get3(k.C, i)))


def row_M1(tree, k):
    """Row 6: M1_j = I_j + sum over children.  [K] (13)"""
    for i in range(1, tree.carrier.shape[0]):
        set6(k.M1, i, get6(k.I, i))
    for i in range(tree.carrier.shape[0] - 1, 0, -1):
        if tree.carrier[i] > 0:
            set6(k.M1, tree.carrier[i], add6(get6(k.M1, tree.carrier[i]), get6(k.M1, i)))


def row_r(tree, p, k, i):
    """Row 2: r_ij from the current i to every j it carries.  [K] (12)"""
    for j in range(tree.carrier.shape[0]):
        k.moves[j] = 0
    k.moves[i] = 1
    set3(k.r, i, ZERO3)
    for j in range(i + 1, tree.carrier.shape[0]):
        if k.moves[tree.carrier[j]] == 1:
            k.moves[j] = 1
            set3(k.r, j, sub(get3(p.r, j), get3(p.r, i)))


def row_s(tree, k, i):
    """Rows 3, 4: s_ij = m_j r_ij + sum over children.  [K] (12b), corrected: a running sum"""
    for j in range(i, tree.carrier.shape[0]):
        if k.moves[j] == 1:
            set3(k.s, j, scale(get3(k.r, j), tree.mass[j]))
    for j in range(tree.carrier.shape[0] - 1, i, -1):
        if k.moves[j] == 1:
            set3(k.s, tree.carrier[j], add(get3(k.s, tree.carrier[j]), get3(k.s, j)))


def tilde_product(a, b):
    """a~ b~' = (a.b)E - b a'."""
    x, y, z = a[0]*b[0], a[1]*b[1], a[2]*b[2]
    return (y + z, -b[0]*a[1], -b[0]*a[2], -b[1]*a[0], x + z, -b[1]*a[2], -b[2]*a[0], -b[2]*a[1], x + y)


def row_M2(tree, p, k, i):
    """Row 7: M2_ij = sum over children c of s~_ic r~_jc' + M2_ic.  [K] (14b), corrected"""
    for j in range(i, tree.carrier.shape[0]):
        for c in range(9):
            k.M2[j, c] = 0.0
    for c in range(tree.carrier.shape[0] - 1, i, -1):
        if k.moves[c] == 1:
            j = tree.carrier[c]
            arm = sub(get3(p.r, c), get3(p.r, j))
            set9(k.M2, j, add9(get9(k.M2, j), add9(tilde_product(get3(k.s, c), arm), get9(k.M2, c))))


def row_M3(tree, k, i):
    """Row 8: M3_ij = sum over children c of c~_c r~_ic' + M3_ic.  [K] (15)"""
    for j in range(i, tree.carrier.shape[0]):
        for c in range(9):
            k.M3[j, c] = 0.0
    for c in range(tree.carrier.shape[0] - 1, i, -1):
        if k.moves[c] == 1:
            set9(k.M3, c, add9(get9(k.M3, c), tilde_product(get3(k.c, c), get3(k.r, c))))
            set9(k.M3, tree.carrier[c], add9(get9(k.M3, tree.carrier[c]), get9(k.M3, c)))


def diagonal_M3(tree, p, k):
    """M3_jj of every j, which the column of j finds on its way: for columns that are computed at once, none after another.

    r_jl = r_jc + r_cl for all l that a child c of j carries, hence M3_jj = sum over children of C~_c r~_jc' + M3_cc.
    """
    for j in range(1, tree.carrier.shape[0]):
        for c in range(9):
            k.M3jj[j, c] = 0.0
    for c in range(tree.carrier.shape[0] - 1, 0, -1):
        j = tree.carrier[c]
        if j > 0:
            arm = sub(get3(p.r, c), get3(p.r, j))
            set9(k.M3jj, j, add9(get9(k.M3jj, j), add9(tilde_product(get3(k.C, c), arm), get9(k.M3jj, c))))


def row_sum(k, i, j):
    """Row 9: M1_j + M2_ij + M3_jj + M3'_i,j-1, the inertia that joins axes of i to axes of j.  [K] (16)

    After row 8, M3 of a j below i holds c~_j r~_ij' too, which is [K]'s M3 of the body before j.
    """
    S, X, Y, Z = get6(k.M1, j), get9(k.M2, j), get9(k.M3jj, j), get9(k.M3, j)
    return (S[0] + X[0] + Y[0] + Z[0], S[3] + X[1] + Y[1] + Z[3], S[4] + X[2] + Y[2] + Z[6],
            S[3] + X[3] + Y[3] + Z[1], S[1] + X[4] + Y[4] + Z[4], S[5] + X[5] + Y[5] + Z[7],
            S[4] + X[6] + Y[6] + Z[2], S[5] + X[7] + Y[7] + Z[5], S[2] + X[8] + Y[8] + Z[8])


def row_A(tree, k, i, j, S, M):
    """Row 10: the entries R_a'S R_b [K] (20), and what axes add that shift the origins of i or j."""
    for b in range(tree.first[j], tree.first[j + 1]):
        Rb, Tb = get3(k.R, b), get3(k.T, b)
        turning = mv(S, Rb)
        if tree.hinge[j] == 0:
            turning = add(turning, cross(add(get3(k.s, j), get3(k.C, j)), Tb))
        for a in range(tree.first[i], tree.first[i + 1]):
            M[b, a] = dot(get3(k.R, a), turning)
        if tree.hinge[i] == 0:
            about_j = cross(Rb, add(get3(k.s, j), add(get3(k.C, j), scale(get3(k.r, j), -k.mass[j]))))
            if tree.hinge[j] == 0:
                about_j = add(scale(Tb, k.mass[j]), about_j)
            for a in range(tree.first[i], tree.first[i + 1]):
                M[b, a] = M[b, a] + dot(get3(k.T, a), about_j)


def inertia_matrix_recursive(tree, j, p, k, M):
    """The recursive algorithm of [K], O(n²).  Reads j, p, k after to_world.  Writes k: KaneWork, M (na, na)."""
    zero_matrix(tree, M)
    of_subtrees(tree, k)
    for i in range(tree.carrier.shape[0] - 1, 0, -1):
        partial_sums(tree, p, k, i)
        set9(k.M3jj, i, get9(k.M3, i))
        recursive_column(tree, k, i, M)
    mirror(tree, M)
    add_rotors(tree, M)
    add_elastic(tree, j, M)


def of_subtrees(tree, k):
    """Sums over subtrees: everything that does not depend on the column."""
    row_masses(tree, k)
    row_M1(tree, k)


def partial_sums(tree, p, k, i):
    """Rows 2, 3, 4, 7, 8 for the column of joint i."""
    row_r(tree, p, k, i)
    row_s(tree, k, i)
    row_M2(tree, p, k, i)
    row_M3(tree, k, i)


def recursive_column(tree, k, i, M):
    """The entries that join joint i to all it carries."""
    for below in range(i, tree.carrier.shape[0]):
        if k.moves[below] == 1:
            row_A(tree, k, i, below, row_sum(k, i, below), M)


def inertia_matrix_kosynka(tree, j, p, k, M):
    """The sum (9) of [K] over the triangle of partial velocities, O(n³); [K] names an algorithm so and does not give it:

    A = sum over bodies of m T'T + T'c~'R + (T'c~'R)' + R'I R.  Reads j, p.  Writes k: KaneWork, M (nv, nv).
    """
    zero_matrix(tree, M)
    to_world(tree, j, p, k)
    for i in range(1, tree.carrier.shape[0]):
        m, c, I = tree.mass[i], get3(k.c, i), get6(k.I, i)
        a = last_axis(tree, i)
        while a >= 0:
            Ra, Ta = get3(k.R, a), partial_velocity(tree, p, k, i, a)
            force, moment = add(scale(Ta, m), cross(Ra, c)), add(sv(I, Ra), cross(c, Ta))
            b = a
            while b >= 0:
                M[a, b] = M[a, b] + dot(partial_velocity(tree, p, k, i, b), force) + dot(get3(k.R, b), moment)
                b = tree.above[b]
            a = tree.above[a]
    mirror(tree, M)
    add_rotors(tree, M)
    add_elastic(tree, j, M)


def partial_velocity(tree, p, k, i, a):
    """T_ia: velocity of the origin of body i per unit of speed a."""
    return add(get3(k.T, a), cross(get3(k.R, a), sub(get3(p.r, i), get3(p.r, tree.owner[a]))))
