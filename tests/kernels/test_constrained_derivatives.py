"""Derivatives of closed systems are those of differences, in every column; and the identities they obey."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from test_driven_loops import engine, there

import sharnir as sh
from graph_models import kinds
from loop_models import STARTS, beside_itself, placed
from sharnir.backends import sizes
from states import assert_close, derivative, interpreted, random_mass

STEP = {"Bricard": 2e-4, "Andrews": 2e-3, "governor with rods": 1e-3}  # rows that depend on one another, or nearly so
DEFINED = [name for name in STARTS if name != "Bricard"]


def by_differences(f, d, wrt, q, v, x, t, h=5e-3):
    """{name: derivative of f(q, v, x, t) along every column}, x being tau or a."""
    n = d.model.nv
    rest = d.rates(q, np.zeros(n), t)
    columns: dict[str, Any] = {
        "q": [d.rates(q, unit, t) - rest for unit in np.eye(n)],
        "v": np.eye(n),
        "tau": np.eye(n),
        "a": np.eye(n),
    }

    def column(name, step):
        def moved(s):
            dq, dv, dx = (s * step if name in names else 0.0 for names in ("q", "v", ("tau", "a")))
            return f(q + dq, v + dv, x + dx, t)

        return derivative(moved, h)

    return {name: np.stack([column(name, step) for step in columns[name]], -1) for name in wrt}


def assert_derivatives(found, expected, tolerance=1e-7, what=""):
    size = max(np.abs(found.value).max(), 1.0)
    for name, columns in expected.items():
        assert_close(getattr(found, f"d{name}"), columns, tolerance, scale=size, what=f"{what} {name}")


def model_with(constraint, bodies):
    """Free bodies on springs with one constraint, and a state of motion on it."""
    rng = np.random.default_rng(4)
    m = sh.Model("tied")
    for body in bodies:
        m.add_body(body, **random_mass(rng))
        m.add_floating(body)
        m.add_force(sh.SpringDamper("ground", body, at_b=(0.1, 0.2, 0.0), stiffness=50.0, damping=2.0, length=0.3))
    m.add_constraint(constraint, "tie")
    return m, *m.assemble(m.random_q(rng), rng.normal(size=m.nv), 0.3)


# --- accelerations ---------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("name", STARTS)
def test_derivatives_of_accelerations_are_those_of_differences(name):
    m, q, v = placed(name, t=0.2)
    d = interpreted(m, "composite")
    tau = 0.1 * np.random.default_rng(1).normal(size=m.nv)
    found = d.forward_derivatives(q, v, tau, 0.2)
    assert_close(found.value, d.forward(q, v, tau, 0.2), 1e-12)
    expected = by_differences(d.forward, d, ("q", "v", "tau"), q, v, tau, 0.2, STEP.get(name, 5e-3))
    assert_derivatives(found, expected, what=name)


@pytest.mark.parametrize("q", [(0.3, 0.2, 0.5), (3e-3, 1e-3, 0.0), (1e-3, 0.0, 0.0)])
def test_states_off_the_constraints_and_near_a_singular_position_are_no_exception(q):
    """Of forward as it is, where the constraints are violated and where rows nearly depend on one another."""
    m = sh.samples.four_bar()
    d = interpreted(m, "composite")
    q, (v, tau) = np.array(q), np.random.default_rng(1).normal(size=(2, 3))
    found = d.forward_derivatives(q, v, tau)
    assert_derivatives(found, by_differences(d.forward, d, ("q", "v", "tau"), q, v, tau, 0.0, 1e-4), 1e-7)


def test_speeds_that_violate_dependent_rows():
    m, q, _ = placed("Bricard")
    d = interpreted(m, "composite")
    v, tau = np.random.default_rng(3).normal(size=(2, m.nv))
    found = d.forward_derivatives(q, v, tau, wrt=("q", "v"))
    assert_derivatives(found, by_differences(d.forward, d, ("q", "v"), q, v, tau, 0.0, 2e-4), 1e-6)


@pytest.mark.parametrize("backend", ["python", "auto"])
@pytest.mark.parametrize("method", ["composite", "separate", "lagrange1", "extended", "maggi"])
def test_what_cannot_move_has_no_derivatives_however_its_rows_share_the_load(method, backend):
    """Three hinges under a weld and two rods, 8 rows for 3 speeds: at rest accelerations vanish in every position, while each
    method finds multipliers of its own."""
    rng, m = np.random.default_rng(0), sh.Model("locked")
    for k in range(3):
        m.add_body(f"b{k}", **random_mass(rng))
        axis = rng.normal(size=3)
        m.add_joint(
            f"j{k}",
            sh.Revolute(axis / np.linalg.norm(axis)),
            f"b{k - 1}" if k else "ground",
            f"b{k}",
            at=sh.Pose((0.5, 0.4, 0.8)),
        )
    m.add_joint("weld", sh.Weld(), "b0", "b2", at=sh.Pose((1, 1, 0)), cut=True)
    for k in range(2):
        m.add_constraint(sh.Distance("ground", f"b{k}", at_b=(0.1, 0.2, 0.3), length=1.0), f"rod {k}")
    d = sh.Dynamics(m, method, backend)
    for _ in range(2):
        q, tau = m.random_q(rng), rng.normal(size=3)
        found = d.forward_derivatives(q, np.zeros(3), tau)
        assert_close(np.stack([found.dq, found.dv, found.dtau]), np.zeros((3, 3, 3)), 1e-9, scale=1.0)


@pytest.mark.parametrize("cut", ["wristpin", "main"])
def test_drives_in_loops(cut):
    m, t = engine(cut), 0.3
    d = interpreted(m, "composite")
    q, v = there(m, t)
    tau = np.random.default_rng(2).normal(size=m.nv)
    expected = by_differences(d.forward, d, ("q", "v", "tau"), q, v, tau, t)
    assert_derivatives(d.forward_derivatives(q, v, tau, t), expected, 1e-6)


def saddle(x, y, z, t):
    return x * x - y * y + 0.3 * x * y - z - 0.1 * sh.sin(2.0 * t)


def skate(on):
    x, v = on.q("a float"), on.v("a float")
    return v[1] - x[0] * v[3]


def nodding(on):
    """A joint's coordinate follows another and the time."""
    x = on.q("a float")
    return x[0] - 0.2 * sh.sin(3.0 * on.t) * x[4]


