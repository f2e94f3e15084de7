"""A point of one body: where it is, how it moves. Which body is data: one program serves all of them.

The body is given by the way to it: `path` (nb1,) is 1 for the body and all that carry it, 0 elsewhere. It is the last of
them, since every body comes after its carrier; with nothing but zeros behind row 0 it is the base.
"""

from .algebra import add, cross, get3, get3b, get9, mtv, sub
from ..dialect.ops import select


def last_on(path, X, out):
    """The row of a body out of those of all bodies.  Reads path (nb1,), X (nb1, n).  Writes out (n,)."""
    for c in range(out.shape[0]):
        out[c] = X[0, c]
    for i in range(1, X.shape[0]):
        for c in range(out.shape[0]):
            out[c] = select(path[i] > 0.5, X[i, c], out[c])


def point_place(r, G, point):
    """A point of a body, given in its axes, in the world."""
    return add((r[0], r[1], r[2]), turned_back(G, (point[0], point[1], point[2])))


def turned_back(G, x):
    """Turn a vector from the axes of a body to those of the world."""
    return mtv((G[0], G[1], G[2], G[3], G[4], G[5], G[6], G[7], G[8]), x)


def point_jacobian(tree, j, p, path, place, J):
    """Velocity of a point of a body and the body's angular velocity, world axes, per unit of every speed.

    Reads   j: JointValues, p: Poses, path (nb1,), place: the point in the world.  Writes J (6, na).
    """
    for i in range(1, tree.carrier.shape[0]):
        G, arm = get9(p.G, i), sub(place, get3(p.r, i))
        for a in range(tree.first[i], tree.first[i + 1]):
            w = mtv(G, get3b(j.A, a))
            u = add(mtv(G, get3(j.A, a)), cross(w, arm))
            for c in range(3):
                J[c, a] = select(path[i] > 0.5, u[c], 0.0)
                J[3 + c, a] = select(path[i] > 0.5, w[c], 0.0)


def point_velocity(v, G, point, out):
    """Velocity of a point and angular velocity, world axes.

    Reads   v (6,) of the body at its origin, body axes; G (9,); point (3,) in body axes.  Writes out (6,).
    """
    w, arm = (v[3], v[4], v[5]), (point[0], point[1], point[2])
    set6(out, turned_back(G, add((v[0], v[1], v[2]), cross(w, arm))), turned_back(G, w))


def point_acceleration(acc, omega, G, point, out):
    """Acceleration of a point, dv/dt of its velocity in the world, and angular acceleration, world axes.

    Reads   acc (6,) of the body at its origin, omega (3,), both in body axes; G (9,); point (3,) in body axes.  Writes out (6,).
    """
    e, w, arm = (acc[3], acc[4], acc[5]), (omega[0], omega[1], omega[2]), (point[0], point[1], point[2])
    a = add((acc[0], acc[1], acc[2]), add(cross(e, arm), cross(w, cross(w, arm))))
    set6(out, turned_back(G, a), turned_back(G, e))


def set6(out, x, y):
    for c in range(3):
        out[c] = x[c]
        out[3 + c] = y[c]
