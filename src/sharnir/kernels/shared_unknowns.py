"""Separate bodies with unknowns that several of them share: speeds of coupled joints, multipliers of closed loops; O(N).

An unknown x acts on body i by a column b, M v̇ + p + b x = R, and b'v̇ stands in the equation of x. Folding body i into its
carrier takes the column along, and the axes of the joint leave their mark on the equations of the unknowns, D x = d. At the
lowest body that carries all it acts on an unknown is eliminated as an axis is: b in place of MA, D in place of A'MA. Equations of
multipliers have a negative diagonal, and a little more of it (e, see constrained.py) makes them solvable however the rows depend
on one another: the whole system is quasi-definite, every order of elimination exists. `model/elimination.py` finds the order,
as nodes: one speed, or all rows of one constraint. docs/theory/solving.md (D7)
"""

from typing import NamedTuple

from .algebra import (
    add, add6, add9, congruence, congruence_sym, cross, dot, get3, get3b, get6, get9, inc33, mtv, mv, scale, set6, set9, set33,
    sub,
)
from .constrained import FLOOR, REFINED
from .kinematics import zeros
from .separate import by_itself, shifted, times, without
from .shared_residuals import given_right, residuals
from ..dialect.arrays import Array

NOTHING = 1e-18


class SharedWork(NamedTuple):
    """Beside SeparateWork."""

    B: Array["nsb", 6]          # columns of the unknowns that travel with body i, from column[i] on
    E: Array["nse"]             # row of axis a: A'B, what the axis and the unknowns of its body have in common
    D: Array["nsd"]             # panels: rows of a node over its own unknowns and the later ones it meets
    d: Array["nsx"]             # right-hand sides
    inverse: Array["nsx"]       # of the pivots
    size: Array["nsx"]          # of the diagonal of a multiplier, before others are eliminated
    x: Array["nsx"]             # the unknowns; of a multiplier -lambda
    more: Array["nsx"]          # what a refinement adds to them
    p: Array["nb1", 6]          # a refinement's forces, joint forces, accelerations
    u: Array["na"]
    acc: Array["nb1", 6]
    qdd: Array["na"]
    none: Array["nb1", 6]
    again: Array["nsr"]         # as long as solutions by residuals are many; not read


def shared_bodies(tree, j, d, tau, K, gamma, share, s, h, qdd, lam):
    """Accelerations of a tree whose axes share speeds and whose bodies obey K v̇ + gamma = 0.

    Reads   j: JointValues; d: Drift; tau (nv,); K (nsk,) blocks of rows, where tree.on_body and tree.on_speed say; gamma (nsm,),
            v̇ being less gravity as d.base is; share: e
    Writes  s: SeparateWork, h: SharedWork, qdd (na,) of the axes, lam (nsm,)
    See     docs/theory/solving.md (D7)-(D9)
    """
    share_out(tree, tau, K, gamma, h)
    share_out_elastic(tree, j, d.Q, h)
    fold_inward(tree, j, d.w, d.F, d.base, tau, share, s, h)
    solve_on_base(tree, h, h.x)
    inner = 0                                                      # constraints that leave at a body
    for p in range(tree.left[1]):
        inner = inner + tree.multiplier[p]
    if inner == 0:                                                 # nothing below the base changes            (L7)
        copy(h.x, h.more)
        for sweep in range(REFINED if lam.shape[0] > 0 else 0):
            unsolved(tree, share, h, tree.left[1])
            for p in range(tree.left[1], tree.left[0]):
                eliminate_right(tree, h, p)
            solve_on_base(tree, h, h.more)
            add_to(h.more, tree.unknown[tree.left[1]], h.x)
    unfold(tree, j, d.w, d.base, s, h, s.u, s.acc, qdd, h.x)
    again = h.again.shape[0]
    if inner > 0 or again > 0:
        for i in range(tree.carrier.shape[0]):
            set33(h.none, i, (0.0, 0.0, 0.0), (0.0, 0.0, 0.0))
        copy(h.x, h.more)
        for sweep in range(REFINED if inner > 0 else again):
            if again > 0:                                          # (D10)
                residuals(tree, j, d, tau, K, gamma, s, h, qdd)
            else:
                unsolved(tree, share, h, 0)
                zeros(h.u)
            respond(tree, j, s, h)
            solve_on_base(tree, h, h.more)
            unfold(tree, j, h.none, h.none, s, h, h.u, h.acc, h.qdd, h.more)
            add_up(tree, s, h, qdd)
    for p in range(tree.multiplier.shape[0]):                      # solved for with the other sign, which makes D symmetric
        if tree.multiplier[p] == 1:
            for y in range(tree.unknown[p], tree.unknown[p + 1]):
                lam[tree.number[y]] = -h.x[y]


