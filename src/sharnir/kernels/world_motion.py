"""Axes, velocities, accelerations and inertias in world axes: what derivatives are swept together from.

Everything of a tree refers to one point that rests in the world, where the first body on the way from the base has its origin
now: twists of one tree are then added without being carried from body to body, and a robot far from the world's origin loses
no digits. A velocity (u; w) is the field u + w × x of the points at x from there; an acceleration is its rate at that point.
"""

from typing import NamedTuple

from .algebra import (
    add, add6, congruence_sym, cross, dot, get3, get3b, get6, get9, inc33, mtv, scale, set3, set6, set9, set33, sub, sv,
)
from .composite import carried
from ..dialect.arrays import Array


class WorldAxes(NamedTuple):
    """Columns of A as fields in the world; p is the frame in which a column is fixed when its coordinate changes."""

    s: Array["na", 6]           # column of A
    ds: Array["na", 6]          # V_p x s: its rate when fixed in p
    both: Array["na", 6]        # the same and its true rate together
    turning: Array["na", 6]     # V_p x ds
    dds: Array["na", 6]         # A_p x s + V_p x ds: its second rate


class WorldBodies(NamedTuple):
    point: Array["nb1", 3]      # from the origin of the body to the point everything refers to
    V: Array["nb1", 6]          # velocity
    A: Array["nb1", 6]          # acceleration less gravity
    moment: Array["nb1", 3]     # m r_c about the point
    inertia: Array["nb1", 6]    # J about the point
    gyro: Array["nb1", 6]       # V x* (M V) less the external wrench


class CompositeBodies(NamedTuple):
    """Sums over body i and all it carries."""

    mass: Array["nb1"]
    moment: Array["nb1", 3]
    inertia: Array["nb1", 6]
    momentum: Array["nb1", 3]   # 2P, twice the linear momentum
    turn: Array["nb1", 9]       # 2C, where C w = sum of x x (w x v) dm
    F: Array["nb1", 6]          # force that keeps up the motion


def twist_cross(x, y, a, b):
    """(x; y) x (a; b): the rate of the field (a; b) when it is carried along with the velocity (x; y)."""
    return add(cross(y, a), cross(x, b)), cross(y, b)


def at_point(p, i, d, u, w):
    """A twist of body i, in its axes at its origin, as a field in the world; d: from there to the point."""
    G = get9(p.G, i)
    w = mtv(G, w)
    return add(mtv(G, u), cross(w, d)), w


def base_in_world(tree, j, p, b):
    """The base, with its own origin for the point.  Gravity is carried by it."""
    u, w = at_point(p, 0, (0.0, 0.0, 0.0), get3(j.vr, 0), get3b(j.vr, 0))
    a, e = at_point(p, 0, (0.0, 0.0, 0.0), get3(j.psi, 0), get3b(j.psi, 0))
    g = (tree.gravity[0], tree.gravity[1], tree.gravity[2])
    set33(b.V, 0, u, w)
    set33(b.A, 0, sub(sub(a, cross(w, u)), g), e)
    set3(b.point, 0, (0.0, 0.0, 0.0))


def axes_in_world(tree, joints, j, p, v, b, x):
    """Outward: points, velocities, columns and their rates.                                                     (G2)

    Reads   j: JointValues, p: Poses, v (nv,).  Writes  b: WorldBodies, point and V; x: WorldAxes, all but dds.
    """
    for i in range(1, tree.carrier.shape[0]):
        k = tree.carrier[i]
        d = sub(get3(p.r, k), get3(p.r, i))
        if k > 0:
            d = add(d, get3(b.point, k))
        else:
            d = (0.0, 0.0, 0.0)
        set3(b.point, i, d)
        u, w = get3(b.V, k), get3b(b.V, k)
        if k == 0:
            u = add(u, cross(w, sub(get3(p.r, i), get3(p.r, 0))))
        if tree.first[i] == tree.first[i + 1]:                     # welded, or a given function of time
            fu, fw = at_point(p, i, d, get3(j.vr, i), get3b(j.vr, i))
            u, w = add(u, fu), add(w, fw)
        last = joints.start[i + 1] - joints.start[i] - 1
        e0 = tree.first[i]
        if joints.reversed[i] == 1:
            e0 = tree.first[i + 1]
        for c in range(last + 1):
            m = joints.start[i] + c
            if joints.reversed[i] == 1:
                m = joints.start[i] + last - c
                e0 = e0 - joints.axes[m]
            n = joints.axes[m]
            lu, lw = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
            for a in range(e0, e0 + n):
                su, sw = at_point(p, i, d, get3(j.A, a), get3b(j.A, a))
                set33(x.s, a, su, sw)
                lu, lw = add(lu, scale(su, v[tree.speed[a]])), add(lw, scale(sw, v[tree.speed[a]]))
            if n == 1:
                rates_of_column(x, e0, u, w)
            if n > 1 and joints.reversed[i] == 0:                  # fixed in the frame before the motion
                rates_of_columns(x, e0, n, u, w, add(u, lu), add(w, lw))
            if n > 1 and joints.reversed[i] == 1:                  # fixed in the frame behind it
                rates_of_columns(x, e0, n, add(u, lu), add(w, lw), u, w)
            u, w = add(u, lu), add(w, lw)
            if joints.reversed[i] == 0:
                e0 = e0 + n
        set33(b.V, i, u, w)


