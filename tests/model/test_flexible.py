"""Flexible bodies in every form of the equations: all agree with the extended system, and the laws of mechanics hold."""

from __future__ import annotations

import numpy as np
import pytest

import sharnir as sh
from flexible_models import flexible_tree, place_on
from sharnir.forms import FORMS, kinetostatics
from sharnir.forms.momentum import momenta
from states import along, assert_close, derivative, interpreted, oracle, random_state

METHODS = ("separate", "composite", "direct", "recursive", "kosynka", "stepanenko", "lagrange1")
SEEDS = range(12)


@pytest.fixture(params=SEEDS, scope="module")
def case(request):
    model = flexible_tree(request.param)
    s = random_state(model, request.param)
    return model, s, *oracle(model, s)


def test_the_trees_mix_rigid_and_flexible_bodies_held_at_either_end():
    models = [flexible_tree(seed) for seed in SEEDS]
    flexible = [len(m.structure.deformations) for m in models]
    assert sum(flexible) > 30 and any(n < len(m.bodies) - n for m, n in zip(models, flexible, strict=True))
    assert sum(len(m.structure.held_by) for m in models) > 20
    assert {bool(m.structure.reversed[i - 1]) for m in models for i in m.structure.held_by} == {True, False}
    assert {type(j.type).__name__ for m in models for j in m.joints} >= {"Ball", "Free", "Universal", "CustomJoint", "Compound"}


def test_every_method_agrees_with_the_extended_system(case):
    model, s, _, solution = case
    for method in METHODS:
        d = interpreted(model, method)
        assert_close(d.forward(s.q, s.v, s.tau, s.t, s.wrenches), solution.qdd, 1e-9, what=method)
        assert_close(d.reactions(s.q, s.v, s.tau, s.t, s.wrenches), solution.R, 1e-9, what=f"reactions by {method}")


def test_the_reductions_of_the_extended_system_agree(case):
    _, s, m, solution = case
    for form in ("direct", "composite"):
        found = FORMS[form](m, s.tau)
        for name in ("qdd", "vdot", "R"):
            assert_close(getattr(found, name), getattr(solution, name), 1e-9, what=f"{name} by {form}")


def test_inverse_dynamics_is_the_inverse(case):
    model, s, m, solution = case
    d = interpreted(model)
    tau = d.inverse(s.q, s.v, solution.qdd, s.t, s.wrenches)
    scale = np.abs(d.mass_matrix(s.q, s.t) @ solution.qdd).max()
    assert_close(tau, s.tau, 1e-9, scale=scale)
    assert_close(tau, kinetostatics.solve(m, solution.qdd)[0], 1e-9, scale=scale)


def test_the_inertia_matrix_is_the_hessian_of_the_kinetic_energy(case):
    model, s, m, _ = case
    d = interpreted(model)
    M = d.mass_matrix(s.q, s.t)
    for method in METHODS[1:]:
        assert_close(interpreted(model, method).mass_matrix(s.q, s.t), M, 1e-11, what=method)
    assert_close(M, m.M_r, 1e-11)
    p = momenta(m)
    assert_close(interpreted(model).momenta(s.q, s.v, s.t), p, 1e-10)
    step = np.random.default_rng(1).normal(size=model.nv)

    def energy(x: float) -> float:
        return float(d.energy(s.q, s.v + x * step, s.t)[0])

    slope = (energy(1.0) - energy(-1.0)) / 2  # exact: the energy is quadratic in the speeds
    assert_close(slope, p @ step, 1e-9, scale=abs(energy(1.0)))


