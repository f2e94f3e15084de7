"""The right-hand side of A q̈ = b from Kane's equations, in the axes of the world, after [K]: motion outward, sums inward.

The names are those of `kane.py`. [K] treats chains of revolute joints; here are trees, joints of any kind, drives in time and a
moving base: a joint that is no hinge adds its relative velocity and psi^r. Gravity is carried by the base (`drift`).
"""

from typing import NamedTuple

from .algebra import ZERO3, add, cross, dot, get3, get3b, get6, get9, inc33, mtv, mv, scale, set3, set9, set33, sub, sv
from ..dialect.arrays import Array
from .flexible import elastic_drift, elastic_rows, take_elastic_forces


class KaneForces(NamedTuple):
    omega: Array["nb1", 3]      # angular velocity of body j
    acc: Array["nb1", 6]        # w_j, epsilon_j: its acceleration where q̈ = 0, less gravity
    E: Array["nb1", 9]          # E_j = epsilon~ + omega~ omega~: w of a point at r is w_j + E_j r
    f: Array["nb1", 6]          # f^IE_j, m^IE_j; then their sums over everything joint j carries


def turning(o, e):
    """E = e~ + o~ o~."""
    xx, yy, zz, xy, xz, yz = o[0]*o[0], o[1]*o[1], o[2]*o[2], o[0]*o[1], o[0]*o[2], o[1]*o[2]
    return (-(yy + zz), xy - e[2], xz + e[1], xy + e[2], -(xx + zz), yz - e[0], xz - e[1], yz + e[0], -(xx + yy))


def row_motion(tree, j, p, v, k, f):
    """omega_j, w_j, epsilon_j, E_j of every body, outward.  [K] (3)-(5)"""
    G = get9(p.G, 0)
    o, e = mtv(G, get3b(j.vr, 0)), mtv(G, get3b(j.psi, 0))
    set3(f.omega, 0, o)
    set33(f.acc, 0, sub(mtv(G, get3(j.psi, 0)), (tree.gravity[0], tree.gravity[1], tree.gravity[2])), e)
    set9(f.E, 0, turning(o, e))
    for i in range(1, tree.carrier.shape[0]):
        c = tree.carrier[i]
        o, w, e = get3(f.omega, c), get3(f.acc, c), get3b(f.acc, c)
        w = add(w, mv(get9(f.E, c), sub(get3(p.r, i), get3(p.r, c))))
        if tree.hinge[i] == 1:
            s = ZERO3
            for a in range(tree.first[i], tree.first[i + 1]):
                s = add(s, scale(get3(k.R, a), v[tree.speed[a]]))
        else:
            G = get9(p.G, i)
            u, s = mtv(G, get3(j.vr, i)), mtv(G, get3b(j.vr, i))
            w = add(w, add(scale(cross(o, u), 2.0), mtv(G, get3(j.psi, i))))
            e = add(e, mtv(G, get3b(j.psi, i)))
        o, e = add(o, s), add(e, cross(o, s))
        set3(f.omega, i, o)
        set33(f.acc, i, w, e)
        set9(f.E, i, turning(o, e))


def row_wrench(tree, p, wrench, f):
    """External forces and moments in the axes of the world.  [K] (7)"""
    for i in range(1, tree.carrier.shape[0]):
        G = get9(p.G, i)
        set33(f.f, i, mtv(G, get3(wrench, i)), mtv(G, get3b(wrench, i)))


def row_body_forces(tree, k, f):
    """f^IE = f^E - m w - E c,  m^IE = m^E - c~w - I epsilon - omega x I omega.  [K] (11)"""
    for i in range(1, tree.carrier.shape[0]):
        w, e, o, c, I = get3(f.acc, i), get3b(f.acc, i), get3(f.omega, i), get3(k.c, i), get6(k.I, i)
        force = sub(sub(get3(f.f, i), scale(w, tree.mass[i])), mv(get9(f.E, i), c))
        moment = sub(sub(sub(get3b(f.f, i), cross(c, w)), sv(I, e)), cross(o, sv(I, o)))
        set33(f.f, i, force, moment)


def row_force_sums(tree, p, f):
    """Their sums about O_j over everything joint j carries, inward.  [K] (17)-(19), (19b) as a recursion"""
    for i in range(tree.carrier.shape[0] - 1, 0, -1):
        c = tree.carrier[i]
        if c > 0:
            force = get3(f.f, i)
            inc33(f.f, c, force, add(get3b(f.f, i), cross(sub(get3(p.r, i), get3(p.r, c)), force)))


def row_b(tree, k, f, b):
    """b_a = R_a'm + T_a'f.  [K] (10), (21)"""
    for i in range(1, tree.carrier.shape[0]):
        for a in range(tree.first[i], tree.first[i + 1]):
            b[a] = dot(get3(k.R, a), get3b(f.f, i))
            if tree.hinge[i] == 0:
                b[a] = b[a] + dot(get3(k.T, a), get3(f.f, i))


def kane_bias(tree, j, p, v, wrench, k, d, zero, acc, f, h):
    """h = -b, the joint forces that keep q̈ at zero, flexible bodies included.

    Reads   j: JointValues, p: Poses, v (nv,), wrench (nb1, 6), k: KaneWork after to_world, zero (na,) zeros
    Writes  f: KaneForces, h (na,); rows of deformations in d: Drift and acc (nb1, 6)
    """
    row_motion(tree, j, p, v, k, f)
    row_wrench(tree, p, wrench, f)
    add_elastic_drift(tree, j, p, d, acc, f)
    row_body_forces(tree, k, f)
    row_force_sums(tree, p, f)
    row_b(tree, k, f, h)
    for a in range(h.shape[0]):
        h[a] = -h[a]
    elastic_rows(tree, j, acc, zero, h)
    take_elastic_forces(tree, d, h)


def add_elastic_drift(tree, j, p, d, acc, f):
    """Forces that the rates of deformation bring. Into acc the accelerations of deformed bodies, body axes.          (F8)"""
    for e in range(tree.deformed.shape[0]):
        i = tree.deformed[e]
        G = get9(p.G, i)
        set3(d.omega, i, mv(G, get3(f.omega, i)))
        set33(acc, i, mv(G, get3(f.acc, i)), mv(G, get3b(f.acc, i)))
        set33(d.F, i, ZERO3, ZERO3)
    elastic_drift(tree, j, d)
    for e in range(tree.deformed.shape[0]):
        i = tree.deformed[e]
        G = get9(p.G, i)
        inc33(f.f, i, mtv(G, get3(d.F, i)), mtv(G, get3b(d.F, i)))
