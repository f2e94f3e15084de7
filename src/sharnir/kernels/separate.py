"""The method of separate bodies (Vereshchagin 1974): one sweep inward, one outward, O(N), nothing inverted but numbers."""

from typing import NamedTuple

from .algebra import (
    add, add6, add9, congruence, congruence_sym, cross, dot, get3, get3b, get6, get9, mtv, mv, scale, set6, set9,
    set33, skew, sub, sv,
)
from .flexible import inertia_of, moment_of
from ..dialect.arrays import Array


class SeparateWork(NamedTuple):
    """Inertia and force of body i with all it carries; after elimination of joint i, as its carrier feels them."""

    M: Array["nb1", 6]          # linear-linear block, symmetric
    H: Array["nb1", 9]          # linear-angular block
    J: Array["nb1", 6]          # angular-angular block, symmetric
    p: Array["nb1", 6]          # M w* - F: the force needed to hold accelerations at zero
    U: Array["na", 6]           # M A, one column per axis
    D: Array["na"]              # 1 / (A'MA + rotor)
    u: Array["na"]              # tau - A'p
    acc: Array["nb1", 6]        # accelerations less gravity


def times(M, H, J, a, e):
    """The 6x6 inertia (M H; H' J) times an acceleration."""
    return add(sv(M, a), mv(H, e)), add(mtv(H, a), sv(J, e))


def separate_bodies(tree, j, w, F, base, tau, s, qdd):
    """Accelerations of a tree.

    Reads   j: JointValues; w, F (nb1, 6): w* and forces; base (1, 6) acceleration of the base; tau (nv,)
    Writes  s: SeparateWork, qdd (nv,)
    See     docs/theory/solving.md; [I] §4.1; [Y] (17)-(21)
    Several axes of one joint are eliminated one after another, so that no matrix is ever inverted.
    """
    fold_inward(tree, j, w, F, tau, s, 1, tree.carrier.shape[0])
    set33(s.acc, 0, get3(base, 0), get3b(base, 0))
    accelerate_outward(tree, j, w, s, qdd, 1, tree.carrier.shape[0])


def fold_inward(tree, j, w, F, tau, s, low, high):
    """Bodies high - 1 .. low folded into their carriers, after everything they carry."""
    for i in range(high - 1, low - 1, -1):                         # inward: fold body i into its carrier      (D3)
        if tree.last_child[i] == 0:
            M, H, J, Ff, Fn = by_itself(tree, j, F, i)
        else:
            M, H, J, Ff, Fn = get6(s.M, i), get9(s.H, i), get6(s.J, i), get3(s.p, i), get3b(s.p, i)
        f, n = times(M, H, J, get3(w, i), get3b(w, i))
        f, n = sub(f, Ff), sub(n, Fn)
        for a in range(tree.first[i + 1] - 1, tree.first[i] - 1, -1):
            l, g = get3(j.A, a), get3b(j.A, a)
            ul, ug = times(M, H, J, l, g)
            D = 1.0 / (dot(l, ul) + dot(g, ug) + tree.rotor[a])
            u = tau[a] - dot(l, f) - dot(g, n)
            set33(s.U, a, ul, ug)
            s.D[a] = D
            s.u[a] = u
            vl, vg = scale(ul, D), scale(ug, D)
            M, H, J = without(M, H, J, ul, ug, vl, vg)
            f, n = add(f, scale(vl, u)), add(n, scale(vg, u))
        set6(s.M, i, M)
        set9(s.H, i, H)
        set6(s.J, i, J)
        set33(s.p, i, f, n)
        k = tree.carrier[i]
        if k > 0:
            G, r = get9(j.G, i), get3(j.rho, i)
            f, n = mtv(G, f), mtv(G, n)
            M, H, J = shifted(congruence_sym(G, M), congruence(G, H), congruence_sym(G, J), r)
            if tree.last_child[k] == i:                            # the first to be folded into its carrier
                Mk, Hk, Jk, Ff, Fn = by_itself(tree, j, F, k)
            else:
                Mk, Hk, Jk, Ff, Fn = get6(s.M, k), get9(s.H, k), get6(s.J, k), get3(s.p, k), get3b(s.p, k)
            set33(s.p, k, sub(Ff, f), sub(Fn, add(n, cross(r, f))))  # holds F^A until joint k is eliminated
            set6(s.M, k, add6(Mk, M))
            set9(s.H, k, add9(Hk, H))
            set6(s.J, k, add6(Jk, J))