TIES = {
    "Distance": (sh.Distance("a", "b", at_a=(0.1, 0.0, 0.0), length=0.7), "ab"),
    "PointOnSurface": (sh.PointOnSurface("a", saddle, at=(0.1, 0.2, 0.0)), "a"),
    "PointOnCurve": (sh.PointOnCurve("a", saddle, lambda x, y, z, t: x + y - z * z, at=(0.1, 0.2, 0.0), of="b"), "ab"),
    "SpeedConstraint": (sh.SpeedConstraint(skate), "a"),
    "in time": (nodding, "a"),
}


@pytest.mark.parametrize("name", TIES)
def test_constraints_of_any_kind_between_free_bodies_on_springs(name):
    m, q, v = model_with(*TIES[name])
    d = interpreted(m, "composite")
    tau = np.random.default_rng(5).normal(size=m.nv)
    expected = by_differences(d.forward, d, ("q", "v", "tau"), q, v, tau, 0.3)
    assert_derivatives(d.forward_derivatives(q, v, tau, 0.3), expected, 1e-7, name)


@pytest.mark.parametrize("k", range(0, len(kinds(np.random.default_rng(0))), 3))
def test_loops_closed_by_joints_of_any_kind(k):
    """A body on a free carrier by a joint, closed by a ball joint elsewhere: custom, driven and compound joints among them."""
    rng = np.random.default_rng(k)
    m = sh.Model("loop")
    for body in ("carrier", "arm", "hand"):
        m.add_body(body, **random_mass(rng))
    m.add_joint("base", sh.Universal("x", "y"), "ground", "carrier")
    m.add_joint("any", kinds(rng)[k], "carrier", "arm", at=sh.Pose((0.3, 0.1, 0.0)))
    m.add_joint("wrist", sh.Ball(), "arm", "hand", at=sh.Pose((0.2, 0.0, 0.1)))
    m.add_constraint(sh.Distance("ground", "hand", at_b=(0.1, 0.1, 0.2), length=1.0), "rod")
    q, v, tau, t = m.random_q(rng), rng.normal(size=m.nv), rng.normal(size=m.nv), 0.4
    d = interpreted(m, "composite")
    expected = by_differences(d.forward, d, ("q", "v", "tau"), q, v, tau, t)
    assert_derivatives(d.forward_derivatives(q, v, tau, t), expected, 1e-6)


