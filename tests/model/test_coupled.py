"""Coupled coordinates: one freedom less, forces mapped through, the same as projecting the uncoupled equations."""

from __future__ import annotations

import numpy as np
import pytest

import sharnir as sh
from sharnir.model.placed_joint import Coupling
from states import assert_close, random_state

COUPLINGS = {"b": ("a", -2.0, 0.3), "d": ("b", 0.5, 0.1), "f": ("c", 1.5, -0.2)}
"""Followers: of a joint before them, of a follower, of one on another branch."""


def gripper(coupled: bool = True, **options) -> sh.Model:
    m = sh.Model("gripper")
    for k, name in enumerate("ABCDEF"):
        m.add_body(name, 1.0 + 0.1 * k, (0.1, 0.2, 0.05 * k), (0.3, 0.4, 0.5, 0.01, 0.02, 0.03))
    place = sh.Pose((0.3, 0.1, -0.2), sh.Rotation.rpy(0.2, 0.3, 0.4))
    m.add_joint("a", sh.Revolute("z", **options), "ground", "A", at=place)
    m.add_joint("b", sh.Prismatic("x", **options), "A", "B", at=place, child_at=place)
    m.add_joint("c", sh.Revolute((0.6, 0.0, 0.8), **options), "B", "C", at=place)
    m.add_joint("d", sh.Screw("y", pitch=0.2, **options), "A", "D", at=place)
    m.add_joint("e", sh.Ball(), "D", "E", at=place)
    m.add_joint("f", sh.Revolute("x", **options), "F", "D", child_at=place)  # named the other way round
    for follower, (leader, ratio, offset) in COUPLINGS.items() if coupled else ():
        m.couple(follower, leader, ratio, offset)
    return m


def spread(model: sh.Model, free: sh.Model, q, v):
    """The coordinates and speeds of the uncoupled model, and the matrix G that takes speeds to its speeds."""
    q_free, G = free.neutral(), np.zeros((free.nv, model.nv))
    for joint in model.joints:
        leader, ratio, offset = joint.name, 1.0, 0.0
        while leader in COUPLINGS:
            offset += ratio * COUPLINGS[leader][2]
            ratio *= COUPLINGS[leader][1]
            leader = COUPLINGS[leader][0]
        q_free[free.q_slice(joint.name)] = ratio * q[model.q_slice(leader)] + offset
        G[free.v_slice(joint.name), model.v_slice(leader)] = ratio * np.eye(len(joint.type.v_names()))
    return q_free, G @ v, G


def test_a_followers_follower_follows_the_one_that_leads():
    joints = {j.name: j.follows for j in gripper().joints}
    assert joints["d"] == Coupling("a", -1.0, 0.25)
    m = gripper(False)
    m.couple("d", "b", 0.5, 0.1)  # said in the other order
    m.couple("b", "a", -2.0, 0.3)
    assert {j.name: j.follows for j in m.joints}["d"] == Coupling("a", -1.0, 0.25)
    assert m.q_names == ["a", "c", "e.qw", "e.qx", "e.qy", "e.qz", "f"] and m.nv == 6


