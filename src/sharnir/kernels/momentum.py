"""The form in momenta: p = B'Mv and its rate, without accelerations.

Velocities from momenta need no kernel of their own: the velocity level has the matrix of the extended system, so
`separate_bodies` with w* = phi^r, no forces, the base's velocity for its acceleration and p for tau gives q̇.
"""

from .algebra import add, cross, dot, get3, get3b, get9, inc33, mtv, mv, scale, set33, sub, sv
from .flexible import elastic_momenta, elastic_rows, inertia_of, moment_of


def carried_momenta(tree, j, v, qd, L, p):
    """Lambda = T'Mv, p = A'Lambda: momentum of everything joint i carries, at its origin, body axes.

    Reads j: JointValues, v (nb1, 6), qd (na,) rates of the axes.  Writes L (nb1, 6), p (na,).
    """
    for i in range(tree.carrier.shape[0]):
        u, w, h = get3(v, i), get3b(v, i), moment_of(tree, j, i)
        set33(L, i, add(scale(u, tree.mass[i]), cross(w, h)), add(sv(inertia_of(tree, j, i), w), cross(h, u)))
    elastic_momenta(tree, j, qd, L)
    for i in range(tree.carrier.shape[0] - 1, 0, -1):
        f, n, G = get3(L, i), get3b(L, i), get9(j.G, i)
        for a in range(tree.first[i], tree.first[i + 1]):
            p[a] = dot(get3(j.A, a), f) + dot(get3b(j.A, a), n)
        f, n = mtv(G, f), mtv(G, n)
        inc33(L, tree.carrier[i], f, add(n, cross(get3(j.rho, i), f)))
    elastic_rows(tree, j, v, qd, p)


def rotor_momenta(tree, qd, p):
    """Add the momenta of rotors to p.  Reads qd (na,) rates of the axes.  Adds to p (na,)."""
    for c in range(tree.geared.shape[0]):
        a = tree.geared[c]
        p[a] = p[a] + tree.rotor[a] * qd[a]


def momentum_rates(tree, j, poses, v, L, wrench, tau, F, dp):
    """ṗ_i = tau_i + A_i'(F*_i - v_i x* Lambda_i) + Ȧ_i'Lambda_i, F* = T'(gravity and external wrenches).

    Reads j: JointValues, poses: Poses, v, L (nb1, 6), wrench (nb1, 6), tau (nv,).  Work F (nb1, 6).  Writes dp (nv,).
    """
    g = (tree.gravity[0], tree.gravity[1], tree.gravity[2])
    for i in range(tree.carrier.shape[0]):
        gi = mv(get9(poses.G, i), g)
        set33(F, i, add(get3(wrench, i), scale(gi, tree.mass[i])), add(get3b(wrench, i), cross(get3(tree.moment, i), gi)))
    for i in range(tree.carrier.shape[0] - 1, 0, -1):
        f, n, G = get3(F, i), get3b(F, i), get9(j.G, i)
        u, w, l, k = get3(v, i), get3b(v, i), get3(L, i), get3b(L, i)
        x, y = sub(f, cross(w, l)), sub(n, add(cross(w, k), cross(u, l)))
        for a in range(tree.first[i], tree.first[i + 1]):
            dp[a] = (tau[a] + dot(get3(j.A, a), x) + dot(get3b(j.A, a), y)
                     + dot(get3(j.dA, a), l) + dot(get3b(j.dA, a), k))
        f, n = mtv(G, f), mtv(G, n)
        inc33(F, tree.carrier[i], f, add(n, cross(get3(j.rho, i), f)))
