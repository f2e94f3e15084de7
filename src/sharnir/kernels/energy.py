"""Energy, momentum and centre of mass of the whole system."""

from .algebra import add, cross, dot, get3, get3b, get9, mtv, scale, set33, sv
from .flexible import inertia_of, moment_of


def energy(tree, j, v, p, E):
    """Kinetic and potential energy.  Reads j: JointValues, v (nb1, 6) velocities, p: Poses.  Writes E (2,)."""
    kinetic, potential = 0.0, 0.0
    g = (tree.gravity[0], tree.gravity[1], tree.gravity[2])
    for i in range(1, tree.carrier.shape[0]):
        u, w, h = get3(v, i), get3b(v, i), moment_of(tree, j, i)
        kinetic = kinetic + tree.mass[i] * dot(u, u) + 2.0 * dot(u, cross(w, h)) + dot(w, sv(inertia_of(tree, j, i), w))
        potential = potential - dot(g, add(scale(get3(p.r, i), tree.mass[i]), mtv(get9(p.G, i), h)))
    E[0] = 0.5 * kinetic
    E[1] = potential


def rotor_energy(tree, v, E):
    """Rotors turn with their axes: half the rotor times the square of its speed.  Reads v (nv,).  Adds to E[0]."""
    for c in range(tree.geared.shape[0]):
        a = tree.geared[c]
        x = v[tree.speed[a]]
        E[0] = E[0] + 0.5 * tree.rotor[a] * x * x


def total_momentum(tree, j, v, p, P, centre):
    """Linear momentum and angular momentum about the world's origin, world axes; centre of mass.

    Reads j: JointValues, v (nb1, 6), p: Poses.  Writes P (1, 6), centre (1, 3).
    """
    mass = 0.0
    linear, angular, first = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    for i in range(1, tree.carrier.shape[0]):
        u, w, h, r, G = get3(v, i), get3b(v, i), moment_of(tree, j, i), get3(p.r, i), get9(p.G, i)
        l = mtv(G, add(scale(u, tree.mass[i]), cross(w, h)))
        linear = add(linear, l)
        angular = add(angular, add(mtv(G, add(sv(inertia_of(tree, j, i), w), cross(h, u))), cross(r, l)))
        first = add(first, add(scale(r, tree.mass[i]), mtv(G, h)))
        mass = mass + tree.mass[i]
    set33(P, 0, linear, angular)
    s = 1.0 / mass
    for c in range(3):
        centre[0, c] = first[c] * s