@pytest.mark.parametrize("backend", ["python", "llvm"])
def test_coupled_is_the_projection_of_uncoupled(backend):
    options = {"armature": 0.2, "damping": 0.3, "stiffness": 2.0}
    model, free = gripper(**options), gripper(False, **options)
    d, plain = sh.Dynamics(model, backend=backend), sh.Dynamics(free, "composite", "python")
    s = random_state(model)
    q, v, G = spread(model, free, s.q, s.v)
    assert_close(d.poses(s.q)[1], plain.poses(q)[1], 1e-13)
    assert_close(d.body_velocities(s.q, s.v), plain.body_velocities(q, v), 1e-13)
    M = G.T @ plain.mass_matrix(q) @ G
    h = G.T @ plain.bias(q, v, 0.0, s.wrenches)
    assert_close(d.mass_matrix(s.q), M, 1e-12)
    assert_close(d.bias(s.q, s.v, 0.0, s.wrenches), h, 1e-12)
    a = np.linalg.solve(M, s.tau - h)
    assert_close(d.forward(s.q, s.v, s.tau, wrenches=s.wrenches), a, 1e-11)
    assert_close(d.inverse(s.q, s.v, a, wrenches=s.wrenches), s.tau, 1e-11)
    assert_close(d.momenta(s.q, s.v), M @ s.v, 1e-12)
    assert_close(d.jacobian(s.q, "E", (0.1, 0.2, 0.3)), plain.jacobian(q, "E", (0.1, 0.2, 0.3)) @ G, 1e-12)
    assert_close(np.array(d.energy(s.q, s.v)), np.array(plain.energy(q, v)), 1e-12)
    assert_close(d.reactions(s.q, s.v, s.tau, wrenches=s.wrenches), plain.inverse_reactions(q, v, G @ a, 0.0, s.wrenches), 1e-11)
    extended = sh.Dynamics(model, "extended")
    assert_close(extended.forward(s.q, s.v, s.tau, wrenches=s.wrenches), a, 1e-11)


def test_forces_on_a_follower_are_felt_by_its_leader():
    model, free = gripper(), gripper(False)
    for m in (model, free):
        m.add_force(sh.JointSpring("b", stiffness=3.0, rest=0.2))
        m.add_force(sh.Motor("d", torque=lambda t, x, v: x * v))
    s = random_state(model)
    q, v, G = spread(model, free, s.q, s.v)
    assert_close(sh.Dynamics(model, backend="python").bias(s.q, s.v), G.T @ sh.Dynamics(free, backend="python").bias(q, v), 1e-12)


def test_a_follower_of_a_driven_joint_is_driven():
    def chain(couple):
        m = sh.Model("driven")
        for name in "AB":
            m.add_body(name, 1.0, (0.1, 0.2, 0.3), (0.3, 0.4, 0.5))
        m.add_joint("a", sh.Revolute("z", motion=lambda t: sh.sin(t)), "ground", "A")
        drive = None if couple else (lambda t: 2.0 * sh.sin(t) + 0.1)
        m.add_joint("b", sh.Prismatic("x", motion=drive), "A", "B", at=sh.Pose((0.0, 1.0, 0.0)))
        if couple:
            m.couple("b", "a", 2.0, 0.1)
        return m

    one, other = chain(True), chain(False)
    assert one.nv == 0
    wanted = sh.Dynamics(other, backend="python").reactions(t=0.7)
    assert_close(sh.Dynamics(one, "composite", backend="python").reactions(t=0.7), wanted, 1e-12)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("b", "nobody"), "no joint 'nobody'"),
        (("e", "a"), "only joints of one axis"),
        (("a", "a"), "'a' follows itself"),
        (("b", "c"), "'b' follows another joint already"),
        (("a", "b"), "'a' leads 'b' already"),
        (("c", "a", 0.0), "ratio must be a finite number other than zero"),
    ],
)
def test_couplings_that_mean_nothing_are_refused(arguments, says):
    with pytest.raises(sh.ModelError) as found:
        gripper().couple(*arguments)
    assert says in str(found.value)


def test_methods_that_go_joint_by_joint_say_so():
    for method in ("lagrange1", "inverse-iterative-multipliers"):
        with pytest.raises(sh.MethodError, match=r"coupled coordinates \('b', 'd', 'f'\): a speed that joints share .*; choose"):
            sh.Dynamics(gripper(), method)
    assert sh.Dynamics(gripper(), backend="python").method in ("composite", "separate")