def share_out(tree, tau, K, gamma, h):
    """Columns, rows and right-hand sides before anything is eliminated."""
    for y in range(h.B.shape[0]):
        set33(h.B, y, (0.0, 0.0, 0.0), (0.0, 0.0, 0.0))
    for y in range(h.E.shape[0]):
        h.E[y] = 0.0
    for y in range(h.D.shape[0]):
        h.D[y] = 0.0
    mass = 0.0
    for i in range(tree.mass.shape[0]):
        mass = mass + tree.mass[i]
    for x in range(h.size.shape[0]):
        h.size[x] = NOTHING / mass                                 # a row that is left out has no column
    given_right(tree, tau, gamma, h)
    for c in range(tree.on_body.shape[0]):
        p, at, k = tree.on_body[c, 0], tree.on_body[c, 2], tree.on_body[c, 3]
        for r in range(tree.unknown[p + 1] - tree.unknown[p]):
            for e in range(6):
                h.B[at + r, e] = h.B[at + r, e] + K[k + 6*r + e]
                h.size[tree.unknown[p] + r] = h.size[tree.unknown[p] + r] + K[k + 6*r + e] * K[k + 6*r + e] * (FLOOR / mass)
    for c in range(tree.on_speed.shape[0]):
        p, at, k = tree.on_speed[c, 0], tree.on_speed[c, 3], tree.on_speed[c, 5]
        for r in range(tree.unknown[p + 1] - tree.unknown[p]):
            y = at + r * tree.on_speed[c, 4]
            h.size[tree.unknown[p] + r] = h.size[tree.unknown[p] + r] + K[k + r] * K[k + r] * (FLOOR / mass)
            if tree.on_speed[c, 2] == 1:
                h.D[y] = h.D[y] + K[k + r]
            else:
                h.E[y] = h.E[y] + K[k + r]


def share_out_elastic(tree, j, Q, h):
    """Columns P and mass matrices E of elastic coordinates, and the forces on them."""
    for f in range(tree.deformed.shape[0]):
        i, first, m = tree.deformed[f], tree.coordinate[f], tree.coordinate[f + 1] - tree.coordinate[f]
        for x in range(m):
            y = tree.on_elastic[first + x]
            set33(h.B, y, add(get3(h.B, y), get3(j.P, first + x)), add(get3b(h.B, y), get3b(j.P, first + x)))
            u = tree.unknown[tree.unknown_of[tree.first[i] + x]]
            h.d[u] = h.d[u] + Q[first + x]
            for c in range(m):
                at = tree.elastic_block[f] + m*x + c
                if tree.elastic_pair[at] >= 0:
                    h.D[tree.elastic_pair[at]] = h.D[tree.elastic_pair[at]] + j.E[at]


