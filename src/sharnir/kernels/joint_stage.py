"""The joint stage: the only place where joint types exist.

A joint is a short sequence of elementary motions, each moving the next frame relative to the one before it:

    FIXED  a constant placement
    SLIDE  a shift along z by slide·x;  TURN  a turn about z by turn·x;  SCREW  both  (x free or driven in time)
    BALL   a turn by a quaternion, speeds = angular velocity in the moved axes
    FREE   position and quaternion, speeds = velocity of the origin and angular velocity, both in the moved axes
    GIVEN  a motion worked out beforehand from the user's own functions: values are read from a list

They are chained by the same rule as bodies are (J1), so that a joint of any shape leaves here as
pose, columns of A, relative velocity and the part of the relative acceleration that is free of accelerations.
"""

from typing import NamedTuple

from .algebra import (
    IDENTITY, ZERO3, add, cosines_quaternion, cosines_z, cross, get3, get3b, get9, mm, mtv, mv, neg,
    quaternion_rate, scale, set3, set9, set33, sub, transpose,
)
from .arrays import Array
from .ops import cos, sin

FIXED, SLIDE, TURN, SCREW, BALL, FREE, GIVEN = 0, 1, 2, 3, 4, 5, 6


class Joints(NamedTuple):
    """The joints of a tree as sequences of motions. Joint i moves body i; joint 0 moves the base in the world."""

    start: Array["nb1+1"]       # motions of joint i: start[i] .. start[i+1]
    first: Array["nb1+1"]       # axes (columns of A, speeds) of joint i: first[i] .. first[i+1]
    reversed: Array["nb1"]      # 1 where the user named the joint the other way round
    kind: Array["nm"]           # FIXED, SLIDE, …
    q_at: Array["nm"]           # first coordinate of the motion in q, -1: none
    v_at: Array["nm"]           # first speed of the motion in v
    data_at: Array["nm"]        # row in `drive` of a driven coordinate;  GIVEN: first value in `given`
    axes: Array["nm"]           # number of speeds
    coordinates: Array["nm"]    # number of coordinates
    rho: Array["nm", 3]         # FIXED: origin of the next frame
    G: Array["nm", 9]           # FIXED: cosines, this frame -> next
    turn: Array["nm"]           # TURN, SCREW: radians per unit of x
    slide: Array["nm"]          # SLIDE, SCREW: metres per unit of x


class JointValues(NamedTuple):
    """What the joint stage writes, and all that any algorithm after it knows of joints."""

    rho: Array["nb1", 3]        # origin of body i in the carrier's axes
    G: Array["nb1", 9]          # direction cosines, carrier -> body
    A: Array["nv", 6]           # columns of A, body axes
    dA: Array["nv", 6]          # their rates
    vr: Array["nb1", 6]         # v^r, relative velocity, body axes
    psi: Array["nb1", 6]        # psi^r, relative acceleration at zero accelerations of q
    rate: Array["nq"]           # rates of the coordinates


def motion(joints, m, q, v, drive, given, rate):
    """Motion m by itself: pose (r, E), velocity (u, w), acceleration (a, e) at zero accelerations of q; its rates."""
    kind, j, k = joints.kind[m], joints.q_at[m], joints.v_at[m]
    if kind == FIXED:
        return get3(joints.rho, m), get9(joints.G, m), ZERO3, ZERO3, ZERO3, ZERO3
    if kind <= SCREW:
        if j < 0:
            d = joints.data_at[m]
            x, x1, x2 = drive[d, 0], drive[d, 1], drive[d, 2]
        else:
            x, x1, x2 = q[j], v[k], 0.0
            rate[j] = x1
        turn, slide = joints.turn[m], joints.slide[m]
        E = IDENTITY
        if kind != SLIDE:
            E = cosines_z(cos(turn * x), sin(turn * x))
        return ((0.0, 0.0, slide * x), E, (0.0, 0.0, slide * x1), (0.0, 0.0, turn * x1),
                (0.0, 0.0, slide * x2), (0.0, 0.0, turn * x2))
    if kind == BALL:
        w = (v[k], v[k+1], v[k+2])
        p = quaternion_rate(q[j], q[j+1], q[j+2], q[j+3], w)
        for c in range(4):
            rate[j + c] = p[c]
        return ZERO3, cosines_quaternion(q[j], q[j+1], q[j+2], q[j+3]), ZERO3, w, ZERO3, ZERO3
    if kind == FREE:
        u, w = (v[k], v[k+1], v[k+2]), (v[k+3], v[k+4], v[k+5])
        E = cosines_quaternion(q[j+3], q[j+4], q[j+5], q[j+6])
        y, p = mtv(E, u), quaternion_rate(q[j+3], q[j+4], q[j+5], q[j+6], w)
        for c in range(3):
            rate[j + c] = y[c]
        for c in range(4):
            rate[j + 3 + c] = p[c]
        return (q[j], q[j+1], q[j+2]), E, u, w, cross(w, u), ZERO3
    d = joints.data_at[m]
    for c in range(joints.coordinates[m]):
        rate[j + c] = given[d + 24 + c]
    return ((given[d], given[d+1], given[d+2]),
            (given[d+3], given[d+4], given[d+5], given[d+6], given[d+7], given[d+8], given[d+9], given[d+10], given[d+11]),
            (given[d+12], given[d+13], given[d+14]), (given[d+15], given[d+16], given[d+17]),
            (given[d+18], given[d+19], given[d+20]), (given[d+21], given[d+22], given[d+23]))


