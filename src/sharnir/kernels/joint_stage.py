"""The joint stage: the only place where joint types exist.

A joint is a short sequence of elementary motions, each moving the next frame relative to the one before it:

    FIXED  a constant placement
    SLIDE  a shift along z by slide·x;  TURN  a turn about z by turn·x;  SCREW  both  (x free or driven in time)
    BALL   a turn by a quaternion, speeds = angular velocity in the moved axes
    FREE   position and quaternion, speeds = velocity of the origin and angular velocity, both in the moved axes
    GIVEN  a motion computed beforehand from the user's own functions: values are read from a list

They are chained by the same rule as bodies are (J1), so that a joint of any shape leaves here as
pose, columns of A, relative velocity and the part of the relative acceleration that is free of accelerations.
"""

from typing import NamedTuple

from .algebra import (
    IDENTITY, ZERO3, add, cosines_quaternion, cosines_z, cross, get3, get3b, get9, mm, mtv, mv, neg,
    quaternion_rate, scale, set3, set9, set33, sub, transpose,
)
from .flexible import deformations
from ..dialect.arrays import Array, IntegerArray
from ..dialect.ops import cos, sin

FIXED, SLIDE, TURN, SCREW, BALL, FREE, GIVEN = 0, 1, 2, 3, 4, 5, 6
NOTHING, PLACED, MOVED = 0, 1, 2    # what a joint did before the current motion: nothing, FIXED alone, more than that


class Joints(NamedTuple):
    """The joints of a tree as sequences of motions. Joint i moves body i; joint 0 moves the base in the world."""

    start: IntegerArray["nb1+1"]    # motions of joint i: start[i] .. start[i+1]
    first: IntegerArray["nb1+1"]    # axes (columns of A, speeds) of joint i: first[i] .. first[i+1]
    reversed: IntegerArray["nb1"]   # 1 where the user named the joint the other way round
    kind: IntegerArray["nm"]        # FIXED, SLIDE, …
    q_at: IntegerArray["nm"]        # first coordinate of the motion in q, -1: none
    v_at: IntegerArray["nm"]        # first speed of the motion in v
    data_at: IntegerArray["nm"]     # row in `drive` of a driven coordinate;  GIVEN: first value in `given`
    axes: IntegerArray["nm"]        # number of speeds
    coordinates: IntegerArray["nm"] # number of coordinates
    rho: Array["nm", 3]             # FIXED: origin of the next frame
    G: Array["nm", 9]               # FIXED: cosines, this frame -> next
    turn: Array["nm"]               # TURN, SCREW: radians per unit of x
    slide: Array["nm"]              # SLIDE, SCREW: metres per unit of x
    elastic_at: IntegerArray["nfl"]    # deformations of flexible bodies: first value in `given`
    coordinate: IntegerArray["nfl+1"]  # their elastic coordinates, as in Tree


class JointValues(NamedTuple):
    """Results of the joint stage, and all that later algorithms see of joints."""

    rho: Array["nb1", 3]        # origin of body i in the carrier's axes
    G: Array["nb1", 9]          # direction cosines, carrier -> body
    A: Array["na", 6]           # columns of A, body axes
    dA: Array["nda", 6]         # their rates; no rows where they are not needed
    vr: Array["nb1", 6]         # v^r, relative velocity, body axes
    psi: Array["nb1", 6]        # psi^r, relative acceleration at zero accelerations of q
    rate: Array["nq"]           # rates of the coordinates
    moment: Array["nfl", 3]     # of deformations: first moment and moments of inertia beyond those of the undeformed body
    inertia: Array["nfl", 6]
    flow: Array["nfl", 18]      # terms of their rates: 2 dh/dt, d2h, B, k                                (F8)
    P: Array["nx", 6]           # of elastic coordinates: momentum of the body per unit of the rate
    slope: Array["nx", 10]      # dJ/de 6, g 3, c                                                         (F8)
    E: Array["nxx"]             # mass matrices of elastic coordinates, row by row


