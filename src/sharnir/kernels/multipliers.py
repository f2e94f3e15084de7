"""Lagrange's equations of the first kind on a tree: the multipliers eliminated from the leaves to the root, O(N).

L = Z'S M^-1 S'Z couples a joint with its carrier's joint and with its siblings. Those couplings all pass through the
mobility M_k^-1 of the common carrier, so instead of storing the blocks of L its Cholesky elimination is carried out
on the mobilities: eliminating joint i takes from N_k what joint i holds back. The cost is O(N) for any branching.
"""

from typing import NamedTuple

from .algebra import add, cross, get3, get3b, get9, mtv, mv, set33
from ..dialect.arrays import Array
from .cholesky import factor, substitute
from ..dialect.ops import select, sqrt


class MultiplierWork(NamedTuple):
    V: Array["nb1", 6, 6]       # Householder's vectors of A
    Z: Array["nb1", 6, 6]       # row c: column c of the orthogonal basis, body axes; 6 - n_i rows
    Y: Array["nb1", 6, 6]       # row c: C_i'Z_c, the same reaction as the carrier feels it
    P: Array["nb1", 6]          # R_tau: the part of the reaction that joint forces fix
    N: Array["nb1", 6, 6]       # mobility of body i, joints below it eliminated
    b: Array["nb1", 6]          # its acceleration under known forces, joints below it eliminated
    W: Array["nb1", 6, 6]       # row c: N_i Z_c
    D: Array[6, 6]              # one block of the elimination, its rows, and vectors
    X: Array[6, 6]
    y: Array[6]
    z: Array[6]
    carried: Array["nb1", 6]    # C_i v̇_k + w*
    acc: Array["nb1", 6]        # accelerations less gravity


def dot6(X, c, Y, e):
    """Row c of X times row e of Y."""
    return X[c, 0]*Y[e, 0] + X[c, 1]*Y[e, 1] + X[c, 2]*Y[e, 2] + X[c, 3]*Y[e, 3] + X[c, 4]*Y[e, 4] + X[c, 5]*Y[e, 5]


def orthogonal_basis(tree, j, m, i):
    """Z_i, orthonormal, by Householder's reflections of the columns of A_i; full rank makes pivoting needless.  (J9)

    Reads j.A.  Writes m.Z[i] (6 - n rows), m.V[i].
    """
    n = tree.first[i + 1] - tree.first[i]
    for c in range(n):                                             # columns of A, reflected by those before
        for r in range(6):
            m.X[c, r] = j.A[tree.first[i] + c, r]
        for e in range(c):
            reflect(m.V[i], e, m.X, c)
        s = 0.0
        for r in range(c, 6):
            s = s + m.X[c, r] * m.X[c, r]
        s, x = sqrt(s), m.X[c, c]
        t = 1.0 / sqrt(s * (s + select(x < 0.0, -x, x)))           # scaled to |v|² = 2: a reflection is x - v (v.x)
        m.V[i, c, c] = t * (x + select(x < 0.0, -s, s))
        for r in range(c + 1, 6):
            m.V[i, c, r] = t * m.X[c, r]
    for c in range(6 - n):
        for r in range(6):
            m.Z[i, c, r] = 0.0
        m.Z[i, c, n + c] = 1.0
        for e in range(n - 1, -1, -1):
            reflect(m.V[i], e, m.Z[i], c)


def reflect(V, e, X, c):
    """Row c of X, reflected in the hyperplane of Householder's vector e, which is zero before place e."""
    s = 0.0
    for r in range(e, 6):
        s = s + V[e, r] * X[c, r]
    for r in range(e, 6):
        X[c, r] = X[c, r] - V[e, r] * s


def on_axes(tree, j, m, i):
    """m.z <- (A'A)^-1 m.z for the axes of joint i."""
    first, n = tree.first[i], tree.first[i + 1] - tree.first[i]
    for c in range(n):
        for e in range(c + 1):
            m.D[c, e] = dot6(j.A, first + c, j.A, first + e)
    factor(m.D, m.y, n)
    substitute(m.D, m.z, n)


def joint_bases(tree, j, tau, m, i):
    """Z, the same seen from the carrier (Y = C'Z), and R_tau = A (A'A)^-1 tau of joint i."""
    first, n = tree.first[i], tree.first[i + 1] - tree.first[i]
    orthogonal_basis(tree, j, m, i)
    G, rho = get9(j.G, i), get3(j.rho, i)
    for c in range(6 - n):
        f, t = mtv(G, get3(m.Z[i], c)), mtv(G, get3b(m.Z[i], c))
        set33(m.Y[i], c, f, add(t, cross(rho, f)))
    for c in range(n):
        m.z[c] = tau[first + c]
    on_axes(tree, j, m, i)
    for r in range(6):
        m.P[i, r] = 0.0
        for c in range(n):
            m.P[i, r] = m.P[i, r] + j.A[first + c, r] * m.z[c]


