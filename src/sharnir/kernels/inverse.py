"""Inverse dynamics (kinetostatics): the motion is given, every reaction is sought."""

from .algebra import add, cross, dot, get3, get3b, get9, inc33, mtv, scale, set33, sub, sv
from .flexible import elastic_momenta, elastic_rows, inertia_of, moment_of, take_elastic_forces
from .kinematics import acceleration_of


def inverse_dynamics(tree, j, d, qdd, acc, R, tau):
    """R = T'(M v' - F), tau = A'R + rotor q̈: accelerations outward, reactions inward.

    Reads   j: JointValues, d: Drift, qdd (nv,)
    Writes  acc (nb1, 6) accelerations less gravity, R (nb1, 6) reaction of joint i on body i at its origin, body axes;
            row 0: the force on the base; tau (nv,)
    See     docs/theory/forms.md, kinetostatics
    """
    set33(acc, 0, get3(d.base, 0), get3b(d.base, 0))
    set33(R, 0, (0.0, 0.0, 0.0), (0.0, 0.0, 0.0))
    for i in range(1, tree.carrier.shape[0]):                      # outward: v̇ = C v̇_k + A q̈ + w*           [I] (3.4)
        a, e = acceleration_of(tree, j, i, acc, get3(d.w, i), get3b(d.w, i), qdd)
        set33(acc, i, a, e)
        h = moment_of(tree, j, i)
        set33(R, i, sub(add(scale(a, tree.mass[i]), cross(e, h)), get3(d.F, i)),
              sub(add(sv(inertia_of(tree, j, i), e), cross(h, a)), get3b(d.F, i)))
    elastic_momenta(tree, j, qdd, R)
    for i in range(tree.carrier.shape[0] - 1, 0, -1):              # inward: each joint carries its subtree      [I] (3.3)
        f, m = get3(R, i), get3b(R, i)
        for c in range(tree.first[i], tree.first[i + 1]):
            tau[c] = dot(get3(j.A, c), f) + dot(get3b(j.A, c), m)
        G = get9(j.G, i)
        f, m = mtv(G, f), mtv(G, m)
        inc33(R, tree.carrier[i], f, add(m, cross(get3(j.rho, i), f)))
    for c in range(tree.geared.shape[0]):                          # the joint force turns the rotor too
        a = tree.geared[c]
        tau[a] = tau[a] + tree.rotor[a] * qdd[a]
    elastic_rows(tree, j, acc, qdd, tau)
    take_elastic_forces(tree, d, tau)