# --- inward -------------------------------------------------------------------------------------------------------------------
def fold_inward(tree, j, w, F, base, tau, share, s, h):
    nb = tree.carrier.shape[0] - 1
    for i in range(nb, 0, -1):
        if tree.last_child[i] == 0:
            M, H, J, Ff, Fn = by_itself(tree, j, F, i)
        else:
            M, H, J, Ff, Fn = get6(s.M, i), get9(s.H, i), get6(s.J, i), get3(s.p, i), get3b(s.p, i)
        for p in range(tree.left[i + 1], tree.left[i]):            # unknowns that leave here                   (D8)
            eliminate(tree, share, h, p)
            y = first_column(tree, i, p)
            reduce_columns(tree, h, i, p, y)
            for r in range(tree.unknown[p + 1] - tree.unknown[p]):
                x = tree.unknown[p] + r
                ul, ug = get3(h.B, y + r), get3b(h.B, y + r)
                vl, vg = scale(ul, h.inverse[x]), scale(ug, h.inverse[x])
                M, H, J = without(M, H, J, ul, ug, vl, vg)
                Ff, Fn = sub(Ff, scale(vl, h.d[x])), sub(Fn, scale(vg, h.d[x]))
        wl, wg = get3(w, i), get3b(w, i)
        for z in range(tree.held_of[i], tree.held_of[i + 1]):
            m, y = tree.held[z, 0], tree.column[i] + tree.held[z, 1]
            for r in range(tree.unknown[m + 1] - tree.unknown[m]):
                x = tree.unknown[m] + r
                h.d[x] = h.d[x] - dot(get3(h.B, y + r), wl) - dot(get3b(h.B, y + r), wg)
        f, n = times(M, H, J, wl, wg)
        f, n = sub(f, Ff), sub(n, Fn)
        for a in range(tree.first[i + 1] - 1, tree.first[i] - 1, -1):
            l, g = get3(j.A, a), get3b(j.A, a)
            ul, ug = times(M, H, J, l, g)
            set33(s.U, a, ul, ug)
            if tree.unknown_of[a] >= 0:                            # its speed is shared: one more column
                join(tree, h, i, a, l, g, ul, ug)
                x = tree.unknown[tree.unknown_of[a]]
                h.d[x] = h.d[x] - dot(l, f) - dot(g, n)
            else:
                D = 1.0 / (dot(l, ul) + dot(g, ug) + tree.rotor[a])
                u = tau[tree.speed[a]] - dot(l, f) - dot(g, n)
                s.D[a] = D
                s.u[a] = u
                mark(tree, h, i, a, l, g, ul, ug, D)
                mark_right(tree, h, i, a, D * u)
                vl, vg = scale(ul, D), scale(ug, D)
                M, H, J = without(M, H, J, ul, ug, vl, vg)
                f, n = add(f, scale(vl, u)), add(n, scale(vg, u))
        set6(s.M, i, M)
        set9(s.H, i, H)
        set6(s.J, i, J)
        set33(s.p, i, f, n)
        pass_on(tree, j, base, h, i)
        k = tree.carrier[i]
        if k > 0:
            G, r = get9(j.G, i), get3(j.rho, i)
            f, n = mtv(G, f), mtv(G, n)
            M, H, J = shifted(congruence_sym(G, M), congruence(G, H), congruence_sym(G, J), r)
            if tree.last_child[k] == i:
                Mk, Hk, Jk, Ff, Fn = by_itself(tree, j, F, k)
            else:
                Mk, Hk, Jk, Ff, Fn = get6(s.M, k), get9(s.H, k), get6(s.J, k), get3(s.p, k), get3b(s.p, k)
            set33(s.p, k, sub(Ff, f), sub(Fn, add(n, cross(r, f))))
            set6(s.M, k, add6(Mk, M))
            set9(s.H, k, add9(Hk, H))
            set6(s.J, k, add6(Jk, J))
    for p in range(tree.left[1], tree.left[0]):                    # on the base: nothing else is left
        eliminate(tree, share, h, p)


def first_column(tree, i, p):
    """First column of node p, which leaves at body i: those that leave come first."""
    return tree.column[i] + tree.unknown[p] - tree.unknown[tree.left[i + 1]]