def rates_of_column(x, a, u, w):
    """Rates of a single column, fixed on both sides of its motion alike."""
    du, dw = twist_cross(u, w, get3(x.s, a), get3b(x.s, a))
    tu, tw = twist_cross(u, w, du, dw)
    set33(x.ds, a, du, dw)
    set33(x.both, a, scale(du, 2.0), scale(dw, 2.0))
    set33(x.turning, a, tu, tw)


def rates_of_columns(x, first, n, u, w, cu, cw):
    """Rates of n columns at one level: (u; w) moves the frame their changes are fixed in, (cu; cw) the one they are fixed in."""
    for a in range(first, first + n):
        su, sw = get3(x.s, a), get3b(x.s, a)
        du, dw = twist_cross(u, w, su, sw)
        tu, tw = twist_cross(u, w, du, dw)
        ru, rw = twist_cross(cu, cw, su, sw)
        set33(x.ds, a, du, dw)
        set33(x.both, a, add(du, ru), add(dw, rw))
        set33(x.turning, a, tu, tw)


def accelerations_in_world(tree, joints, j, p, v, qdd, b, x):
    """Outward: accelerations, and the second rates of the columns.                                              (G4)

    Reads   b: V; x: s, ds, both, turning; qdd (nv,).  Writes  b.A, x.dds
    """
    for i in range(1, tree.carrier.shape[0]):
        k = tree.carrier[i]
        u, w = get3(b.A, k), get3b(b.A, k)
        if k == 0:
            u = add(u, cross(w, sub(get3(p.r, i), get3(p.r, 0))))
        if tree.first[i] == tree.first[i + 1]:
            d, spin = get3(b.point, i), cross(get3b(j.vr, i), get3(j.vr, i))
            au, aw = at_point(p, i, d, sub(get3(j.psi, i), spin), get3b(j.psi, i))
            fu, fw = at_point(p, i, d, get3(j.vr, i), get3b(j.vr, i))
            cu, cw = twist_cross(get3(b.V, i), get3b(b.V, i), fu, fw)   # V_i x f = V_k x f
            u, w = add(u, add(au, cu)), add(w, add(aw, cw))
        last = joints.start[i + 1] - joints.start[i] - 1
        e0 = tree.first[i]
        if joints.reversed[i] == 1:
            e0 = tree.first[i + 1]
        for c in range(last + 1):
            m = joints.start[i] + c
            if joints.reversed[i] == 1:
                m = joints.start[i] + last - c
                e0 = e0 - joints.axes[m]
            n = joints.axes[m]
            late = n > 1 and joints.reversed[i] == 1
            if not late:
                second_rates(x, e0, n, u, w)
            for a in range(e0, e0 + n):
                r, z, z1 = get3(x.ds, a), get3b(x.ds, a), v[tree.speed[a]]
                if late:
                    r, z = sub(get3(x.both, a), r), sub(get3b(x.both, a), z)
                u = add(u, add(scale(get3(x.s, a), qdd[tree.speed[a]]), scale(r, z1)))
                w = add(w, add(scale(get3b(x.s, a), qdd[tree.speed[a]]), scale(z, z1)))
            if late:
                second_rates(x, e0, n, u, w)
            if joints.reversed[i] == 0:
                e0 = e0 + n
        set33(b.A, i, u, w)