def turned(c, s, x):
    """A vector in axes turned about z by the angle with cosine c and sine s."""
    return (c*x[0] + s*x[1], c*x[1] - s*x[0], x[2])


def along_z(out, i, so_far, c, s, x, x1, x2, turn, slide):
    """SLIDE, TURN, SCREW by x after what joint i did so far; c, s: cosine and sine of the turn.  Half the work of `follow`."""
    d, d1, d2, t1, t2 = slide * x, slide * x1, slide * x2, turn * x1, turn * x2
    if so_far == NOTHING:
        set3(out.rho, i, (0.0, 0.0, d))
        set9(out.G, i, cosines_z(c, s))
    else:
        E = get9(out.G, i)
        set3(out.rho, i, add(get3(out.rho, i), scale((E[6], E[7], E[8]), d)))
        set9(out.G, i, (c*E[0] + s*E[3], c*E[1] + s*E[4], c*E[2] + s*E[5],
                        c*E[3] - s*E[0], c*E[4] - s*E[1], c*E[5] - s*E[2], E[6], E[7], E[8]))
    if so_far < MOVED:
        set33(out.vr, i, (0.0, 0.0, d1), (0.0, 0.0, t1))
        set33(out.psi, i, (0.0, 0.0, d2), (0.0, 0.0, t2))
    else:
        u, w, a, e = get3(out.vr, i), get3b(out.vr, i), get3(out.psi, i), get3b(out.psi, i)
        r2, u2, w2 = (0.0, 0.0, d), (0.0, 0.0, d1), (0.0, 0.0, t1)
        wk = turned(c, s, w)
        u = add(turned(c, s, add(u, cross(w, r2))), u2)
        a = add(turned(c, s, add(a, add(cross(e, r2), cross(w, cross(w, r2))))), scale(cross(wk, u2), 2.0))
        e = add(turned(c, s, e), cross(wk, w2))
        set33(out.vr, i, u, add(wk, w2))
        set33(out.psi, i, (a[0], a[1], a[2] + d2), (e[0], e[1], e[2] + t2))


def place(out, i, so_far, r2, E2):
    """FIXED after what joint i did so far: the same motion at another point, in other axes."""
    if so_far == NOTHING:
        set3(out.rho, i, r2)
        set9(out.G, i, E2)
    else:
        E = get9(out.G, i)
        set3(out.rho, i, add(get3(out.rho, i), mtv(E, r2)))
        set9(out.G, i, mm(E2, E))
    if so_far == MOVED:
        u, w, a, e = get3(out.vr, i), get3b(out.vr, i), get3(out.psi, i), get3b(out.psi, i)
        v = cross(w, r2)
        set33(out.vr, i, mv(E2, add(u, v)), mv(E2, w))
        set33(out.psi, i, mv(E2, add(a, add(cross(e, r2), cross(w, v)))), mv(E2, e))


def follow(out, i, so_far, r2, E2, u2, w2, a2, e2):
    """Any motion (pose r2, E2, velocity u2, w2, acceleration a2, e2) after what joint i did so far.            (J1)"""
    place(out, i, so_far, r2, E2)
    if so_far < MOVED:
        set33(out.vr, i, u2, w2)
        set33(out.psi, i, a2, e2)
    else:
        u, w, a, e = get3(out.vr, i), get3b(out.vr, i), get3(out.psi, i), get3b(out.psi, i)
        set33(out.psi, i, add(a, add(scale(cross(w, u2), 2.0), a2)), add(e, add(cross(w, w2), e2)))
        set33(out.vr, i, add(u, u2), add(w, w2))


def ball_motion(q, v, j, k, rate):
    """BALL by itself, and the rates of its quaternion."""
    w = (v[k], v[k+1], v[k+2])
    p = quaternion_rate(q[j], q[j+1], q[j+2], q[j+3], w)
    for c in range(4):
        rate[j + c] = p[c]
    return ZERO3, cosines_quaternion(q[j], q[j+1], q[j+2], q[j+3]), ZERO3, w, ZERO3, ZERO3


