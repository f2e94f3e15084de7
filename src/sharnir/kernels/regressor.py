"""The regressor: joint forces of a given motion as a matrix times the numbers they are linear in."""

from .algebra import add, cross, dot, get3, get3b
from .direct import last_axis


def body_columns(tree, d, acc, B, Y):
    """tau = Y pi: in every row ten columns for each body, m, h, J_O (xx yy zz xy xz yz); zero where the axis does not move it.

    Virtual power of Newton and Euler of one body, its origin moving with u and turning with w per unit of a speed.
    Reads   d: Drift, acc (nb1, 6) accelerations less gravity, B (nb1, na, 6) the tangent basis
    Writes  Y (nv, ny): columns 10 (i - 1) .. 10 i of body i, zeros in all others
    See     docs/theory/identification.md
    """
    for s in range(Y.shape[0]):
        for c in range(Y.shape[1]):
            Y[s, c] = 0.0
    for i in range(1, tree.carrier.shape[0]):
        o, v, e, k = get3(d.omega, i), get3(acc, i), get3b(acc, i), 10 * (i - 1)
        a = last_axis(tree, i)
        while a >= 0:
            x, s = B[i, a], tree.speed[a]
            u, w = (x[0], x[1], x[2]), (x[3], x[4], x[5])
            p = cross(w, o)
            h = add(add(cross(u, e), cross(cross(u, o), o)), cross(v, w))                              # (P3)
            y = (dot(u, v), h[0], h[1], h[2],                                                          # (P2)
                 w[0]*e[0] + p[0]*o[0], w[1]*e[1] + p[1]*o[1], w[2]*e[2] + p[2]*o[2],                  # (P4)
                 w[0]*e[1] + w[1]*e[0] + p[0]*o[1] + p[1]*o[0],
                 w[0]*e[2] + w[2]*e[0] + p[0]*o[2] + p[2]*o[0],
                 w[1]*e[2] + w[2]*e[1] + p[1]*o[2] + p[2]*o[1])
            for c in range(10):
                Y[s, k + c] = Y[s, k + c] + y[c]
            a = tree.above[a]


def joint_columns(tree, v, qdd, ratio, dry, Y):
    """Three more columns for each axis: armature, viscous damping, dry friction.                                     (P5)

    Reads   v (nv,), qdd (na,); ratio (na,) turns of the axis per unit of its speed; dry (na,) the law of dry friction for a
            coefficient of one.  Writes Y (nv, ny): the last 3 na columns.
    """
    for a in range(tree.above.shape[0]):
        s, c = tree.speed[a], Y.shape[1] - 3 * (tree.above.shape[0] - a)
        square = ratio[a] * ratio[a]
        Y[s, c] = square * qdd[a]
        Y[s, c + 1] = square * v[s]
        Y[s, c + 2] = dry[a]
