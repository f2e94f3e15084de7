"""Derivatives of joint forces along a tree: products of a column on one axis with a composite quantity on another."""

from typing import NamedTuple

from .algebra import add, cross, dot, get3, get3b, get6, get9, mtv, mv, scale, set3, set33, sub, sv
from .composite import add_rotors, zero_matrix
from ..dialect.arrays import Array


class AxisForces(NamedTuple):
    """Contribution of axis a to products with the axes that carry it."""

    p: Array["na", 6]           # M* s: momentum of the composite body per unit of speed
    r: Array["na", 3]           # 2B*'s, angular part; the linear one is zero
    y: Array["na", 6]           # force that changes with the coordinate, as the axes that carry a feel it
    z: Array["na", 6]           # force that changes with the speed


def weight(c, i, u, w):
    """M* (u; w) of composite body i."""
    h = get3(c.moment, i)
    return add(scale(u, c.mass[i]), cross(w, h)), add(cross(h, u), sv(get6(c.inertia, i), w))


def momenta_of_axes(tree, x, c, f):
    """p = M* s.  Reads x: WorldAxes, c: CompositeBodies.  Writes f.p                                            (G9)"""
    for i in range(1, tree.carrier.shape[0]):
        for a in range(tree.first[i], tree.first[i + 1]):
            l, t = weight(c, i, get3(x.s, a), get3b(x.s, a))
            set33(f.p, a, l, t)


def inertia_matrix_in_world(tree, x, f, M):
    """M_ab = p_a's_b for b on the way from a to the base.  Reads f.p.  Writes M (na, na)                         (G8)"""
    zero_matrix(tree, M)
    for a in range(tree.above.shape[0]):
        pu, pw = get3(f.p, a), get3b(f.p, a)
        b = a
        while b >= 0:
            for e in range(tree.stretch[b], b + 1):
                M[a, e] = dot(pu, get3(x.s, e)) + dot(pw, get3b(x.s, e))
                M[e, a] = M[a, e]
            b = tree.above[tree.stretch[b]]
    add_rotors(tree, M)


def forces_of_axes(tree, x, c, f):
    """How the force on the composite body of each axis changes with its coordinate and its speed.                (G9)

        y = s x* F + M* dds + 2B* ds,    z = 2B* s + M* both,    2B*(u; w) = (w x 2P; 2C w),    r = 2P x u + 2C'w

    Reads   x: WorldAxes, c: CompositeBodies.  Writes f: r, y, z
    """
    for i in range(1, tree.carrier.shape[0]):
        P, C, F, N = get3(c.momentum, i), get9(c.turn, i), get3(c.F, i), get3b(c.F, i)
        for a in range(tree.first[i], tree.first[i + 1]):
            u, w, dw = get3(x.s, a), get3b(x.s, a), get3b(x.ds, a)
            set3(f.r, a, add(cross(P, u), mtv(C, w)))
            l, t = weight(c, i, get3(x.dds, a), get3b(x.dds, a))
            l, t = add(l, add(cross(w, F), cross(dw, P))), add(t, add(add(cross(w, N), cross(u, F)), mv(C, dw)))
            set33(f.y, a, l, t)
            l, t = weight(c, i, get3(x.both, a), get3b(x.both, a))
            set33(f.z, a, add(l, cross(w, P)), add(t, mv(C, w)))


def derivatives_between_joints(tree, x, f, dq, dv):
    """Rows and columns of axes of different joints of one path.  Writes dq, dv (na, na), zero elsewhere.         (G10)"""
    zero_matrix(tree, dq)
    zero_matrix(tree, dv)
    for i in range(1, tree.carrier.shape[0]):
        for a in range(tree.first[i], tree.first[i + 1]):
            pu, pw, r = get3(f.p, a), get3b(f.p, a), get3(f.r, a)
            yu, yw, zu, zw = get3(f.y, a), get3b(f.y, a), get3(f.z, a), get3b(f.z, a)
            b = tree.above[tree.first[i]]
            while b >= 0:
                for e in range(tree.stretch[b], b + 1):
                    su, sw = get3(x.s, e), get3b(x.s, e)
                    dq[a, e] = dot(pu, get3(x.dds, e)) + dot(pw, get3b(x.dds, e)) + dot(r, get3b(x.ds, e))
                    dv[a, e] = dot(pu, get3(x.both, e)) + dot(pw, get3b(x.both, e)) + dot(r, sw)
                    dq[e, a] = dot(yu, su) + dot(yw, sw)
                    dv[e, a] = dot(zu, su) + dot(zw, sw)
                b = tree.above[tree.stretch[b]]


def derivatives_within_joints(tree, joints, x, c, f, dq, dv):
    """Rows and columns of axes of one joint: a row moves with the column unless its motion comes before.         (G11)"""
    for i in range(1, tree.carrier.shape[0]):
        F, N, back = get3(c.F, i), get3b(c.F, i), joints.reversed[i]
        row = tree.first[i]
        for m in range(joints.start[i], joints.start[i + 1]):
            column = tree.first[i]
            for n in range(joints.start[i], joints.start[i + 1]):
                follows = (back == 0 and m >= n) or (back == 1 and m < n)
                for a in range(row, row + joints.axes[m]):
                    for e in range(column, column + joints.axes[n]):
                        su, sw, u, w = get3(x.s, a), get3b(x.s, a), get3(x.s, e), get3b(x.s, e)
                        yu, yw = get3(f.y, e), get3b(f.y, e)
                        if follows:
                            yu, yw = sub(yu, cross(w, F)), sub(yw, add(cross(w, N), cross(u, F)))
                        dq[a, e] = dot(su, yu) + dot(sw, yw)
                        dv[a, e] = dot(su, get3(f.z, e)) + dot(sw, get3b(f.z, e))
                column += joints.axes[n]
            row += joints.axes[m]