def free_motion(q, v, j, k, rate):
    """FREE by itself, and the rates of its position and quaternion."""
    u, w = (v[k], v[k+1], v[k+2]), (v[k+3], v[k+4], v[k+5])
    E = cosines_quaternion(q[j+3], q[j+4], q[j+5], q[j+6])
    y, p = mtv(E, u), quaternion_rate(q[j+3], q[j+4], q[j+5], q[j+6], w)
    for c in range(3):
        rate[j + c] = y[c]
    for c in range(4):
        rate[j + 3 + c] = p[c]
    return (q[j], q[j+1], q[j+2]), E, u, w, cross(w, u), ZERO3


def given_motion(given, d, j, n, rate):
    """GIVEN: read off the list, rates of its n coordinates too."""
    for c in range(n):
        rate[j + c] = given[d + 24 + c]
    return ((given[d], given[d+1], given[d+2]),
            (given[d+3], given[d+4], given[d+5], given[d+6], given[d+7], given[d+8], given[d+9], given[d+10], given[d+11]),
            (given[d+12], given[d+13], given[d+14]), (given[d+15], given[d+16], given[d+17]),
            (given[d+18], given[d+19], given[d+20]), (given[d+21], given[d+22], given[d+23]))


def own_columns(kind, n, turn, slide, given, d, A, dA, at):
    """The n columns of A of a motion by itself, and their rates, from row `at` on; `d`: where those of GIVEN stand."""
    for c in range(n):
        if dA.shape[0] > 0:
            set33(dA, at + c, ZERO3, ZERO3)
        if kind <= SCREW:
            set33(A, at, (0.0, 0.0, slide), (0.0, 0.0, turn))
        elif kind == BALL:
            set33(A, at + c, ZERO3, ZERO3)
            A[at + c, 3 + c] = 1.0
        elif kind == FREE:
            set33(A, at + c, ZERO3, ZERO3)
            A[at + c, c] = 1.0
        else:
            for k in range(6):
                A[at + c, k] = given[d + 6 * c + k]
                if dA.shape[0] > 0:
                    dA[at + c, k] = given[d + 6 * (n + c) + k]


def pass_on(A, dA, c, r, E, u, w):
    """Column c of A and its rate, seen from the far side of a motion (r, E, u, w).                              (J2)"""
    l, g = get3(A, c), get3b(A, c)
    l, g = mv(E, add(l, cross(g, r))), mv(E, g)
    set33(A, c, l, g)
    if dA.shape[0] > 0:
        dl, dg = mv(E, add(get3(dA, c), cross(get3b(dA, c), r))), mv(E, get3b(dA, c))
        set33(dA, c, add(sub(dl, cross(w, l)), cross(g, u)), sub(dg, cross(w, g)))


def joint_stage(joints, drive, given, q, v, out):
    """Pose, columns of A and their rates, v^r, psi^r of every joint, and the rates of the coordinates.

    Reads   q (nq,), v (nv,); drive (nd, 3): driven coordinates, their first and second derivatives;
            given (ng,): per motion rho 3, G 9, v 6, w 6, rates of the coordinates, A 6n, dA 6n
    Writes  out: JointValues
    See     docs/theory/joints.md; [I] (2.3)-(2.6)
    """
    joint_values(joints, drive, given, q, v, out, 0, joints.reversed.shape[0])
    deformations(joints, given, out)


