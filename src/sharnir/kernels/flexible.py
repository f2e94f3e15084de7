"""Flexible bodies: what elastic coordinates add to the equations of rigid ones.

The elastic coordinates e of a body are the axes of a row of their own, its deformation: a row that stands still in the frame of
the body (its columns of A are zero) and has no mass. What the frame carries is the undeformed body; the deformation adds

    h(e), J(e)   first moment and moments of inertia, less those of the undeformed body
    P            momentum of the body per unit of each ė, a column (linear; angular)
    E(e)         mass matrix of e

and the terms of the velocities that deformation brings. Joints that hang on a deformed place are moved by e too: those axes are
coupled to the ones here by their speeds (`fold.py`, `shared_unknowns.py`). docs/theory/flexible.md (F6)-(F9)
"""

from .algebra import add, cross, dot, get3, get3b, get6, get9, inc33, mtv, mv, scale, set3, set6, sv


def moment_of(tree, j, i):
    """First moment of row i about its origin, body axes."""
    return get3(tree.moment, i) if tree.elastic[i] < 0 else get3(j.moment, tree.elastic[i])


def inertia_of(tree, j, i):
    """Moments of inertia of row i about its origin, body axes."""
    return get6(tree.inertia, i) if tree.elastic[i] < 0 else get6(j.inertia, tree.elastic[i])


def deformations(joints, given, out):
    """The values of all deformations, computed beforehand, from the list they stand in.  Writes out: JointValues.

    Per body, from elastic_at on: h 3, J 6, 2 dh/dt 3, d2h 3, B 9, k 3; per coordinate P 6, dJ/de 6, g 3, c; E row by row.
    """
    at = 0
    for f in range(joints.elastic_at.shape[0]):
        d = joints.elastic_at[f]
        set3(out.moment, f, (given[d], given[d+1], given[d+2]))
        set6(out.inertia, f, (given[d+3], given[d+4], given[d+5], given[d+6], given[d+7], given[d+8]))
        for c in range(18):
            out.flow[f, c] = given[d + 9 + c]
        d = d + 27
        for x in range(joints.coordinate[f], joints.coordinate[f + 1]):
            for c in range(6):
                out.P[x, c] = given[d + c]
            for c in range(10):
                out.slope[x, c] = given[d + 6 + c]
            d = d + 16
        m = joints.coordinate[f + 1] - joints.coordinate[f]
        for c in range(m * m):
            out.E[at + c] = given[d + c]
        at = at + m * m


def elastic_drift(tree, j, d):
    """Share of the rates of deformation in F, and the forces on elastic coordinates that the state fixes.        (F8)

    Reads j: JointValues, d.omega.  Changes d.F.  Writes d.Q (nx,).
    """
    for f in range(tree.deformed.shape[0]):
        i = tree.deformed[f]
        o, v = get3(d.omega, i), j.flow[f]
        force = add(cross(o, (v[0], v[1], v[2])), (v[3], v[4], v[5]))
        torque = add(mv((v[6], v[7], v[8], v[9], v[10], v[11], v[12], v[13], v[14]), o), (v[15], v[16], v[17]))
        inc33(d.F, i, scale(force, -1.0), scale(torque, -1.0))
        for x in range(tree.coordinate[f], tree.coordinate[f + 1]):
            y = j.slope[x]
            d.Q[x] = 0.5 * dot(o, sv((y[0], y[1], y[2], y[3], y[4], y[5]), o)) - dot(o, (y[6], y[7], y[8])) - y[9]


def elastic_momenta(tree, j, xd, R):
    """R += P xd: what accelerations (or rates) xd (na,) of elastic coordinates do to the bodies.  Changes R (nb1, 6)."""
    for f in range(tree.deformed.shape[0]):
        i = tree.deformed[f]
        for x in range(tree.coordinate[f], tree.coordinate[f + 1]):
            s = xd[tree.first[i] + x - tree.coordinate[f]]
            inc33(R, i, scale(get3(j.P, x), s), scale(get3b(j.P, x), s))


def elastic_rows(tree, j, acc, xd, tau):
    """tau += P'acc + E xd on the elastic axes.  Reads acc (nb1, 6), xd (na,).  Changes tau (na,)."""
    for f in range(tree.deformed.shape[0]):
        i, first, m = tree.deformed[f], tree.coordinate[f], tree.coordinate[f + 1] - tree.coordinate[f]
        at, a = tree.elastic_block[f], tree.first[i]
        for x in range(m):
            s = tau[a + x] + dot(get3(j.P, first + x), get3(acc, i)) + dot(get3b(j.P, first + x), get3b(acc, i))
            for y in range(m):
                s = s + j.E[at + m*x + y] * xd[a + y]
            tau[a + x] = s


def take_elastic_forces(tree, d, tau):
    """tau -= Q on the elastic axes."""
    for f in range(tree.deformed.shape[0]):
        a = tree.first[tree.deformed[f]]
        for x in range(tree.coordinate[f], tree.coordinate[f + 1]):
            tau[a + x - tree.coordinate[f]] = tau[a + x - tree.coordinate[f]] - d.Q[x]


def add_elastic(tree, j, M):
    """Share of elastic coordinates in the inertia matrix: E, and P carried down the path to the base.  Changes M.    (F9)"""
    for f in range(tree.deformed.shape[0]):
        i, m = tree.deformed[f], tree.coordinate[f + 1] - tree.coordinate[f]
        for x in range(m):
            a = tree.first[i] + x
            for y in range(m):
                M[a, tree.first[i] + y] = M[a, tree.first[i] + y] + j.E[tree.elastic_block[f] + m*x + y]
            p, n, k = get3(j.P, tree.coordinate[f] + x), get3b(j.P, tree.coordinate[f] + x), i
            while tree.carrier[k] > 0:
                G = get9(j.G, k)
                p, n = mtv(G, p), mtv(G, n)
                n = add(n, cross(get3(j.rho, k), p))
                k = tree.carrier[k]
                for b in range(tree.first[k], tree.first[k + 1]):
                    M[a, b] = M[a, b] + dot(get3(j.A, b), p) + dot(get3b(j.A, b), n)
                    M[b, a] = M[a, b]


def elastic_energy(tree, j, velocity, v, E):
    """The part of the kinetic energy that rates of deformation bring.  Reads v (nv,).  Adds to E[0]."""
    for f in range(tree.deformed.shape[0]):
        i, first, m = tree.deformed[f], tree.coordinate[f], tree.coordinate[f + 1] - tree.coordinate[f]
        at, a = tree.elastic_block[f], tree.first[i]
        for x in range(m):
            s = dot(get3(j.P, first + x), get3(velocity, i)) + dot(get3b(j.P, first + x), get3b(velocity, i))
            for y in range(m):
                s = s + 0.5 * j.E[at + m*x + y] * v[tree.speed[a + y]]
            E[0] = E[0] + s * v[tree.speed[a + x]]


def elastic_momentum(tree, j, p, v, P):
    """The part of the total momentum that rates of deformation bring, about the world's origin.  Reads p: Poses, v (nv,).
    Adds to P (1, 6)."""
    for f in range(tree.deformed.shape[0]):
        i = tree.deformed[f]
        G, r = get9(p.G, i), get3(p.r, i)
        for x in range(tree.coordinate[f], tree.coordinate[f + 1]):
            s = v[tree.speed[tree.first[i] + x - tree.coordinate[f]]]
            l, n = mtv(G, scale(get3(j.P, x), s)), mtv(G, scale(get3b(j.P, x), s))
            inc33(P, 0, l, add(n, cross(r, l)))
