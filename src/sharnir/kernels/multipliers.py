"""Lagrange's equations of the first kind on a tree: the multipliers eliminated from the leaves to the root, O(N).

L = Z'S M^-1 S'Z couples a joint with its carrier's joint and with its siblings. Those couplings all pass through the
mobility M_k^-1 of the common carrier, so instead of storing the blocks of L its Cholesky elimination is carried out
on the mobilities: eliminating joint i takes from N_k what joint i holds back. The cost is O(N) for any branching.

Two more kinds of rows stand beside the multipliers of a joint. A rotor of inertia r on axis a adds a force -r q̈_a, which is an
unknown with the row  sqrt(r) a+'(v̇_i - C v̇_k - w*) + x = 0,  a+ the column of A (A'A)^-1. A body whose mass matrix is singular is
lent inertia, M + sum l l', and gives it back by unknowns with the rows  l'v̇_i - y = 0.  docs/theory/solving.md (D6)
"""

from typing import NamedTuple

from .algebra import add, add6, cross, get3, get3b, get6, get9, inc33, mtv, mv, scale, set33, skew, sub, sv
from ..dialect.arrays import Array
from .cholesky import factor, substitute
from ..dialect.ops import select, sqrt


class MultiplierWork(NamedTuple):
    V: Array["nb1", 6, 6]       # Householder's vectors of A
    Z: Array["nb1", "nz", 6]    # row c: column c of the orthogonal basis, body axes; 6 - n_i rows; rotors; what was lent
    Y: Array["nb1", "nz", 6]    # row c: C_i'Z_c, the same reaction as the carrier feels it
    P: Array["nb1", 6]          # R_tau: the part of the reaction that joint forces fix
    N: Array["nb1", 6, 6]       # mobility of body i, joints below it eliminated
    b: Array["nb1", 6]          # its acceleration under known forces, joints below it eliminated
    W: Array["nb1", "nz", 6]    # row c: N_i Z_c
    D: Array["nz", "nz"]        # one block of the elimination, its rows, and vectors
    X: Array["nz", 6]
    y: Array["nz"]
    z: Array["nz"]
    carried: Array["nb1", 6]    # C_i v̇_k + w*
    acc: Array["nb1", 6]        # accelerations less gravity
    # flexible bodies: the same for their elastic coordinates
    K: Array["nge", "nge"]      # one mass matrix of size 6 + m, then its factors
    k: Array["nge"]
    Ne: Array["nx", 6]          # mobility: elastic coordinates against the body, and against each other
    Nee: Array["nxx"]
    be: Array["nx"]
    Ye: Array["na", "nz"]       # of the axes of the place where joint i hangs: what multiplier c does to its elastic coordinate
    We: Array["nx", "nz"]
    Xe: Array["nx", "nz"]
    ae: Array["nx"]             # accelerations


def dot6(X, c, Y, e):
    """Row c of X times row e of Y."""
    return X[c, 0]*Y[e, 0] + X[c, 1]*Y[e, 1] + X[c, 2]*Y[e, 2] + X[c, 3]*Y[e, 3] + X[c, 4]*Y[e, 4] + X[c, 5]*Y[e, 5]


def orthogonal_basis(tree, j, m, i):
    """Z_i, orthonormal, by Householder's reflections of the columns of A_i; full rank makes pivoting needless.  (J9)

    Reads j.A.  Writes m.Z[i] (6 - n rows), m.V[i].
    """
    n = tree.own[i, 1] - tree.own[i, 0]
    for c in range(n):                                             # columns of A, reflected by those before
        for r in range(6):
            m.X[c, r] = j.A[tree.own[i, 0] + c, r]
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
    first, n = tree.own[i, 0], tree.own[i, 1] - tree.own[i, 0]
    for c in range(n):
        for e in range(c + 1):
            m.D[c, e] = dot6(j.A, first + c, j.A, first + e)
    factor(m.D, m.y, n)
    substitute(m.D, m.z, n)