def test_the_power_of_all_forces_is_the_rate_of_energy():
    """At rest base, without drives: d/dt(T + V) = τ·v less what dampers take."""
    for seed in range(4):
        model = flexible_tree(seed, n=5, special=False, moving_base=False)
        s = random_state(model, seed)
        d = interpreted(model)
        a = d.forward(s.q, s.v, s.tau, s.t)
        rates = sh.matrices(model, s.q, s.v, s.t).q_rate
        moved = along(s, rates, a)
        total = derivative(lambda x: np.sum(d.energy(*moved(x)[:2])), 1e-3)  # noqa: B023
        taken = sum(
            float(s.v[model.v_slice(row)] @ damping @ s.v[model.v_slice(row)])
            for row, damping in ((model.parts.deformations[model.bodies[k.body - 1].name], k.shapes.damping)
                                 for k in model.structure.deformations.values())
        )  # fmt: skip
        scale = np.abs(s.tau * s.v).sum() + taken
        assert_close(total, s.tau @ s.v - taken, 1e-6, scale=scale)


def test_momentum_changes_by_external_forces_alone():
    """A free flexible tree in weightlessness keeps its momentum and its angular momentum, whatever acts inside."""
    rng = np.random.default_rng(5)
    m = sh.Model(gravity=(0.0, 0.0, 0.0))
    beam = sh.FlexibleBeam(length=1.0, E=2e8, G=8e7, density=3000.0, section=sh.Rectangle(0.04, 0.03), modes=5, ends="pinned")
    m.add_body("a", flexible=beam)
    m.add_floating("a")
    m.add_body("b", flexible=beam)
    m.add_joint("hinge", sh.Universal(), "a", "b", at=sh.Pose((1.0, 0.0, 0.01)), child_at=sh.Pose((0.4, 0.0, 0.0)))
    m.add_body("c", mass=1.0, inertia=(0.1, 0.2, 0.25))
    m.add_joint("ball", sh.Ball(), "b", "c", at=sh.Pose((1.0, 0.0, 0.0)))
    m.add_force(sh.SpringDamper("a", "c", at_a=(0.5, 0.0, 0.0), at_b=(0.1, 0.0, 0.0), stiffness=300.0, damping=2.0, length=0.4))
    m.add_force(sh.Bushing("a", "b", at_a=sh.Pose((0.7, 0.0, 0.0)), at_b=sh.Pose((0.9, 0.0, 0.0)), stiffness=50.0, damping=1.0))
    d, q, v = interpreted(m), m.random_q(rng), rng.normal(size=m.nv)
    a = d.forward(q, v)
    rates = sh.matrices(m, q, v).q_rate
    change = derivative(lambda x: d.total_momentum(q + x * rates, v + x * a)[0], 1e-3)
    size = np.abs(d.mass_matrix(q) @ a).max()
    assert np.abs(change).max() < 1e-8 * size


def test_compiled_code_agrees_with_the_interpreted_kernels():
    """Straight lines, loops, lanes of states."""
    model = flexible_tree(3, n=4)
    states = [random_state(model, k) for k in range(9)]
    q, v, tau = (np.array([getattr(s, name) for s in states]) for name in ("q", "v", "tau"))
    expected = np.array([interpreted(model).forward(*x, 0.3) for x in zip(q, v, tau, strict=True)])
    for method, backend in (("separate", "llvm"), ("separate", "loops"), ("lagrange1", "loops"), ("composite", "llvm")):
        d = sh.Dynamics(model, method, backend=backend)
        assert_close(d.forward(q, v, tau, 0.3), expected, 1e-9, what=f"{method} on {backend}")
        assert_close(d.forward(q[0], v[0], tau[0], 0.3), expected[0], 1e-9, what=f"{method} on {backend}, one state")


