"""Where bodies are and how they move: poses, velocities, accelerations."""

from typing import NamedTuple

from .algebra import add, cross, get3, get3b, get9, mm, mtv, mv, scale, set3, set9, set33, sub, sv
from .flexible import elastic_drift, inertia_of, moment_of
from ..dialect.arrays import Array


class Poses(NamedTuple):
    r: Array["nb1", 3]          # origin in the world
    G: Array["nb1", 9]          # cosines, world -> body


class Drift(NamedTuple):
    """The part of accelerations and forces that follows from the state alone."""

    omega: Array["nb1", 3]      # angular velocity, body axes
    w: Array["nb1", 6]          # w* = psi^r + w^c
    F: Array["nb1", 6]          # gyroscopic and external forces
    base: Array[1, 6]           # acceleration of the base less gravity, base axes
    Q: Array["nx"]              # gyroscopic forces on elastic coordinates


def poses(tree, j, out):
    """r_i = r_k + G_k' rho_i, G_0i = G_i G_0k.  Reads j: JointValues.  Writes out: Poses.            [I] (2.7), (2.8)"""
    set3(out.r, 0, get3(j.rho, 0))
    set9(out.G, 0, get9(j.G, 0))
    for i in range(1, tree.carrier.shape[0]):
        k = tree.carrier[i]
        G = get9(out.G, k)
        set3(out.r, i, add(get3(out.r, k), mtv(G, get3(j.rho, i))))
        set9(out.G, i, mm(get9(j.G, i), G))


def velocities(tree, j, v):
    """v_i = C_i v_k + v^r_i, body axes.  Reads j: JointValues.  Writes v (nb1, 6).                          [I] (2.13)"""
    set33(v, 0, get3(j.vr, 0), get3b(j.vr, 0))
    for i in range(1, tree.carrier.shape[0]):
        k = tree.carrier[i]
        G = get9(j.G, i)
        u, w = get3(v, k), get3b(v, k)
        set33(v, i, add(mv(G, add(u, cross(w, get3(j.rho, i)))), get3(j.vr, i)), add(mv(G, w), get3b(j.vr, i)))


def drift_of(j, i, o):
    """w* of body i, linear and angular, and its angular velocity, from that of its carrier, o.              [I] (2.14)"""
    G = get9(j.G, i)
    ok, u, w = mv(G, o), get3(j.vr, i), get3b(j.vr, i)
    centripetal = mv(G, cross(o, cross(o, get3(j.rho, i))))
    coriolis = scale(cross(ok, u), 2.0)
    return add(add(centripetal, coriolis), get3(j.psi, i)), add(cross(ok, w), get3b(j.psi, i)), add(ok, w)


def acceleration_of(tree, j, i, acc, u, w, qdd):
    """v̇_i = C_i v̇_k + w* + A_i q̈, linear and angular, from that of the carrier in acc; u, w: the two parts of w*.  [I] (3.4)"""
    k, G = tree.carrier[i], get9(j.G, i)
    a, e = get3(acc, k), get3b(acc, k)
    a, e = add(mv(G, add(a, cross(e, get3(j.rho, i)))), u), add(mv(G, e), w)
    for c in range(tree.first[i], tree.first[i + 1]):
        a, e = add(a, scale(get3(j.A, c), qdd[c])), add(e, scale(get3b(j.A, c), qdd[c]))
    return a, e


def accelerations(tree, j, qdd, omega, acc):
    """Accelerations of all bodies in the world at given accelerations of the axes.

    Reads   j: JointValues, qdd (na,)
    Writes  omega (nb1, 3) angular velocities; acc (nb1, 6) accelerations of origins and angular ones, body axes
    """
    set33(acc, 0, get3(j.psi, 0), get3b(j.psi, 0))
    set3(omega, 0, get3b(j.vr, 0))
    for i in range(1, tree.carrier.shape[0]):
        u, w, o = drift_of(j, i, get3(omega, tree.carrier[i]))
        set3(omega, i, o)
        a, e = acceleration_of(tree, j, i, acc, u, w, qdd)
        set33(acc, i, a, e)


def drift(tree, j, wrench, out):
    """w* and F of every body: the part of the equations of motion that the state fixes.

    Gravity is carried by the base: in axes that fall freely the base accelerates upward and nothing has weight,
    so every acceleration in the algorithms below is v' = v̇ - g, and no force changes.
    Reads   j: JointValues; wrench (nb1, 6) external force and moment on each body at its origin, body axes
    Writes  out: Drift
    See     [I] (2.14), (3.3)
    """
    base_drift(tree, j, out)
    bodies_drift(tree, j, wrench, out, 1, tree.carrier.shape[0])
    elastic_drift(tree, j, out)


def base_drift(tree, j, out):
    """The part of the drift that belongs to the base."""
    g = mv(get9(j.G, 0), (tree.gravity[0], tree.gravity[1], tree.gravity[2]))
    set33(out.base, 0, sub(get3(j.psi, 0), g), get3b(j.psi, 0))
    set3(out.omega, 0, get3b(j.vr, 0))


def bodies_drift(tree, j, wrench, out, low, high):
    """The drift of bodies low .. high - 1, after that of their carriers."""
    for i in range(low, high):
        u, w, o = drift_of(j, i, get3(out.omega, tree.carrier[i]))
        set33(out.w, i, u, w)
        set3(out.omega, i, o)
        force = sub(get3(wrench, i), cross(o, cross(o, moment_of(tree, j, i))))
        torque = sub(get3b(wrench, i), cross(o, sv(inertia_of(tree, j, i), o)))
        set33(out.F, i, force, torque)


def no_drift(tree, out):
    """The drift of a system at rest, without forces and gravity.  Writes out: Drift, but for omega."""
    for i in range(tree.carrier.shape[0]):
        for c in range(6):
            out.w[i, c] = 0.0
            out.F[i, c] = 0.0
    for c in range(6):
        out.base[0, c] = 0.0
    zeros(out.Q)


def true_accelerations(tree, p, acc, out):
    """v̇ = v' + g: accelerations in the world from those less gravity, body axes.  Reads p: Poses.  Writes out (nb1, 6)."""
    g = (tree.gravity[0], tree.gravity[1], tree.gravity[2])
    for i in range(tree.carrier.shape[0]):
        set33(out, i, add(get3(acc, i), mv(get9(p.G, i), g)), get3b(acc, i))


def zeros(x):
    for a in range(x.shape[0]):
        x[a] = 0.0