@pytest.mark.parametrize("backend", ["python", "llvm", "loops"])
@pytest.mark.parametrize("seed", range(4))
def test_separate_bodies_with_shared_speeds_are_the_extended_system(backend, seed):
    """Leaders and followers on one path, on several branches, and on the base; rotors; every joint type between them."""
    model = coupled_tree(seed)
    assert model.structure.coupled
    s, d = random_state(model, seed), sh.Dynamics(model, "separate", backend)
    wanted = sh.Dynamics(model, "extended").solve(s.q, s.v, s.tau, wrenches=s.wrenches)
    found = d.solve(s.q, s.v, s.tau, wrenches=s.wrenches)
    assert_close(found.qdd, wanted.qdd, 1e-10)
    assert_close(found.R, wanted.R, 1e-10)
    assert_close(found.vdot, wanted.vdot, 1e-10)
    states = [random_state(model, k) for k in range(9)]  # lanes, and a rest
    rows = d.forward(np.array([x.q for x in states]), np.array([x.v for x in states]), np.array([x.tau for x in states]))
    single = sh.Dynamics(model, "composite", "python")
    for x, row in zip(states, rows, strict=True):
        assert_close(row, single.forward(x.q, x.v, x.tau), 1e-10)


def coupled_tree(seed: int) -> sh.Model:
    """Random bodies on random carriers, joints of one axis and balls; eight of the axes share two speeds."""
    rng, m, names = np.random.default_rng(seed), sh.Model(f"coupled tree {seed}"), ["ground"]
    for k in range(14):
        m.add_body(
            f"body {k}", float(rng.uniform(1.0, 2.0)), rng.uniform(-0.3, 0.3, 3).tolist(), rng.uniform(0.3, 0.4, 3).tolist()
        )
        joint = (sh.Revolute("z"), sh.Prismatic("x"), sh.Ball(), sh.Revolute("y", armature=0.3), sh.Screw("x", pitch=0.1))[k % 5]
        at = sh.Pose(rng.uniform(-1.0, 1.0, 3).tolist())
        m.add_joint(f"joint {k}", joint, names[rng.integers(max(0, len(names) - 3), len(names))], f"body {k}", at=at)
        names.append(f"body {k}")
    simple = [f"joint {k}" for k in range(14) if k % 5 != 2]
    rng.shuffle(simple)
    for k, name in enumerate(simple[2:8]):
        m.couple(name, simple[k % 2], float(rng.uniform(0.5, 2.0)) * (-1) ** k, 0.1)
    return m


def test_couplings_cost_what_they_should():
    """A chain of grippers, each with a pair of fingers that mirror each other: the work grows with their number."""

    def grippers(n: int) -> sh.Model:
        m, last = sh.Model("grippers"), "ground"
        for k in range(n):
            for name in (f"hand {k}", f"left {k}", f"right {k}"):
                m.add_body(name, 1.0, (0.1, 0.2, 0.3), (0.3, 0.4, 0.5))
            m.add_joint(f"wrist {k}", sh.Revolute("z"), last, f"hand {k}", at=sh.Pose((1.0, 0.0, 0.0)))
            m.add_joint(f"l {k}", sh.Revolute("x"), f"hand {k}", f"left {k}", at=sh.Pose((0.0, 0.5, 0.0)))
            m.add_joint(f"r {k}", sh.Revolute("x"), f"hand {k}", f"right {k}", at=sh.Pose((0.0, -0.5, 0.0)))
            m.couple(f"r {k}", f"l {k}", -1.0)
            last = f"hand {k}"
        return m

    work = [sh.Dynamics(grippers(n), "separate").count().total for n in (4, 8, 16)]
    assert 1.9 < (work[2] - work[1]) / (work[1] - work[0]) < 2.1


def test_values_of_joints_without_coordinates_are_refused_with_the_reason():
    m = gripper()
    follower = next(iter(COUPLINGS))
    lead = {j.name: j.follows for j in m.joints}[follower].leader
    for give in (m.coordinates, m.speeds):
        with pytest.raises(
            sh.StateError, match=f"joint '{follower}' follows '{lead}' and has nothing of its own: give that of '{lead}'"
        ):
            give({follower: 0.1})
    m = sh.Model("driven")
    m.add_body("bar", 1.0, inertia=(1.0, 1.0, 1.0))
    m.add_joint("drive", sh.Revolute("z", motion=lambda t: t), "ground", "bar")
    with pytest.raises(sh.StateError, match="q of joint 'drive': it has none of its own, it is driven"):
        m.coordinates({"drive": 0.1})