def own_columns(joints, m, given, A, dA, at):
    """The columns of A of motion m by itself, and their rates, from row `at` on."""
    kind, n = joints.kind[m], joints.axes[m]
    for c in range(n):
        set33(A, at + c, ZERO3, ZERO3)
        set33(dA, at + c, ZERO3, ZERO3)
        if kind <= SCREW:
            set33(A, at, (0.0, 0.0, joints.slide[m]), (0.0, 0.0, joints.turn[m]))
        elif kind == BALL:
            A[at + c, 3 + c] = 1.0
        elif kind == FREE:
            A[at + c, c] = 1.0
        else:
            d = joints.data_at[m] + 24 + joints.coordinates[m] + 6 * c
            for k in range(6):
                A[at + c, k] = given[d + k]
                dA[at + c, k] = given[d + 6 * n + k]


def joint_stage(joints, drive, given, q, v, out):
    """Pose, columns of A and their rates, v^r, psi^r of every joint, and the rates of the coordinates.

    Reads   q (nq,), v (nv,); drive (nd, 3): driven coordinates, their first and second derivatives;
            given (ng,): per motion rho 3, G 9, v 6, w 6, rates of the coordinates, A 6n, dA 6n
    Writes  out: JointValues
    See     docs/theory/joints.md; [I] (2.3)-(2.6)
    """
    A, dA = out.A, out.dA
    for i in range(joints.reversed.shape[0]):
        r, E = ZERO3, IDENTITY                                  # pose reached so far
        u, w, a, e = ZERO3, ZERO3, ZERO3, ZERO3                 # velocity and acceleration, linear and angular
        end = joints.first[i]                                   # columns of A written so far: first[i] .. end
        for m in range(joints.start[i], joints.start[i + 1]):
            r2, E2, u2, w2, a2, e2 = motion(joints, m, q, v, drive, given, out.rate)
            for c in range(joints.first[i], end):               # columns so far, seen from the next frame   (J2)
                l, g = get3(A, c), get3b(A, c)
                dl, dg = mv(E2, add(get3(dA, c), cross(get3b(dA, c), r2))), mv(E2, get3b(dA, c))
                l, g = mv(E2, add(l, cross(g, r2))), mv(E2, g)
                set33(A, c, l, g)
                set33(dA, c, add(sub(dl, cross(w2, l)), cross(g, u2)), sub(dg, cross(w2, g)))
            own_columns(joints, m, given, A, dA, end)
            end += joints.axes[m]
            if m == joints.start[i]:
                r, E, u, w, a, e = r2, E2, u2, w2, a2, e2
                continue
            wk = mv(E2, w)                                      # one motion after another                   (J1)
            a = add(mv(E2, add(a, add(cross(e, r2), cross(w, cross(w, r2))))), add(scale(cross(wk, u2), 2.0), a2))
            e = add(mv(E2, e), add(cross(wk, w2), e2))
            u = add(mv(E2, add(u, cross(w, r2))), u2)
            w = add(wk, w2)
            r = add(r, mtv(E, r2))
            E = mm(E2, E)
        if joints.reversed[i] == 1:                             # the same motion seen from its other end   (J3)
            s = mv(E, r)
            ds = sub(u, cross(w, s))                            # d/dt of s = G rho
            for c in range(joints.first[i], end):
                l, g, dl, dg = get3(A, c), get3b(A, c), get3(dA, c), get3b(dA, c)
                x = sub(cross(g, s), l)
                dx = sub(add(cross(dg, s), cross(g, ds)), dl)
                set33(A, c, mtv(E, x), neg(mtv(E, g)))
                set33(dA, c, mtv(E, add(cross(w, x), dx)), neg(mtv(E, add(cross(w, g), dg))))
            a = mtv(E, sub(add(cross(e, s), scale(cross(w, u), 2.0)), add(cross(w, cross(w, s)), a)))
            u = mtv(E, sub(cross(w, s), u))
            e, w, r, E = neg(mtv(E, e)), neg(mtv(E, w)), neg(s), transpose(E)
        set3(out.rho, i, r)
        set9(out.G, i, E)
        set33(out.vr, i, u, w)
        set33(out.psi, i, a, e)