@pytest.mark.parametrize("seed", [1, 6, 7, 8])  # draws of which no row depends on others
def test_closed_loops_agree_with_the_extended_system(seed):
    """Cut joints between places of flexible bodies, in positions that need not be closed: rows count, not gaps."""
    rng = np.random.default_rng((seed, 11))
    model = flexible_tree(seed, n=5, special=False)
    solid = [x for x in model.parts.bodies if x.mass]
    for k in range(2):
        a, b = (solid[i] for i in rng.choice(len(solid), 2, replace=False))
        ends = [sh.Pose(place_on(x.flexible, rng).position) for x in (a, b)]
        model.add_joint(f"closing{k}", sh.Ball(), a.name, b.name, at=ends[0], child_at=ends[1], cut=True)
    s = random_state(model, seed)
    expected = sh.Dynamics(model, "extended").forward(s.q, s.v, s.tau, s.t, s.wrenches)
    for method in ("composite", "recursive", "separate", "maggi"):
        backend = "auto" if method == "maggi" else "python"
        found = sh.Dynamics(model, method, backend=backend).forward(s.q, s.v, s.tau, s.t, s.wrenches)
        assert_close(found, expected, 1e-9, what=method)


def test_derivatives_are_those_of_differences():
    model = flexible_tree(2, n=3, special=False)
    s = random_state(model, 2)
    d = sh.Dynamics(model, "composite")
    found = d.forward_derivatives(s.q, s.v, s.tau, s.t)
    rng = np.random.default_rng(3)
    dq, dv = rng.normal(size=(2, model.nv))
    along_q = derivative(lambda x: d.forward(model.integrate(s.q, x * dq), s.v, s.tau, s.t), 1e-3)
    along_v = derivative(lambda x: d.forward(s.q, s.v + x * dv, s.tau, s.t), 1e-3)
    assert_close(found.dq @ dq, along_q, 1e-6)
    assert_close(found.dv @ dv, along_v, 1e-7)


def test_a_body_without_modes_is_the_rigid_body_to_the_last_bit():
    def build(flexible: bool) -> sh.Model:
        m = sh.Model()
        beam = sh.FlexibleBeam(length=0.5, E=7e10, G=2.6e10, density=2700.0, section=sh.Circle(0.02), modes=0)
        if flexible:
            m.add_body("arm", flexible=beam)
        else:
            m.add_body("arm", mass=beam.mass, com=beam.com, inertia=beam.inertia)
        m.add_joint("a", sh.Ball(), "ground", "arm")
        m.add_body("fore", mass=1.0, com=(0.1, 0.0, 0.0), inertia=(0.01, 0.02, 0.02))
        m.add_joint("b", sh.Revolute("y"), "arm", "fore", at=sh.Pose((0.5, 0.0, 0.0)))
        return m

    rigid, flexible = build(False), build(True)
    q, v = rigid.random_q(1), np.arange(1.0, 5.0)
    assert flexible.v_names == rigid.v_names
    for method in METHODS:
        a, b = (interpreted(m, method).forward(q, v) for m in (rigid, flexible))
        assert np.array_equal(a, b)


def test_mass_matrices_stay_positive_definite_where_truncated_ones_do_not():
    """docs/theory/flexible.md: kinetic energy cut off at second order in (e, ė) is indefinite at a hundredth of the length."""
    beam = sh.FlexibleBeam(
        length=1.0, E=7e10, G=2.6e10, density=2700.0, section=sh.Rectangle(0.02, 0.01), modes={"bend_z": 3, "stretch": 1}
    )
    m = sh.Model()
    m.add_body("beam", flexible=beam)
    m.add_floating("beam")
    d, q = interpreted(m), m.neutral()

    def least(M: np.ndarray) -> float:
        size = 1.0 / np.sqrt(np.diag(M))
        return float(np.linalg.eigvalsh(M * size[:, None] * size)[0])

    for deflection in (0.01, 0.1, 0.5):
        q[m.q_slice("beam elastic")] = deflection, 0.0, 0.0, 0.0
        assert least(d.mass_matrix(q)) > 0.0
    q[m.q_slice("beam elastic")] = 0.01, 0.0, 0.0, 0.0
    M, I = d.mass_matrix(q), beam.rooted((0.0, 0.0, 0.0)).integrals
    M[6:, 6:] = I.mass_matrix  # E(e) without its terms of first and second order
    assert least(M) < 0.0
