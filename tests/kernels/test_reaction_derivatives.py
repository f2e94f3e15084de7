"""Derivatives of reactions and of energy, of trees and of closed systems, are those of differences."""

from __future__ import annotations

import numpy as np
import pytest
from test_constrained_derivatives import DEFINED, STEP, assert_derivatives, by_differences
from test_constraints import on_a_cone

import sharnir as sh
from loop_models import STARTS, placed
from states import assert_close, interpreted, random_axis, random_mass, random_pose, random_state


@pytest.mark.parametrize("name", DEFINED)
def test_derivatives_of_reactions_of_closed_systems_are_those_of_differences(name):
    m, q, v = placed(name, t=0.2)
    d = interpreted(m, "composite")
    tau = 0.1 * np.random.default_rng(1).normal(size=m.nv)
    found = d.reaction_derivatives(q, v, tau, 0.2)
    assert_close(found.value, d.reactions(q, v, tau, 0.2), 1e-10)
    expected = by_differences(d.reactions, d, ("q", "v", "tau"), q, v, tau, 0.2, STEP.get(name, 5e-3))
    assert_derivatives(found, expected, 2e-6 if name == "Andrews" else 1e-7, name)


def test_loads_of_equal_rods_stay_shared():
    """Two rows that are the same everywhere: λ of least norm changes with them."""
    m = sh.Model("two rods", gravity=(0, 0, -10))
    for body in ("arm", "mass"):
        m.add_body(body, mass=2.0, inertia=(0.1, 0.2, 0.3))
    m.add_joint("shoulder", sh.Ball(), "ground", "arm")
    m.add_joint("elbow", sh.Ball(), "arm", "mass", at=sh.Pose((0.4, 0.0, 0.1)))
    for name, factor in (("one", 1.0), ("two", 3.0)):
        m.add_constraint(lambda on, k=factor: k * (1.0 + on.q("elbow")[1]) * on.q("shoulder")[2], name)
    rng = np.random.default_rng(0)
    q, v = m.assemble(m.random_q(rng), rng.normal(size=m.nv))
    d, tau = interpreted(m, "composite"), rng.normal(size=m.nv)
    expected = by_differences(d.reactions, d, ("q", "v", "tau"), q, v, tau, 0.0)
    assert_derivatives(d.reaction_derivatives(q, v, tau), expected, 1e-6)


def test_derivatives_of_reactions_of_trees_are_those_of_differences():
    """A driven joint, a quaternion and a spring among them; one state and a batch."""
    rng = np.random.default_rng(2)
    m = sh.Model("tree")
    for body in ("arm", "hand", "tool"):
        m.add_body(body, **random_mass(rng))
    m.add_joint("shoulder", sh.Ball(), "ground", "arm", at=random_pose(rng))
    m.add_joint(
        "elbow", sh.Revolute(random_axis(rng), motion=lambda t: 0.3 * sh.sin(2.0 * t)), "arm", "hand", at=random_pose(rng)
    )
    m.add_joint("wrist", sh.Cylindrical("z", damping=0.3), "hand", "tool", at=random_pose(rng), child_at=random_pose(rng))
    m.add_force(sh.SpringDamper("ground", "tool", at_b=(0.1, 0.2, 0.0), stiffness=50.0, damping=2.0, length=0.3))
    s = random_state(m)
    d = sh.Dynamics(m, "composite")
    found = d.reaction_derivatives(s.q, s.v, s.tau, s.t)
    assert_close(found.value, d.reactions(s.q, s.v, s.tau, s.t), 1e-10)
    assert_derivatives(found, by_differences(d.reactions, d, ("q", "v", "tau"), s.q, s.v, s.tau, s.t), 1e-7)
    many = d.reaction_derivatives(np.array([s.q, s.q]), np.array([2.0 * s.v, s.v]), s.tau, s.t, wrt=("v",))
    assert_close(many.dv[1], found.dv, 1e-10)


def test_coordinates_that_move_with_time_alone_are_in_no_column():
    """A constraint joint in time has rates at rest, q̇ = N v + n: columns are those of N."""
    m = sh.Model("on a cone")
    m.add_body("b", mass=1.0, inertia=(0.1, 0.2, 0.3))
    m.add_joint("j", sh.ConstraintJoint(on_a_cone, start=sh.Pose((1.0, 0.0, 0.2))), "ground", "b")
    rng = np.random.default_rng(0)
    q, (v, tau), d = m.random_q(rng), rng.normal(size=(2, m.nv)), interpreted(m, "composite")
    assert d.rates(q, np.zeros(m.nv), 0.3).any()
    for ask, of in ((d.forward_derivatives, d.forward), (d.reaction_derivatives, d.reactions)):
        assert_derivatives(ask(q, v, tau, 0.3), by_differences(of, d, ("q",), q, v, tau, 0.3), 1e-8)


# --- energy -----------------------------------------------------------------------------------------------------------------
def energies(d):
    return lambda q, v, _, t: np.array(d.energy(q, v, t))


@pytest.mark.parametrize("name", ["Andrews", "car axis", "rolling disc", "governor"])
def test_derivatives_of_energy_are_those_of_differences(name):
    if name in STARTS:
        m, q, v = placed(name, t=0.2)
    else:
        m = sh.samples.governor()
        q, v = m.coordinates({"slide": 0.5}), np.random.default_rng(0).normal(size=m.nv)
    d = interpreted(m, "composite")
    found = d.energy_derivatives(q, v, 0.2)
    assert found.dq.shape == (2, m.nv)
    assert_close(found.value, d.energy(q, v, 0.2), 1e-12)
    assert_derivatives(found, by_differences(energies(d), d, ("q", "v"), q, v, 0.0, 0.2), 1e-8)


def test_kinetic_energy_has_momenta_and_potential_energy_has_the_forces_of_gravity_and_springs():
    tree = sh.samples.tree(4, seed=3)
    tree.add_force(sh.SpringDamper("ground", tree.bodies[-1].name, at_b=(0.1, 0.2, 0.0), stiffness=50.0, length=0.3))
    for model, q, v in (placed("Andrews"), (tree, *random_state(tree).motion[:2])):
        d = interpreted(model, "composite")
        found = d.energy_derivatives(q, v)
        assert_close(found.dv[0], d.momenta(q, v), 1e-12)
        assert not found.dv[1].any()
        assert_close(found.dq[1], d.bias(q, np.zeros(model.nv)), 1e-9)  # conservative forces alone, at rest


def test_a_batch_of_energies():
    m = sh.samples.governor()
    d = sh.Dynamics(m)
    q, v = np.random.default_rng(1).normal(size=(2, 9, m.nv))
    found = d.energy_derivatives(q, v, wrt="q")
    assert found.dv is None and found.dq.shape == (9, 2, m.nv)
    assert_close(found.dq[4], interpreted(m, "composite").energy_derivatives(q[4], v[4]).dq, 1e-11)