def second_rates(x, first, n, u, w):
    for a in range(first, first + n):
        du, dw = twist_cross(u, w, get3(x.s, a), get3b(x.s, a))
        set33(x.dds, a, add(du, get3(x.turning, a)), add(dw, get3b(x.turning, a)))


def bodies_in_world(tree, p, wrench, b, c):
    """Inertias about the point, momenta, and the force that velocities alone need; composite bodies.            (G5), (G6)

    Reads   b: point, V; wrench (nb1, 6) in body axes at origins.
    Writes  b: moment, inertia, gyro; c: CompositeBodies, all but F
    """
    nb = tree.carrier.shape[0] - 1
    for i in range(1, nb + 1):
        G, d, m = get9(p.G, i), get3(b.point, i), tree.mass[i]
        r, h = (-d[0], -d[1], -d[2]), mtv(G, get3(tree.moment, i))
        mr = scale(r, m)
        J = add6(congruence_sym(G, get6(tree.inertia, i)), carried(r, add(h, add(h, mr))))
        h = add(h, mr)
        u, w = get3(b.V, i), get3b(b.V, i)
        P, L = add(scale(u, m), cross(w, h)), add(cross(h, u), sv(J, w))
        f, t = mtv(G, get3(wrench, i)), mtv(G, get3b(wrench, i))
        set33(b.gyro, i, sub(cross(w, P), f), sub(add(cross(w, L), cross(u, P)), add(t, cross(r, f))))
        set3(b.moment, i, h)
        set6(b.inertia, i, J)
        c.mass[i] = m
        set3(c.moment, i, h)
        set6(c.inertia, i, J)
        set3(c.momentum, i, scale(P, 2.0))
        set9(c.turn, i, twice_turn(h, J, u, w))
    for i in range(nb, 0, -1):
        k = tree.carrier[i]
        if k > 0:
            c.mass[k] = c.mass[k] + c.mass[i]
            for a in range(3):
                c.moment[k, a] = c.moment[k, a] + c.moment[i, a]
                c.momentum[k, a] = c.momentum[k, a] + c.momentum[i, a]
            for a in range(6):
                c.inertia[k, a] = c.inertia[k, a] + c.inertia[i, a]
            for a in range(9):
                c.turn[k, a] = c.turn[k, a] + c.turn[i, a]


def twice_turn(h, J, u, w):
    """2C = 2 ((h·u) E - u h' - w~ K),  K = sum x x' dm, 2K = tr(J) E - 2J."""
    t, hu = J[0] + J[1] + J[2], 2.0 * dot(h, u)
    a, b, c = t - 2.0 * J[0], t - 2.0 * J[1], t - 2.0 * J[2]
    d, e, f = -2.0 * J[3], -2.0 * J[4], -2.0 * J[5]
    x, y, z = cross((a, d, e), w), cross((d, b, f), w), cross((e, f, c), w)
    u = scale(u, 2.0)
    return (x[0] + hu - u[0]*h[0], y[0] - u[0]*h[1], z[0] - u[0]*h[2],
            x[1] - u[1]*h[0], y[1] + hu - u[1]*h[1], z[1] - u[1]*h[2],
            x[2] - u[2]*h[0], y[2] - u[2]*h[1], z[2] + hu - u[2]*h[2])


def forces_in_world(tree, b, x, qdd, c, tau):
    """Inward: F_i = sum of M A + gyro over what body i carries; tau = s'F + rotor q̈ on the axes.                 (G7)"""
    nb = tree.carrier.shape[0] - 1
    for i in range(1, nb + 1):
        u, w, h = get3(b.A, i), get3b(b.A, i), get3(b.moment, i)
        f, t = add(scale(u, tree.mass[i]), cross(w, h)), add(cross(h, u), sv(get6(b.inertia, i), w))
        set33(c.F, i, add(f, get3(b.gyro, i)), add(t, get3b(b.gyro, i)))
    for i in range(nb, 0, -1):
        f, t = get3(c.F, i), get3b(c.F, i)
        for a in range(tree.first[i], tree.first[i + 1]):
            tau[a] = dot(get3(x.s, a), f) + dot(get3b(x.s, a), t)
        if tree.carrier[i] > 0:
            inc33(c.F, tree.carrier[i], f, t)
    for r in range(tree.geared.shape[0]):
        a = tree.geared[r]
        tau[a] = tau[a] + tree.rotor[a] * qdd[tree.speed[a]]