def joint_values(joints, drive, given, q, v, out, low, high):
    """The joint stage for joints low .. high - 1: no joint needs another."""
    start, first, kinds, q_at, v_at, data_at = joints.start, joints.first, joints.kind, joints.q_at, joints.v_at, joints.data_at
    axes, coordinates, turns, slides = joints.axes, joints.coordinates, joints.turn, joints.slide
    A, dA, rate = out.A, out.dA, out.rate
    for i in range(low, high):
        end, so_far = first[i], NOTHING                         # columns of A so far: first[i] .. end
        if start[i] == start[i + 1] or kinds[start[i]] == FIXED:
            stand(out, i)
        for m in range(start[i], start[i + 1]):
            kind, j, k, d, n, turn, slide = kinds[m], q_at[m], v_at[m], data_at[m], axes[m], turns[m], slides[m]
            if kind == FIXED:
                r2, E2 = get3(joints.rho, m), get9(joints.G, m)
                place(out, i, so_far, r2, E2)
                for c in range(first[i], end):
                    pass_on(A, dA, c, r2, E2, ZERO3, ZERO3)
            elif kind <= SCREW:
                if j < 0:
                    x, x1, x2 = drive[d, 0], drive[d, 1], drive[d, 2]
                else:
                    x, x1, x2 = q[j], v[k], 0.0
                    rate[j] = x1
                c2, s2 = 1.0, 0.0
                if kind != SLIDE:
                    c2, s2 = cos(turn * x), sin(turn * x)
                along_z(out, i, so_far, c2, s2, x, x1, x2, turn, slide)
                for c in range(first[i], end):
                    pass_on(A, dA, c, (0.0, 0.0, slide * x), cosines_z(c2, s2), (0.0, 0.0, slide * x1), (0.0, 0.0, turn * x1))
            else:
                if kind == BALL:
                    r2, E2, u2, w2, a2, e2 = ball_motion(q, v, j, k, rate)
                elif kind == FREE:
                    r2, E2, u2, w2, a2, e2 = free_motion(q, v, j, k, rate)
                else:
                    r2, E2, u2, w2, a2, e2 = given_motion(given, d, j, coordinates[m], rate)
                follow(out, i, so_far, r2, E2, u2, w2, a2, e2)
                for c in range(first[i], end):
                    pass_on(A, dA, c, r2, E2, u2, w2)
            own_columns(kind, n, turn, slide, given, d + 24 + coordinates[m], A, dA, end)
            end += n
            if kind != FIXED:
                so_far = MOVED
            elif so_far == NOTHING:
                so_far = PLACED
        if joints.reversed[i] == 1:
            reverse(out, i, first[i], end)


def stand(out, i):
    """Joint i before its first motion."""
    set3(out.rho, i, ZERO3)
    set9(out.G, i, IDENTITY)
    set33(out.vr, i, ZERO3, ZERO3)
    set33(out.psi, i, ZERO3, ZERO3)


def reverse(out, i, first, end):
    """The same motion seen from its other end.                                                                 (J3)"""
    A, dA, r, E = out.A, out.dA, get3(out.rho, i), get9(out.G, i)
    u, w, a, e = get3(out.vr, i), get3b(out.vr, i), get3(out.psi, i), get3b(out.psi, i)
    s = mv(E, r)
    ds = sub(u, cross(w, s))                                    # d/dt of s = G rho
    for c in range(first, end):
        l, g = get3(A, c), get3b(A, c)
        x = sub(cross(g, s), l)
        set33(A, c, mtv(E, x), neg(mtv(E, g)))
        if dA.shape[0] > 0:
            dl, dg = get3(dA, c), get3b(dA, c)
            dx = sub(add(cross(dg, s), cross(g, ds)), dl)
            set33(dA, c, mtv(E, add(cross(w, x), dx)), neg(mtv(E, add(cross(w, g), dg))))
    a = sub(add(cross(e, s), scale(cross(w, u), 2.0)), add(cross(w, cross(w, s)), a))
    set33(out.psi, i, mtv(E, a), neg(mtv(E, e)))
    set33(out.vr, i, mtv(E, sub(cross(w, s), u)), neg(mtv(E, w)))
    set3(out.rho, i, neg(s))
    set9(out.G, i, transpose(E))