def eliminate(tree, share, h, p):
    """Node p out of the equations of the unknowns that leave later.  Reads and changes h.D, h.d.  Writes h.inverse."""
    x, n, at, width = tree.unknown[p], tree.unknown[p + 1] - tree.unknown[p], tree.panel[p], tree.width[p]
    if tree.multiplier[p] == 1:
        for r in range(n):
            h.D[at + r*width + r] = h.D[at + r*width + r] - share * h.size[x + r]
    for r in range(n):
        h.inverse[x + r] = 1.0 / h.D[at + r*width + r]
        for c in range(r + 1, n):
            g = h.D[at + r*width + c] * h.inverse[x + r]
            for e in range(c, width):
                h.D[at + c*width + e] = h.D[at + c*width + e] - g * h.D[at + r*width + e]
    first, some = tree.later_of[p], tree.later_of[p + 1] - tree.later_of[p]
    for b in range(some):
        m, cb = tree.later[first + b, 0], tree.later[first + b, 1]
        for c in range(b, some):
            o, cc = tree.later[first + c, 0], tree.later[first + c, 1]
            to = tree.pair[tree.pair_of_node[p] + b*(2*some - b + 1) // 2 + c - b]
            for k in range(tree.unknown[m + 1] - tree.unknown[m]):
                for r in range(n):
                    g = h.D[at + r*width + cb + k] * h.inverse[x + r]
                    for e in range(k if b == c else 0, tree.unknown[o + 1] - tree.unknown[o]):
                        y = to + k*tree.width[m] + e
                        h.D[y] = h.D[y] - g * h.D[at + r*width + cc + e]
                    if b == c and tree.multiplier[p] < tree.multiplier[m]:
                        h.size[tree.unknown[m] + k] = h.size[tree.unknown[m] + k] + g * h.D[at + r*width + cb + k]
    eliminate_right(tree, h, p)


def eliminate_right(tree, h, p):
    """`eliminate` for right-hand sides."""
    x, n, at, width = tree.unknown[p], tree.unknown[p + 1] - tree.unknown[p], tree.panel[p], tree.width[p]
    for r in range(n):
        g = h.d[x + r] * h.inverse[x + r]
        for c in range(r + 1, n):
            h.d[x + c] = h.d[x + c] - g * h.D[at + r*width + c]
        for z in range(tree.later_of[p], tree.later_of[p + 1]):
            m, c = tree.later[z, 0], tree.later[z, 1]
            for k in range(tree.unknown[m + 1] - tree.unknown[m]):
                h.d[tree.unknown[m] + k] = h.d[tree.unknown[m] + k] - g * h.D[at + r*width + c + k]


def reduce_columns(tree, h, i, p, y):
    """Node p, whose columns begin at y, out of the columns of those that stay with body i."""
    x, n, at, width = tree.unknown[p], tree.unknown[p + 1] - tree.unknown[p], tree.panel[p], tree.width[p]
    for r in range(n):
        for c in range(r + 1, n):
            take_off(h.B, y + c, y + r, h.D[at + r*width + c] * h.inverse[x + r])
        for z in range(tree.later_of[p], tree.later_of[p + 1]):
            m, to = tree.later[z, 0], tree.column[i] + tree.later[z, 2]
            for k in range(tree.unknown[m + 1] - tree.unknown[m]):
                take_off(h.B, to + k, y + r, h.D[at + r*width + tree.later[z, 1] + k] * h.inverse[x + r])


def take_off(B, y, z, g):
    """Column y less g times column z."""
    for e in range(6):
        B[y, e] = B[y, e] - g * B[z, e]


def row_of(tree, i, a):
    """Where row a of E would begin if it had places for the unknowns that left at body i."""
    return tree.axis_row[a] - (tree.unknown[tree.left[i]] - tree.unknown[tree.left[i + 1]])


def mark(tree, h, i, a, l, g, ul, ug, D):
    """Axis a of joint i, with D = 1/A'MA, out of columns and equations of the unknowns that stay with body i."""
    first, some, row = tree.held_of[i], tree.held_of[i + 1] - tree.held_of[i], row_of(tree, i, a)
    for b in range(some):
        m, cb = tree.held[first + b, 0], tree.held[first + b, 1]
        for k in range(tree.unknown[m + 1] - tree.unknown[m]):
            y = tree.column[i] + cb + k
            e = h.E[row + cb + k] + dot(l, get3(h.B, y)) + dot(g, get3b(h.B, y))
            h.E[row + cb + k] = e
            c = e * D
            set33(h.B, y, sub(get3(h.B, y), scale(ul, c)), sub(get3b(h.B, y), scale(ug, c)))
    for b in range(some):
        m, cb = tree.held[first + b, 0], tree.held[first + b, 1]
        for k in range(tree.unknown[m + 1] - tree.unknown[m]):
            e = h.E[row + cb + k] * D
            if tree.multiplier[m] == 1:
                h.size[tree.unknown[m] + k] = h.size[tree.unknown[m] + k] + e * h.E[row + cb + k]
            for c in range(b, some):
                o, cc = tree.held[first + c, 0], tree.held[first + c, 1]
                to = tree.pair[tree.pair_of_body[i] + b*(2*some - b + 1) // 2 + c - b] + k*tree.width[m]
                for n in range(k if b == c else 0, tree.unknown[o + 1] - tree.unknown[o]):
                    h.D[to + n] = h.D[to + n] - e * h.E[row + cc + n]


def mark_right(tree, h, i, a, q):
    """`mark` for right-hand sides; q: the acceleration of the axis by itself."""
    row = row_of(tree, i, a)
    for z in range(tree.held_of[i], tree.held_of[i + 1]):
        m = tree.held[z, 0]
        for k in range(tree.unknown[m + 1] - tree.unknown[m]):
            h.d[tree.unknown[m] + k] = h.d[tree.unknown[m] + k] - h.E[row + tree.held[z, 1] + k] * q


def join(tree, h, i, a, l, g, ul, ug):
    """Axis a of joint i becomes part of the column and the equation of its speed, which joint i shares with others."""
    first, some, s = tree.held_of[i], tree.held_of[i + 1] - tree.held_of[i], tree.unknown_of[a]
    me = 0
    for b in range(some):
        if tree.held[first + b, 0] == s:
            me = b
    for b in range(some):
        m, cb = tree.held[first + b, 0], tree.held[first + b, 1]
        lo, hi = (b if b < me else me), (me if b < me else b)
        to = tree.pair[tree.pair_of_body[i] + lo*(2*some - lo + 1) // 2 + hi - lo]
        for k in range(tree.unknown[m + 1] - tree.unknown[m]):
            y = tree.column[i] + cb + k
            e = dot(l, get3(h.B, y)) + dot(g, get3b(h.B, y))
            if b == me:
                h.D[to] = h.D[to] + e + e + dot(l, ul) + dot(g, ug) + tree.rotor[a]
            else:
                z = to + k*(tree.width[m] if b < me else 1)
                h.D[z] = h.D[z] + e
    y = tree.column[i] + tree.held[first + me, 1]
    set33(h.B, y, add(get3(h.B, y), ul), add(get3b(h.B, y), ug))


def pass_on(tree, j, base, h, i):
    """The columns that stay with body i as its carrier feels them; the motion of the base is known."""
    k, G, rho = tree.carrier[i], get9(j.G, i), get3(j.rho, i)
    for z in range(tree.held_of[i], tree.held_of[i + 1]):
        m, y = tree.held[z, 0], tree.column[i] + tree.held[z, 1]
        for r in range(tree.unknown[m + 1] - tree.unknown[m]):
            f = mtv(G, get3(h.B, y + r))
            n = add(mtv(G, get3b(h.B, y + r)), cross(rho, f))
            if k > 0:
                to = tree.column[k] + tree.held[z, 2] + r
                set33(h.B, to, add(get3(h.B, to), f), add(get3b(h.B, to), n))
            else:
                x = tree.unknown[m] + r
                h.d[x] = h.d[x] - dot(f, get3(base, 0)) - dot(n, get3b(base, 0))


# --- outward ------------------------------------------------------------------------------------------------------------------
def unfold(tree, j, w, base, s, h, u, acc, qdd, x):
    """Accelerations from the base outward, and the unknowns that leave at bodies.  Writes acc (nb1, 6), qdd (na,), x (nsx,)."""
    set33(acc, 0, get3(base, 0), get3b(base, 0))
    for i in range(1, tree.carrier.shape[0]):
        k, G = tree.carrier[i], get9(j.G, i)
        e = get3b(acc, k)
        a, e = mv(G, add(get3(acc, k), cross(e, get3(j.rho, i)))), mv(G, e)
        for c in range(tree.first[i], tree.first[i + 1]):
            if tree.unknown_of[c] >= 0:
                q = x[tree.unknown[tree.unknown_of[c]]]
            else:
                q = u[c] - dot(get3(s.U, c), a) - dot(get3b(s.U, c), e)
                row = row_of(tree, i, c)
                for z in range(tree.held_of[i], tree.held_of[i + 1]):
                    m = tree.held[z, 0]
                    for r in range(tree.unknown[m + 1] - tree.unknown[m]):
                        q = q - h.E[row + tree.held[z, 1] + r] * x[tree.unknown[m] + r]
                q = q * s.D[c]
            qdd[c] = q
            a, e = add(a, scale(get3(j.A, c), q)), add(e, scale(get3b(j.A, c), q))
        a, e = add(a, get3(w, i)), add(e, get3b(w, i))
        set33(acc, i, a, e)
        for p in range(tree.left[i] - 1, tree.left[i + 1] - 1, -1):
            solve_node(tree, h, p, first_column(tree, i, p), a, e, x)


def solve_on_base(tree, h, x):
    """The unknowns that leave at the base, the last one first.  Writes x."""
    for p in range(tree.left[0] - 1, tree.left[1] - 1, -1):
        solve_node(tree, h, p, -1, (0.0, 0.0, 0.0), (0.0, 0.0, 0.0), x)


def solve_node(tree, h, p, y, a, e, x):
    """The unknowns of node p from those that left later and from the acceleration (a, e) of the body it left at, where its
    columns begin at y; on the base it has none, y < 0.  Writes x."""
    o, n, at, width = tree.unknown[p], tree.unknown[p + 1] - tree.unknown[p], tree.panel[p], tree.width[p]
    for r in range(n - 1, -1, -1):
        v = h.d[o + r]
        if y >= 0:
            v = v - dot(get3(h.B, y + r), a) - dot(get3b(h.B, y + r), e)
        for c in range(r + 1, n):
            v = v - h.D[at + r*width + c] * x[o + c]
        for z in range(tree.later_of[p], tree.later_of[p + 1]):
            m, c = tree.later[z, 0], tree.later[z, 1]
            for k in range(tree.unknown[m + 1] - tree.unknown[m]):
                v = v - h.D[at + r*width + c + k] * x[tree.unknown[m] + k]
        x[o + r] = v * h.inverse[o + r]


# --- refinement ---------------------------------------------------------------------------------------------------------------
def unsolved(tree, share, h, first):
    """h.d from node `first` on: what e kept from being solved by the last solution, h.more."""
    for p in range(first, tree.multiplier.shape[0]):
        for x in range(tree.unknown[p], tree.unknown[p + 1]):
            if tree.multiplier[p] == 1:
                h.d[x] = -share * h.size[x] * h.more[x]
            else:
                h.d[x] = 0.0


def copy(x, y):
    for k in range(x.shape[0]):
        y[k] = x[k]


def add_to(x, first, y):
    """y += x from place `first` on."""
    for k in range(first, x.shape[0]):
        y[k] = y[k] + x[k]


def respond(tree, j, s, h):
    """Inward once more with the factors as they are, for right-hand sides h.d and joint forces h.u.  Writes h.p, h.u."""
    nb = tree.carrier.shape[0] - 1
    for i in range(nb + 1):
        set33(h.p, i, (0.0, 0.0, 0.0), (0.0, 0.0, 0.0))
    for i in range(nb, 0, -1):
        f, n = get3(h.p, i), get3b(h.p, i)
        for p in range(tree.left[i + 1], tree.left[i]):
            eliminate_right(tree, h, p)
            y = first_column(tree, i, p)
            for r in range(tree.unknown[p + 1] - tree.unknown[p]):
                x = tree.unknown[p] + r
                g = h.inverse[x] * h.d[x]
                f, n = add(f, scale(get3(h.B, y + r), g)), add(n, scale(get3b(h.B, y + r), g))
        for a in range(tree.first[i + 1] - 1, tree.first[i] - 1, -1):
            u = h.u[a] - dot(get3(j.A, a), f) - dot(get3b(j.A, a), n)
            if tree.unknown_of[a] >= 0:
                x = tree.unknown[tree.unknown_of[a]]
                h.d[x] = h.d[x] + u
            else:
                h.u[a] = u
                mark_right(tree, h, i, a, s.D[a] * u)
                f, n = add(f, scale(get3(s.U, a), s.D[a] * u)), add(n, scale(get3b(s.U, a), s.D[a] * u))
        set33(h.p, i, f, n)
        if tree.carrier[i] > 0:
            G = get9(j.G, i)
            f, n = mtv(G, f), mtv(G, n)
            inc33(h.p, tree.carrier[i], f, add(n, cross(get3(j.rho, i), f)))
    for p in range(tree.left[1], tree.left[0]):
        eliminate_right(tree, h, p)


def add_up(tree, s, h, qdd):
    for i in range(1, tree.carrier.shape[0]):
        inc33(s.acc, i, get3(h.acc, i), get3b(h.acc, i))
        inc33(s.p, i, get3(h.p, i), get3b(h.p, i))
    for a in range(qdd.shape[0]):
        qdd[a] = qdd[a] + h.qdd[a]
    add_to(h.more, 0, h.x)


def shared_reactions(tree, h, R):
    """Add the share of shared unknowns to the reactions that `separate_reactions` finds.  Changes R (nb1, 6)."""
    for i in range(1, tree.carrier.shape[0]):
        for z in range(tree.held_of[i], tree.held_of[i + 1]):
            m, y = tree.held[z, 0], tree.column[i] + tree.held[z, 1]
            for r in range(tree.unknown[m + 1] - tree.unknown[m]):
                x = h.x[tree.unknown[m] + r]
                inc33(R, i, scale(get3(h.B, y + r), x), scale(get3b(h.B, y + r), x))