def test_joints_that_allow_the_motion_of_the_tree_leave_no_rows_and_change_nothing():
    m = beside_itself(sh.Ball())
    tree = sh.Model("tree")
    for body in m.bodies:
        tree.add_body(body.name, body.mass, body.com, body.inertia)
    for joint in m.joints:
        tree.add_joint(joint.name, joint.type, joint.parent, joint.child, at=joint.at, child_at=joint.child_at)
    rng = np.random.default_rng(0)
    q, v, tau = m.random_q(rng), rng.normal(size=m.nv), rng.normal(size=m.nv)
    expected, found = sh.Dynamics(tree, "composite").forward_derivatives(q, v, tau), interpreted(m, "composite")
    assert not found.constraint_rows
    assert_derivatives(found.forward_derivatives(q, v, tau), {k: getattr(expected, f"d{k}") for k in ("q", "v", "tau")}, 1e-10)


def test_a_stewart_platform_along_any_direction():
    """21 speeds, 15 rows: too large for all columns in one graph."""
    m = sh.samples.stewart()
    d, rng = interpreted(m, "composite"), np.random.default_rng(1)
    q, v = m.assemble(None, rng.normal(size=m.nv))
    tau, x, y, z = rng.normal(size=(4, m.nv))
    found, N = d.forward_derivatives(q, v, tau), d.rates(q, x)
    along = derivative(lambda s: d.forward(q + s * N, v + s * y, tau + s * z), 2e-3)
    assert_close(found.dq @ x + found.dv @ y + found.dtau @ z, along, 1e-8)


# --- identities ------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("name", STARTS)
def test_forces_move_along_the_constraints_and_as_much_as_they_are_moved(name):
    """J ∂a/∂τ = 0, and ∂a/∂τ is symmetric, as M⁻¹ is; on what the constraints allow it is the inverse of M."""
    m, q, v = placed(name)
    d = interpreted(m, "composite")
    Y = d.forward_derivatives(q, v, wrt="tau").dtau
    J, M = d.constrained.table.evaluate(q, v, 0.0)["J"], d.mass_matrix(q)
    assert_close(J @ Y, np.zeros((len(J), m.nv)), 1e-9, scale=np.abs(Y).max() * np.abs(J).max())
    assert_close(Y, Y.T, 1e-10)
    assert_close(Y @ M @ Y, Y, 1e-9)


@pytest.mark.parametrize("name", DEFINED)
def test_forward_and_inverse_are_inverse_to_each_other(name):
    """Along the constraints: ∂a/∂τ · ∂τ/∂a moves as asked, whatever the constraints carry."""
    m, q, v = placed(name)
    d = interpreted(m, "composite")
    a = d.forward(q, v)
    Y, P = d.forward_derivatives(q, v, wrt=["tau"]).dtau, d.inverse_derivatives(q, v, a, wrt=["a"]).da
    allowed = Y @ np.random.default_rng(0).normal(size=m.nv)
    assert_close(Y @ (P @ allowed), allowed, 1e-9)


# --- joint forces -----------------------------------------------------------------------------------------------------------
def least_forces(d):
    """τ of least norm by its definition, for accelerations that need not satisfy the constraints."""

    def tau(q, v, a, t):
        J = d.constrained.table.evaluate(q, v, t)["J"]
        tree = d.mass_matrix(q, t) @ a + d.bias(q, v, t)
        return tree - np.linalg.pinv(J, rcond=1e-9) @ (J @ tree)

    return tau


@pytest.mark.parametrize("name", STARTS)
def test_derivatives_of_joint_forces_of_least_norm_are_those_of_differences(name):
    m, q, v = placed(name)
    d = interpreted(m, "composite")
    a = d.forward(q, v, 0.1 * np.random.default_rng(1).normal(size=m.nv))
    wrt = ("q", "v", "a") if name in DEFINED else ("v", "a")
    found = d.inverse_derivatives(q, v, a, wrt=wrt)
    assert_close(found.value, d.inverse(q, v, a), 1e-10)
    assert_derivatives(found, by_differences(least_forces(d), d, wrt, q, v, a, 0.0, STEP.get(name, 5e-3)), what=name)


def test_where_rows_become_independent_around_the_position_joint_forces_have_no_derivative():
    m, q, v = placed("Bricard")
    d = interpreted(m, "composite")
    with pytest.raises(sh.SingularError, match=r"no derivative with respect to q.*joint 'hinge6'.*leave \"q\" out"):
        d.inverse_derivatives(q, v, d.forward(q, v))
    with pytest.raises(sh.SingularError, match="multipliers of least norm have no derivative"):
        d.reaction_derivatives(q, v)
    assert d.reaction_derivatives(q, v, wrt=("v", "tau")).dv.shape == (5, 6, 5)