def joint_rows(tree, i):
    """Number of rows through which joint i acts on both its bodies: its multipliers and its rotors."""
    return 6 - (tree.own[i, 1] - tree.own[i, 0]) + tree.geared_of[i + 1] - tree.geared_of[i]


def lent_rows(tree, i):
    """Number of rows by which body i gives back what it was lent: they act on it alone."""
    return tree.lent_of[i + 1] - tree.lent_of[i]


def own_inertias(tree, D, i, n):
    """Add to the diagonal of a block of L what its n rows of joint i and those after them have there: rotors, lent inertias."""
    for c in range(n - tree.geared_of[i + 1] + tree.geared_of[i], n):
        D[c, c] = D[c, c] + 1.0
    for c in range(n, n + lent_rows(tree, i)):
        D[c, c] = D[c, c] - 1.0


def joint_bases(tree, j, tau, m, i):
    """Z, the same seen from the carrier (Y = C'Z), and R_tau = A (A'A)^-1 tau of joint i."""
    first, n = tree.own[i, 0], tree.own[i, 1] - tree.own[i, 0]
    orthogonal_basis(tree, j, m, i)
    for g in range(tree.geared_of[i], tree.geared_of[i + 1]):
        at, size = 6 - n + g - tree.geared_of[i], sqrt(tree.rotor[tree.geared[g]])
        for c in range(n):
            m.z[c] = size if first + c == tree.geared[g] else 0.0
        on_axes(tree, j, m, i)
        for r in range(6):
            m.Z[i, at, r] = 0.0
            for c in range(n):
                m.Z[i, at, r] = m.Z[i, at, r] + j.A[first + c, r] * m.z[c]
    G, rho, rows = get9(j.G, i), get3(j.rho, i), joint_rows(tree, i)
    for c in range(rows):
        f, t = mtv(G, get3(m.Z[i], c)), mtv(G, get3b(m.Z[i], c))
        set33(m.Y[i], c, f, add(t, cross(rho, f)))
    for c in range(lent_rows(tree, i)):
        for r in range(6):
            m.Z[i, rows + c, r] = tree.lent[tree.lent_at[tree.alike[i]] + c, r]
            m.Y[i, rows + c, r] = 0.0
    for a in range(tree.first[i], tree.first[i + 1]):
        if a < tree.own[i, 0] or a >= tree.own[i, 1]:
            for c in range(rows):
                m.Ye[a, c] = dot6(j.A, a, m.Z[i], c)
            for c in range(rows, rows + lent_rows(tree, i)):
                m.Ye[a, c] = 0.0
    for c in range(n):
        m.z[c] = tau[tree.speed[first + c]]
    on_axes(tree, j, m, i)
    for r in range(6):
        m.P[i, r] = 0.0
        for c in range(n):
            m.P[i, r] = m.P[i, r] + j.A[first + c, r] * m.z[c]