def lagrange_first_kind(tree, j, d, tau, m, qdd, R):
    """Accelerations and every reaction by the multipliers.

    Reads   j: JointValues, d: Drift, tau (nv,), tree.mobility (every body needs mass and inertia)
    Writes  m: MultiplierWork, qdd (nv,), R (nb1, 6)
    See     docs/theory/solving.md; [I] (3.8)-(3.10)
    """
    nb = tree.carrier.shape[0] - 1
    for i in range(1, nb + 1):
        for r in range(6):
            m.b[i, r] = 0.0
            for c in range(6):
                m.N[i, r, c] = tree.mobility[tree.alike[i], r, c]
                m.b[i, r] = m.b[i, r] + tree.mobility[tree.alike[i], r, c] * d.F[i, c]
    for i in range(nb, 0, -1):                                     # inward: eliminate joint i                 (D5)
        joint_bases(tree, j, tau, m, i)
        n, k = 6 - (tree.first[i + 1] - tree.first[i]), tree.carrier[i]
        for c in range(n):
            for r in range(6):
                m.W[i, c, r] = dot6(m.N[i], r, m.Z[i], c)
        push(m.N[i], m.b, i, m.P, i, 1.0)
        if k > 0:
            f, t = mtv(get9(j.G, i), get3(m.P, i)), mtv(get9(j.G, i), get3b(m.P, i))
            set33(m.carried, i, f, add(t, cross(get3(j.rho, i), f)))
            push(m.N[k], m.b, k, m.carried, i, -1.0)
            eliminate(d, m, i, k, n)
    set33(m.acc, 0, get3(d.base, 0), get3b(d.base, 0))
    for i in range(1, nb + 1):                                     # outward: multipliers, reactions, accelerations
        n, k, G = 6 - (tree.first[i + 1] - tree.first[i]), tree.carrier[i], get9(j.G, i)
        e = get3b(m.acc, k)
        a, e = mv(G, add(get3(m.acc, k), cross(e, get3(j.rho, i)))), mv(G, e)
        set33(m.carried, i, add(a, get3(d.w, i)), add(e, get3b(d.w, i)))
        for c in range(n):
            for q in range(c + 1):
                m.D[c, q] = dot6(m.Z[i], c, m.W[i], q)
            m.z[c] = dot6(m.Z[i], c, m.carried, i) - dot6(m.Z[i], c, m.b, i)
        factor(m.D, m.y, n)
        substitute(m.D, m.z, n)
        for r in range(6):
            R[i, r] = m.P[i, r]
            m.acc[i, r] = m.b[i, r]
            for c in range(n):
                R[i, r] = R[i, r] + m.Z[i, c, r] * m.z[c]
                m.acc[i, r] = m.acc[i, r] + m.W[i, c, r] * m.z[c]
        for c in range(6 - n):
            m.z[c] = dot6(j.A, tree.first[i] + c, m.acc, i) - dot6(j.A, tree.first[i] + c, m.carried, i)
        on_axes(tree, j, m, i)
        for c in range(6 - n):
            qdd[tree.first[i] + c] = m.z[c]


def push(N, b, i, P, e, sign):
    """b_i += sign N P_e: what a known force does to a body."""
    for r in range(6):
        b[i, r] = b[i, r] + sign * dot6(N, r, P, e)


def eliminate(d, m, i, k, n):
    """Take joint i, with n multipliers, out of the equations of its carrier k.

    D = Z N_i Z' + Y N_k Y' = L d L';  X = L^-1 (Y N_k);  N_k -= X' d^-1 X,  b_k -= X' d^-1 L^-1 (residual)
    """
    for c in range(n):
        for r in range(6):
            m.X[c, r] = dot6(m.N[k], r, m.Y[i], c)
    for c in range(n):
        for q in range(c + 1):
            m.D[c, q] = dot6(m.Z[i], c, m.W[i], q) + dot6(m.Y[i], c, m.X, q)
        m.z[c] = dot6(m.Z[i], c, m.b, i) - dot6(m.Z[i], c, d.w, i) - dot6(m.Y[i], c, m.b, k)
    factor(m.D, m.y, n)
    for c in range(n):
        for q in range(c):
            m.z[c] = m.z[c] - m.D[c, q] * m.z[q]
            for r in range(6):
                m.X[c, r] = m.X[c, r] - m.D[c, q] * m.X[q, r]
    for c in range(n):
        for r in range(6):
            x = m.X[c, r] * m.D[c, c]
            m.b[k, r] = m.b[k, r] + x * m.z[c]
            for q in range(r + 1):
                m.N[k, r, q] = m.N[k, r, q] - x * m.X[c, q]
    for r in range(6):
        for q in range(r):
            m.N[k, q, r] = m.N[k, r, q]