# --- ways to run ------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("name", ["four-bar", "Bricard", "rolling disc"])
def test_compiled_code_and_batches_give_what_single_interpreted_states_give(name):
    states = [placed(name, seed) for seed in range(6)]
    m = states[0][0]
    q, v = (np.array([s[k] for s in states]) for k in (1, 2))
    tau = 0.1 * np.random.default_rng(1).normal(size=m.nv)
    one, many = interpreted(m, "composite"), sh.Dynamics(m, "composite")
    wrt = ("v", "tau") if name == "Bricard" else ("q", "v", "tau")
    for ask in ("forward_derivatives", "reaction_derivatives"):
        batch, single = getattr(many, ask)(q, v, tau, wrt=wrt), getattr(many, ask)(q[0], v[0], tau, wrt=wrt)
        each = [getattr(one, ask)(*s, tau, wrt=wrt) for s in zip(q, v, strict=True)]
        for key in ("value", *(f"d{x}" for x in wrt)):
            expected = np.array([getattr(x, key) for x in each])
            assert_close(getattr(batch, key), expected, 1e-9, scale=1.0, what=f"{ask} {key}")
            assert_close(getattr(single, key), expected[0], 1e-9, scale=max(1.0, np.abs(expected).max()), what=f"{ask} {key}")


def test_states_that_are_not_finite_are_named_or_left_as_they_are_in_a_batch():
    m, q, v = placed("four-bar")
    d = sh.Dynamics(m, "composite")
    bad = np.array([q, q])
    bad[0, 1] = np.nan
    with pytest.raises(sh.StateError, match="q"):
        d.forward_derivatives(bad[0], v)
    for ask in (d.forward_derivatives, d.reaction_derivatives):
        expected, found, none = ask(q, v), ask(bad, v), ask(np.zeros((0, m.nq)), v)
        assert np.isnan(found.dq[0]).any()
        assert_close(found.dq[1], expected.dq, 1e-10)
        assert none.dq.shape == (0, *expected.dq.shape)
    a = d.forward(q, v)
    assert_close(d.inverse_derivatives(np.array([q, q]), v, a).dq[1], d.inverse_derivatives(q, v, a).dq, 1e-10)
    assert d.inverse_derivatives(np.zeros((0, m.nq)), v, a).dq.shape == (0, 3, 3)


def test_forms_have_the_derivatives_of_the_equations():
    m, q, v = placed("slider-crank")
    expected = interpreted(m, "composite").forward_derivatives(q, v)
    for method in ("extended", "maggi", "separate"):
        found = sh.Dynamics(m, method).forward_derivatives(q, v)
        for key in ("value", "dq", "dv", "dtau"):
            assert_close(getattr(found, key), getattr(expected, key), 1e-8, what=f"{method} {key}")


def test_columns_as_a_batch_are_the_columns_of_one_graph(monkeypatch):
    m, q, v = placed("slider-crank")
    expected = interpreted(m, "composite").forward_derivatives(q, v)
    monkeypatch.setattr(sizes, "COLUMNS", 0)
    found = interpreted(m, "composite").forward_derivatives(np.array([q, q]), np.array([v, v]))
    for key in ("dq", "dv", "dtau"):
        assert_close(getattr(found, key)[1], getattr(expected, key), 1e-12, what=key)


def test_models_too_large_for_a_graph_are_refused_with_the_remedy(monkeypatch):
    m, q, v = placed("slider-crank")
    monkeypatch.setattr(sizes, "EQUATIONS", 50)
    d = interpreted(m, "composite")
    for ask in (d.forward_derivatives, d.reaction_derivatives, d.energy_derivatives):
        with pytest.raises(sh.MethodError, match=r"'slider-crank' is too large .* take differences along model.integrate"):
            ask(q, v)


def test_unknown_names_are_refused_with_the_known_ones():
    m, q, v = placed("slider-crank")
    d = interpreted(m, "composite")
    with pytest.raises(sh.MethodError, match="'tua'; did you mean 'tau'"):
        d.forward_derivatives(q, v, wrt=("q", "tua"))
    with pytest.raises(sh.MethodError, match="'tau'"):
        d.energy_derivatives(q, v, wrt=("tau",))
    assert d.forward_derivatives(q, v, wrt=()).dq is None