def accelerate_outward(tree, j, w, s, qdd, low, high):
    """Accelerations of bodies low .. high - 1, after those of their carriers."""
    for i in range(low, high):                                     # outward: accelerations                    (D4)
        k, G = tree.carrier[i], get9(j.G, i)
        e = get3b(s.acc, k)
        a, e = mv(G, add(get3(s.acc, k), cross(e, get3(j.rho, i)))), mv(G, e)
        for c in range(tree.first[i], tree.first[i + 1]):
            x = (s.u[c] - dot(get3(s.U, c), a) - dot(get3b(s.U, c), e)) * s.D[c]
            qdd[c] = x
            a, e = add(a, scale(get3(j.A, c), x)), add(e, scale(get3b(j.A, c), x))
        set33(s.acc, i, add(a, get3(w, i)), add(e, get3b(w, i)))


def without(M, H, J, ul, ug, vl, vg):
    """The inertia (M H; H' J) less u v', v being a multiple of u."""
    return ((M[0] - ul[0]*vl[0], M[1] - ul[1]*vl[1], M[2] - ul[2]*vl[2],
             M[3] - ul[0]*vl[1], M[4] - ul[0]*vl[2], M[5] - ul[1]*vl[2]),
            (H[0] - ul[0]*vg[0], H[1] - ul[0]*vg[1], H[2] - ul[0]*vg[2],
             H[3] - ul[1]*vg[0], H[4] - ul[1]*vg[1], H[5] - ul[1]*vg[2],
             H[6] - ul[2]*vg[0], H[7] - ul[2]*vg[1], H[8] - ul[2]*vg[2]),
            (J[0] - ug[0]*vg[0], J[1] - ug[1]*vg[1], J[2] - ug[2]*vg[2],
             J[3] - ug[0]*vg[1], J[4] - ug[0]*vg[2], J[5] - ug[1]*vg[2]))


def by_itself(tree, j, F, i):
    """Inertia and force of body i before anything is folded into it."""
    m, h = tree.mass[i], moment_of(tree, j, i)
    return (m, m, m, 0.0, 0.0, 0.0), skew((-h[0], -h[1], -h[2])), inertia_of(tree, j, i), get3(F, i), get3b(F, i)


def shifted(M, H, J, r):
    """The inertia (M H; H' J) felt at a point from which its origin lies at r."""
    x = cross(r, (M[0], M[3], M[4]))                               # N = H - M r~,  row by row: (r x M_j)_k
    y = cross(r, (M[3], M[1], M[5]))
    z = cross(r, (M[4], M[5], M[2]))
    N = (H[0] + x[0], H[1] + x[1], H[2] + x[2],
         H[3] + y[0], H[4] + y[1], H[5] + y[2],
         H[6] + z[0], H[7] + z[1], H[8] + z[2])
    h0, h1, h2 = cross(r, (H[0], H[3], H[6])), cross(r, (H[1], H[4], H[7])), cross(r, (H[2], H[5], H[8]))
    n0, n1, n2 = cross(r, (N[0], N[3], N[6])), cross(r, (N[1], N[4], N[7])), cross(r, (N[2], N[5], N[8]))
    return M, N, (J[0] + n0[0] + h0[0], J[1] + n1[1] + h1[1], J[2] + n2[2] + h2[2],       # J + r~N + (r~H)'
                  J[3] + n1[0] + h0[1], J[4] + n2[0] + h0[2], J[5] + n2[1] + h1[2])


def separate_reactions(tree, j, s, R):
    """R_i = M_i (C_i v̇_k) + p_i with the inertia and force left after elimination of joint i.  Writes R (nb1, 6) from row 1."""
    for i in range(1, tree.carrier.shape[0]):
        k, G = tree.carrier[i], get9(j.G, i)
        e = get3b(s.acc, k)
        a, e = mv(G, add(get3(s.acc, k), cross(e, get3(j.rho, i)))), mv(G, e)
        f, n = times(get6(s.M, i), get9(s.H, i), get6(s.J, i), a, e)
        set33(R, i, add(f, get3(s.p, i)), add(n, get3b(s.p, i)))