def multiplier_system(tree, j, d, tau, m, L, x):
    """The system of the multipliers as [I] (3.10) writes it: L lambda = x.  Writes L (nl, nl), x (nl,), m."""
    nb = tree.carrier.shape[0] - 1
    for a in range(x.shape[0]):
        for b in range(x.shape[0]):
            L[a, b] = 0.0
    for i in range(nb + 1):
        for r in range(6):
            m.b[i, r] = d.F[i, r] if i > 0 else 0.0
    for i in range(nb, 0, -1):                                     # b holds F + S'R_tau, then M^-1 of it
        joint_bases(tree, j, tau, m, i)
        f, t = mtv(get9(j.G, i), get3(m.P, i)), mtv(get9(j.G, i), get3b(m.P, i))
        t = add(t, cross(get3(j.rho, i), f))
        k = tree.carrier[i]
        for r in range(6):
            m.b[i, r] = m.b[i, r] + m.P[i, r]
        for r in range(3):
            m.b[k, r] = m.b[k, r] - f[r]
            m.b[k, 3 + r] = m.b[k, 3 + r] - t[r]
    set33(m.acc, 0, get3(d.base, 0), get3b(d.base, 0))
    for i in range(1, nb + 1):
        for r in range(6):
            m.acc[i, r] = dot6(tree.mobility[tree.alike[i]], r, m.b, i)
    for i in range(1, nb + 1):
        k, at, n = tree.carrier[i], 6 * (i - 1) - tree.first[i], 6 - (tree.first[i + 1] - tree.first[i])
        for c in range(n):
            for r in range(6):                                     # the reaction's effect on body i and on its carrier
                m.W[i, c, r] = dot6(tree.mobility[tree.alike[i]], r, m.Z[i], c)
                m.X[c, r] = dot6(tree.mobility[tree.alike[k]], r, m.Y[i], c) if k > 0 else 0.0
            x[at + c] = (dot6(m.Z[i], c, d.w, i) - dot6(m.Z[i], c, m.acc, i) + dot6(m.Y[i], c, m.acc, k))
        for c in range(n):
            for q in range(n):
                L[at + c, at + q] = dot6(m.Z[i], q, m.W[i], c) + dot6(m.Y[i], q, m.X, c)
            if k > 0:
                ak, nk = 6 * (k - 1) - tree.first[k], 6 - (tree.first[k + 1] - tree.first[k])
                for q in range(nk):
                    L[at + c, ak + q] = -dot6(m.Z[k], q, m.X, c)
                    L[ak + q, at + c] = L[at + c, ak + q]
                for s in range(k + 1, i):                          # siblings
                    if tree.carrier[s] == k:
                        bs = 6 * (s - 1) - tree.first[s]
                        for q in range(6 - (tree.first[s + 1] - tree.first[s])):
                            L[at + c, bs + q] = dot6(m.Y[s], q, m.X, c)
                            L[bs + q, at + c] = L[at + c, bs + q]


def motion_from_multipliers(tree, j, d, m, x, qdd, R):
    """R = Z lambda + R_tau, v̇ = M^-1(S'R + F), q̈ = (A'A)^-1 A'(S v̇ - w*).  Reads m after multiplier_system, x = lambda."""
    nb = tree.carrier.shape[0] - 1
    for i in range(1, nb + 1):
        at, n = 6 * (i - 1) - tree.first[i], 6 - (tree.first[i + 1] - tree.first[i])
        for r in range(6):
            m.z[r] = 0.0
            R[i, r] = m.P[i, r]
            for c in range(n):
                m.z[r] = m.z[r] + m.Y[i, c, r] * x[at + c]
                R[i, r] = R[i, r] + m.Z[i, c, r] * x[at + c]
        for r in range(6):
            for c in range(n):
                m.acc[i, r] = m.acc[i, r] + m.W[i, c, r] * x[at + c]
            if tree.carrier[i] > 0:
                for c in range(6):
                    k = tree.carrier[i]
                    m.acc[k, r] = m.acc[k, r] - tree.mobility[tree.alike[k], r, c] * m.z[c]
    for i in range(1, nb + 1):
        k, G = tree.carrier[i], get9(j.G, i)
        e = get3b(m.acc, k)
        a, e = mv(G, add(get3(m.acc, k), cross(e, get3(j.rho, i)))), mv(G, e)
        set33(m.carried, i, add(a, get3(d.w, i)), add(e, get3b(d.w, i)))
        n = tree.first[i + 1] - tree.first[i]
        for c in range(n):
            m.z[c] = dot6(j.A, tree.first[i] + c, m.acc, i) - dot6(j.A, tree.first[i] + c, m.carried, i)
        on_axes(tree, j, m, i)
        for c in range(n):
            qdd[tree.first[i] + c] = m.z[c]