def lagrange_first_kind(tree, j, d, tau, m, qdd, R):
    """Accelerations and every reaction by the multipliers.

    Reads   j: JointValues, d: Drift, tau (nv,), tree.mobility
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
    for f in range(tree.deformed.shape[0]):
        flexible_mobility(tree, j, d, tau, m, f)
    for i in range(nb, 0, -1):                                     # inward: eliminate joint i                 (D5)
        if tree.elastic[i] >= 0:                                   # a deformation is part of its body
            continue
        joint_bases(tree, j, tau, m, i)
        n, k = joint_rows(tree, i), carrying(tree, i)
        for c in range(n + lent_rows(tree, i)):
            for r in range(6):
                m.W[i, c, r] = dot6(m.N[i], r, m.Z[i], c)
            for x in range(first_elastic(tree, i), end_elastic(tree, i)):
                m.We[x, c] = dot6(m.Ne, x, m.Z[i], c)
        push(tree, m, i, m.P, i, 1.0)
        if k > 0:
            f, t = mtv(get9(j.G, i), get3(m.P, i)), mtv(get9(j.G, i), get3b(m.P, i))
            set33(m.carried, i, f, add(t, cross(get3(j.rho, i), f)))
            push(tree, m, k, m.carried, i, -1.0)
            push_place(tree, j, m, i, k)
            eliminate(tree, d, m, i, k, n)
    set33(m.acc, 0, get3(d.base, 0), get3b(d.base, 0))
    for i in range(1, nb + 1):                                     # outward: multipliers, reactions, accelerations
        n, k, G = joint_rows(tree, i), tree.carrier[i], get9(j.G, i)
        e = get3b(m.acc, k)
        a, e = mv(G, add(get3(m.acc, k), cross(e, get3(j.rho, i)))), mv(G, e)
        set33(m.carried, i, add(a, get3(d.w, i)), add(e, get3b(d.w, i)))
        if tree.elastic[i] >= 0:
            move_deformation(tree, m, i, qdd)
            continue
        x = first_elastic(tree, carrying(tree, i))
        for c in range(tree.first[i], tree.first[i + 1]):
            if c < tree.own[i, 0] or c >= tree.own[i, 1]:
                for r in range(6):
                    m.carried[i, r] = m.carried[i, r] + j.A[c, r] * m.ae[x]
                x = x + 1
        rows = n + lent_rows(tree, i)
        for c in range(rows):
            for q in range(c + 1):
                m.D[c, q] = dot6(m.Z[i], c, m.W[i], q)
        for c in range(n):
            m.z[c] = dot6(m.Z[i], c, m.carried, i) - dot6(m.Z[i], c, m.b, i)
        for c in range(n, rows):
            m.z[c] = -dot6(m.Z[i], c, m.b, i)
        own_inertias(tree, m.D, i, n)
        factor(m.D, m.y, rows)
        substitute(m.D, m.z, rows)
        for r in range(6):
            R[i, r] = m.P[i, r]
            m.acc[i, r] = m.b[i, r]
            for c in range(n):
                R[i, r] = R[i, r] + m.Z[i, c, r] * m.z[c]
            for c in range(rows):
                m.acc[i, r] = m.acc[i, r] + m.W[i, c, r] * m.z[c]
        for x in range(first_elastic(tree, i), end_elastic(tree, i)):
            m.ae[x] = m.be[x]
            for c in range(rows):
                m.ae[x] = m.ae[x] + m.We[x, c] * m.z[c]
        for c in range(tree.own[i, 1] - tree.own[i, 0]):
            m.z[c] = dot6(j.A, tree.own[i, 0] + c, m.acc, i) - dot6(j.A, tree.own[i, 0] + c, m.carried, i)
        on_axes(tree, j, m, i)
        for c in range(tree.own[i, 1] - tree.own[i, 0]):
            qdd[tree.speed[tree.own[i, 0] + c]] = m.z[c]
    deformation_reactions(tree, j, d, m, R)


def carrying(tree, i):
    """The body that carries body i: of a deformation, the body it belongs to."""
    k = tree.carrier[i]
    return tree.carrier[k] if tree.elastic[k] >= 0 else k


def first_elastic(tree, i):
    """The first elastic coordinate of body i."""
    return tree.coordinate[tree.flexed[i]] if tree.flexed[i] >= 0 else 0


def end_elastic(tree, i):
    return tree.coordinate[tree.flexed[i] + 1] if tree.flexed[i] >= 0 else 0


def flexible_mobility(tree, j, d, tau, m, f):
    """Mobility of size 6 + m of a flexible body, its accelerations under known forces.  Writes m.N, m.Ne, m.Nee, m.b, m.be."""
    row, x0, size = tree.deformed[f], tree.coordinate[f], tree.coordinate[f + 1] - tree.coordinate[f]
    i, at, n = tree.carrier[row], tree.elastic_block[f], 6 + size
    mass, h = tree.mass[i], add(get3(tree.moment, i), get3(j.moment, f))
    J, moved = add6(get6(tree.inertia, i), get6(j.inertia, f)), skew(h)
    for r in range(n):
        for c in range(r + 1):
            m.K[r, c] = 0.0
    for r in range(3):
        m.K[r, r] = mass
        m.K[3 + r, 3 + r] = J[r]
        for c in range(3):
            m.K[3 + r, c] = moved[3*r + c]
    m.K[4, 3] = J[3]
    m.K[5, 3] = J[4]
    m.K[5, 4] = J[5]
    for x in range(size):
        for c in range(6):
            m.K[6 + x, c] = j.P[x0 + x, c]
        for y in range(x + 1):
            m.K[6 + x, 6 + y] = j.E[at + size*x + y]
    for c in range(lent_rows(tree, i)):
        e = tree.lent_at[tree.alike[i]] + c
        for r in range(6):
            for x in range(r + 1):
                m.K[r, x] = m.K[r, x] + tree.lent[e, r] * tree.lent[e, x]
    factor(m.K, m.k, n)
    for c in range(n):
        for r in range(n):
            m.k[r] = 1.0 if r == c else 0.0
        substitute(m.K, m.k, n)
        for r in range(n):
            if c < 6 and r < 6:
                m.N[i, r, c] = m.k[r]
            elif c < 6:
                m.Ne[x0 + r - 6, c] = m.k[r]
            elif r >= 6:
                m.Nee[at + size*(r - 6) + c - 6] = m.k[r]
    for r in range(6):
        m.k[r] = d.F[i, r] + d.F[row, r]
    for x in range(size):
        m.k[6 + x] = d.Q[x0 + x] + tau[tree.speed[tree.first[row] + x]]
    substitute(m.K, m.k, n)
    for r in range(6):
        m.b[i, r] = m.k[r]
    for x in range(size):
        m.be[x0 + x] = m.k[6 + x]


def push(tree, m, i, P, e, sign):
    """b_i += sign N P_e: what a known force does to a body."""
    for r in range(6):
        m.b[i, r] = m.b[i, r] + sign * dot6(m.N[i], r, P, e)
    for x in range(first_elastic(tree, i), end_elastic(tree, i)):
        m.be[x] = m.be[x] + sign * dot6(m.Ne, x, P, e)


def push_place(tree, j, m, i, k):
    """Known force P of joint i on the elastic coordinates of its carrier k, through the place where it hangs."""
    x0 = first_elastic(tree, k)
    at, size = (tree.elastic_block[tree.flexed[k]] if tree.flexed[k] >= 0 else 0), end_elastic(tree, k) - x0
    y = 0
    for a in range(tree.first[i], tree.first[i + 1]):
        if a < tree.own[i, 0] or a >= tree.own[i, 1]:
            s = dot6(j.A, a, m.P, i)
            for r in range(6):
                m.b[k, r] = m.b[k, r] - m.Ne[x0 + y, r] * s
            for x in range(size):
                m.be[x0 + x] = m.be[x0 + x] - m.Nee[at + size*x + y] * s
            y = y + 1


def eliminate(tree, d, m, i, k, n):
    """Take joint i, with n rows, and what body i was lent out of the equations of its carrier k.

    D = Z N_i Z' + Y N_k Y' = L d L';  X = L^-1 (Y N_k);  N_k -= X' d^-1 X,  b_k -= X' d^-1 L^-1 (residual)
    """
    x0, x1 = first_elastic(tree, k), end_elastic(tree, k)
    at, size = (tree.elastic_block[tree.flexed[k]] if tree.flexed[k] >= 0 else 0), x1 - x0
    place = tree.first[i] if tree.own[i, 0] > tree.first[i] else tree.own[i, 1]
    moved = tree.first[i + 1] - tree.first[i] - (tree.own[i, 1] - tree.own[i, 0])
    rows = n + lent_rows(tree, i)
    for c in range(rows):
        for r in range(6):
            m.X[c, r] = dot6(m.N[k], r, m.Y[i], c)
            for y in range(moved):
                m.X[c, r] = m.X[c, r] + m.Ne[x0 + y, r] * m.Ye[place + y, c]
        for x in range(size):
            m.Xe[x0 + x, c] = dot6(m.Ne, x0 + x, m.Y[i], c)
            for y in range(moved):
                m.Xe[x0 + x, c] = m.Xe[x0 + x, c] + m.Nee[at + size*x + y] * m.Ye[place + y, c]
    for c in range(rows):
        for q in range(c + 1):
            m.D[c, q] = dot6(m.Z[i], c, m.W[i], q) + dot6(m.Y[i], c, m.X, q)
            for y in range(moved):
                m.D[c, q] = m.D[c, q] + m.Ye[place + y, c] * m.Xe[x0 + y, q]
    for c in range(n):
        m.z[c] = dot6(m.Z[i], c, m.b, i) - dot6(m.Z[i], c, d.w, i) - dot6(m.Y[i], c, m.b, k)
        for y in range(moved):
            m.z[c] = m.z[c] - m.Ye[place + y, c] * m.be[x0 + y]
    for c in range(n, rows):
        m.z[c] = dot6(m.Z[i], c, m.b, i)
    own_inertias(tree, m.D, i, n)
    factor(m.D, m.y, rows)
    for c in range(rows):
        for q in range(c):
            m.z[c] = m.z[c] - m.D[c, q] * m.z[q]
            for r in range(6):
                m.X[c, r] = m.X[c, r] - m.D[c, q] * m.X[q, r]
            for x in range(x0, x1):
                m.Xe[x, c] = m.Xe[x, c] - m.D[c, q] * m.Xe[x, q]
    for c in range(rows):
        for r in range(6):
            x = m.X[c, r] * m.D[c, c]
            m.b[k, r] = m.b[k, r] + x * m.z[c]
            for q in range(r + 1):
                m.N[k, r, q] = m.N[k, r, q] - x * m.X[c, q]
        for x in range(size):
            s = m.Xe[x0 + x, c] * m.D[c, c]
            m.be[x0 + x] = m.be[x0 + x] + s * m.z[c]
            for r in range(6):
                m.Ne[x0 + x, r] = m.Ne[x0 + x, r] - s * m.X[c, r]
            for y in range(size):
                m.Nee[at + size*x + y] = m.Nee[at + size*x + y] - s * m.Xe[x0 + y, c]
    for r in range(6):
        for q in range(r):
            m.N[k, q, r] = m.N[k, r, q]


def move_deformation(tree, m, i, qdd):
    """Row i, the deformation of its carrier, moves with it.  Writes m.acc, and qdd of the elastic coordinates."""
    x0 = tree.coordinate[tree.elastic[i]]
    for r in range(6):
        m.acc[i, r] = m.carried[i, r]
    for a in range(tree.first[i], tree.first[i + 1]):
        qdd[tree.speed[a]] = m.ae[x0 + a - tree.first[i]]


def deformation_reactions(tree, j, d, m, R):
    """R of the rows that are deformations: what accelerates them, and all that hangs on them.  Changes R."""
    for f in range(tree.deformed.shape[0]):
        i = tree.deformed[f]
        a, e, h = get3(m.acc, i), get3b(m.acc, i), get3(j.moment, f)
        set33(R, i, sub(cross(e, h), get3(d.F, i)), sub(add(sv(get6(j.inertia, f), e), cross(h, a)), get3b(d.F, i)))
        for x in range(tree.coordinate[f], tree.coordinate[f + 1]):
            inc33(R, i, scale(get3(j.P, x), m.ae[x]), scale(get3b(j.P, x), m.ae[x]))
    for i in range(tree.carrier.shape[0] - 1, 0, -1):
        if tree.elastic[tree.carrier[i]] >= 0:
            f, n = mtv(get9(j.G, i), get3(R, i)), mtv(get9(j.G, i), get3b(R, i))
            inc33(R, tree.carrier[i], f, add(n, cross(get3(j.rho, i), f)))


def row_of(tree, i):
    """Where in the system of all multipliers the rows of joint i begin."""
    return 6 * (i - 1) - tree.first[i] + tree.geared_of[i]


def lent_row_of(tree, i):
    """Where those begin by which body i gives back what it was lent: after those of all joints, so that every pivot exists."""
    return row_of(tree, tree.carrier.shape[0]) + tree.lent_of[i]


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
        k, at, n = tree.carrier[i], row_of(tree, i), joint_rows(tree, i)
        low, lent = lent_row_of(tree, i), lent_rows(tree, i)
        for c in range(n + lent):
            for r in range(6):                                     # the reaction's effect on body i and on its carrier
                m.W[i, c, r] = dot6(tree.mobility[tree.alike[i]], r, m.Z[i], c)
                m.X[c, r] = dot6(tree.mobility[tree.alike[k]], r, m.Y[i], c) if k > 0 else 0.0
        for c in range(n):
            x[at + c] = (dot6(m.Z[i], c, d.w, i) - dot6(m.Z[i], c, m.acc, i) + dot6(m.Y[i], c, m.acc, k))
            for q in range(n):
                m.D[c, q] = dot6(m.Z[i], q, m.W[i], c) + dot6(m.Y[i], q, m.X, c)
        for c in range(lent):
            x[low + c] = -dot6(m.Z[i], n + c, m.acc, i)
            for q in range(n):
                L[at + q, low + c] = dot6(m.Z[i], q, m.W[i], n + c)
                L[low + c, at + q] = L[at + q, low + c]
            for q in range(lent):
                m.D[n + c, n + q] = dot6(m.Z[i], n + c, m.W[i], n + q)
        own_inertias(tree, m.D, i, n)
        for c in range(n):
            for q in range(n):
                L[at + c, at + q] = m.D[c, q]
        for c in range(lent):
            for q in range(lent):
                L[low + c, low + q] = m.D[n + c, n + q]
        if k > 0:
            ak, nk = row_of(tree, k), joint_rows(tree, k)
            for c in range(n):
                for q in range(nk):
                    L[at + c, ak + q] = -dot6(m.Z[k], q, m.X, c)
                    L[ak + q, at + c] = L[at + c, ak + q]
                for q in range(lent_rows(tree, k)):
                    L[at + c, lent_row_of(tree, k) + q] = -dot6(m.Z[k], nk + q, m.X, c)
                    L[lent_row_of(tree, k) + q, at + c] = L[at + c, lent_row_of(tree, k) + q]
                for s in range(k + 1, i):                          # siblings
                    if tree.carrier[s] == k:
                        bs = row_of(tree, s)
                        for q in range(joint_rows(tree, s)):
                            L[at + c, bs + q] = dot6(m.Y[s], q, m.X, c)
                            L[bs + q, at + c] = L[at + c, bs + q]


def motion_from_multipliers(tree, j, d, m, x, qdd, R):
    """R = Z lambda + R_tau, v̇ = M^-1(S'R + F), q̈ = (A'A)^-1 A'(S v̇ - w*).  Reads m after multiplier_system, x = lambda."""
    nb = tree.carrier.shape[0] - 1
    for i in range(1, nb + 1):
        at, n, low = row_of(tree, i), joint_rows(tree, i), lent_row_of(tree, i)
        for r in range(6):
            m.z[r] = 0.0
            R[i, r] = m.P[i, r]
            for c in range(n):
                m.z[r] = m.z[r] + m.Y[i, c, r] * x[at + c]
                R[i, r] = R[i, r] + m.Z[i, c, r] * x[at + c]
        for r in range(6):
            for c in range(n):
                m.acc[i, r] = m.acc[i, r] + m.W[i, c, r] * x[at + c]
            for c in range(lent_rows(tree, i)):
                m.acc[i, r] = m.acc[i, r] + m.W[i, n + c, r] * x[low + c]
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
