"""What a model is follows from its formulas: which rows move, what depends on time, which forces lose energy."""

from __future__ import annotations

import numpy as np
import pytest

import sharnir as sh
from sharnir.equations.motion.account import not_conservative
from sharnir.equations.rows.constraint_table import table_of
from states import assert_close

ONCE_MOVING = sh.table([0.0, 1.0, 2.0], [0.0, 0.2, 0.5], outside="error")
LATER = sh.table([5.0, 6.0, 8.0], [0.0, 0.2, 0.5], outside="error")
LATE = {
    "a lag": lambda t: 0.5 * (1.0 - sh.exp(-100.0 * t)),
    "a root": lambda t: 0.3 * sh.sqrt(t + 1e-4),
    "a logarithm": lambda t: 0.2 * sh.log(1.0 + 5.0 * t),
    "a table that ends": lambda t: ONCE_MOVING(t),
    "a step": lambda t: sh.step(t, 2.0, 0.0, 3.0, 0.3),
    "a saturation": lambda t: 0.2 * sh.tanh(200.0 * (t - 3.0)),
    "a power": lambda t: 0.1 * t**1.5,
    "a ramp that begins": lambda t: sh.maximum(0.0, t - 5.0),
    "a pulse": lambda t: sh.exp(-((t - 20.0) ** 2) * 50.0),
    "a line": lambda t: 0.01 * t,
}
"""Functions of time of which few times tell little: they are not defined before 0, or are constant there, or huge."""


def add_four_bar(m, name, at=0.0, motion=None):
    """A parallelogram in the plane xy, whose crank may be driven about a slanted position; a start."""
    tip, slanted = sh.Pose((1.0, 0.0, 0.0)), sh.Rotation.about("z", 1.2)
    for part in ("crank", "coupler", "rocker"):
        m.add_body(f"{name} {part}", 1.0, (0.5, 0.0, 0.0), (0.01, 0.1, 0.1))
    m.add_joint(f"{name} A", sh.Revolute("z", motion=motion), "ground", f"{name} crank", at=sh.Pose((at, 0.0, 0.0), slanted))
    m.add_joint(f"{name} B", sh.Revolute("z"), f"{name} crank", f"{name} coupler", at=sh.Pose(tip.position, slanted.T))
    m.add_joint(f"{name} C", sh.Revolute("z"), "ground", f"{name} rocker", at=sh.Pose((at + 1.0, 0.0, 0.0), slanted))
    m.add_joint(f"{name} D", sh.Revolute("z"), f"{name} coupler", f"{name} rocker", at=tip, child_at=tip, cut=True)
    return m


def sliding(*constraints):
    """A body on a slider, with constraints on it."""
    m = sh.Model("sliding")
    m.add_body("body", 2.0)
    m.add_joint("slider", sh.Prismatic("x"), "ground", "body")
    for constraint in constraints:
        m.add_constraint(constraint)
    return m


# --- rows that move -----------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("name", LATE)
def test_a_drive_in_one_loop_leaves_the_rows_of_others_as_they_are(name):
    """Two parallelograms and a constraint of speeds elsewhere: as many rows as without a drive, the same that hold anyway."""
    m = add_four_bar(sliding(sh.SpeedConstraint(lambda on: on.v("slider") - 1.25 * on.t)), "first", motion=LATE[name])
    add_four_bar(m, "second", 5.0)
    table = table_of(m)
    assert (len(table), len(table.trivial), len(table) - table.n_holonomic) == (5, 6, 1)


def test_loops_beside_drives_run_and_constraints_of_speeds_act():
    """From t = 0, where the drives begin; elsewhere x = ½·1.25·t², and a second loop turns on."""
    m = add_four_bar(sliding(sh.SpeedConstraint(lambda on: on.v("slider") - 1.25 * on.t)), "first", motion=LATE["a lag"])
    add_four_bar(m, "second", 5.0)
    for name in ("a root", "a logarithm", "a table that ends"):
        m.add_body(name, 1.0)
        m.add_joint(f"drive of {name}", sh.Prismatic("z", motion=LATE[name]), "ground", name)
    r = sh.simulate(m, 1.0, v0={"second A": 1.0}, output=0.5, integrator="rk4", step=0.01)
    assert_close(r.coordinate("slider")[-1], 0.625, 1e-8)
    assert_close(r.coordinate("second C")[-1], 1.0, 1e-6)
    assert r.violation.max() < 1e-9


def test_a_constraint_that_begins_to_move_late_is_kept():
    """Constant in q and in t for all that a few states tell."""
    far = sliding(lambda on: sh.tanh(1e3 * (on.q("slider") - 30.0)))
    assert len(table_of(far)) == 1 and not table_of(far).trivial
    held = sliding(lambda on: on.q("slider") * sh.step(on.t, 2.0, 0.0, 3.0, 1.0))
    assert len(table_of(held)) == 1


@pytest.mark.parametrize("backend", ["llvm", "loops", "python"])
@pytest.mark.parametrize("name", ["a logarithm", "a step"])
def test_a_second_guide_of_a_driven_body_has_no_rows(name, backend):
    m = sliding()
    m.add_body("led", 1.0)
    m.add_joint("driven", sh.Prismatic("y", motion=LATE[name]), "ground", "led")
    m.add_joint("guide", sh.Prismatic("y"), "ground", "led", cut=True)
    assert len(table_of(m)) == 0 and len(table_of(m).trivial) == 5
    r = sh.simulate(m, 0.1, v0=[2.0], backend=backend, integrator="rk4", step=0.05)
    assert_close(r.coordinate("slider")[-1], 0.2, 1e-12)


def test_the_sparse_jacobian_is_the_dense_one_where_a_row_begins_to_concern_the_whole():
    """A rod between two bodies of a cart, which far away is held back by the ground as well."""
    m = sliding()
    for name, axis in (("a", "y"), ("b", "z")):
        m.add_body(name, 1.0)
        m.add_joint(name, sh.Prismatic(axis), "body", name, at=sh.Pose((0.0, 1.0, 0.0)))

    def rod(on):
        (x, *a), (_, *b) = on.pose("a").position, on.pose("b").position
        return sum((s - t) ** 2 for s, t in zip(a, b, strict=True)) + sh.maximum(0.0, x - 40.0)

    m.add_constraint(rod)
    table, state = table_of(m), (np.array([50.0, 0.3, 0.2]), np.zeros(3), 0.0)
    assert_close(table.sparse.evaluate(*state)["J"].toarray(), table.evaluate(*state)["J"], 1e-12)


# --- time ---------------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("name", LATE)
def test_a_constraint_depends_on_time_where_its_formula_does(name):
    f = LATE[name]
    assert table_of(sliding(lambda on: on.q("slider") - f(on.t))).is_rheonomic
    assert table_of(sliding(sh.SpeedConstraint(lambda on: on.v("slider") - f(on.t)))).is_rheonomic
    assert not table_of(sliding(lambda on: on.q("slider") - f(1.0))).is_rheonomic
    assert not table_of(sliding(sh.SpeedConstraint(lambda on: f(on.q("slider")) * on.v("slider")))).is_rheonomic
    assert not table_of(sliding(lambda on: f(on.q("slider")))).is_rheonomic


def test_a_cut_joint_depends_on_time_where_it_is_driven():
    assert not table_of(add_four_bar(sh.Model("free"), "loop")).is_rheonomic
    assert table_of(add_four_bar(sh.Model("driven"), "loop", motion=LATE["a step"])).is_rheonomic


def test_the_work_of_a_constraint_that_moves_late_is_accounted():
    """A body of 2 kg is brought from rest to 3 m/s: its kinetic energy is the work, and the power that of the force."""
    m = sliding(lambda on: on.q("slider") - sh.maximum(0.0, on.t - 1.5) ** 3)
    r = sh.simulate(m, 2.5, output=0.5, integrator="rk4", step=0.05)
    assert_close(r.energy.kinetic[-1], 9.0, 1e-6)
    assert_close(r.energy.work["drives"][-1], 9.0, 1e-5)
    assert np.abs(r.energy.defect).max() < 1e-5


def test_work_that_is_not_recorded_is_not_claimed():
    r = sh.simulate(sliding(lambda on: on.q("slider") - on.t**3), 0.1, backend="python", integrator="rk4", step=0.05)
    assert np.isnan(r.energy.defect).all()


# --- forces -------------------------------------------------------------------------------------------------------------------
def loses(act):
    m = sliding()
    m.add_force(act, "force")
    return bool(len(not_conservative(m.structure)))


@pytest.mark.parametrize("name", LATE)
def test_a_spring_whose_stiffness_depends_on_time_is_accounted(name):
    """And one whose stiffness depends on its length is not, where its energy goes with it."""
    f = LATE[name]

    def in_time(on):
        k, x = 2.0 + f(on.t), on.q("slider")
        on.torque("slider", -k * x)
        return 0.5 * k * x * x

    def damped_far_away(on):
        x = on.q("slider")
        on.torque("slider", -2.0 * x - f(x) * on.v("slider"))
        return x * x

    def in_length(on):
        x = on.q("slider")
        on.torque("slider", -2.0 * x - 3.0 * x * x)
        return x * x + x * x * x

    assert loses(in_time) and loses(damped_far_away) and not loses(in_length)


def test_a_damper_of_a_high_power_is_accounted():
    """Nothing beside the spring near zero, and most of it far away."""

    def act(on):
        x = on.q("slider")
        on.torque("slider", -2.0 * x - (1e-3 * x) ** 16 * on.v("slider"))
        return x * x

    assert loses(act)


def test_a_spring_with_branches_is_conservative_where_both_sides_are():
    def act(damping):
        def push(on):
            x = on.q("slider")
            on.torque("slider", sh.select(x > 0.5, -3.0 * x - damping * on.v("slider"), -2.0 * x))
            return sh.select(x > 0.5, 1.5 * x * x, x * x)

        return push

    assert not loses(act(0.0)) and loses(act(1e-6))


def test_springs_of_one_form_are_decided_one_by_one():
    """They share a graph, in which powers, stiffnesses and the end of the range are numbers."""
    m = sh.Model("springs")
    for name, k, b, end, damping in (("a", 2.0, 2.5, 0.5, 0.0), ("b", 3.0, 3.5, 0.2, 0.0), ("c", 4.0, 2.5, -0.5, 0.1)):
        m.add_body(name, 1.0)
        m.add_joint(name, sh.Prismatic("x"), "ground", name)

        def act(on, name=name, k=k, b=b, end=end, damping=damping):
            x = on.q(name)
            beyond = sh.select(x > end, 1.0, 0.0)
            on.torque(name, -k * b * x ** (b - 1.0) - 3.0 * beyond * (x - end) - damping * x * x * on.v(name))
            return k * x**b + 1.5 * beyond * (x - end) * (x - end)

        m.add_force(act, name)
    assert [m.structure.forces.names[k] for k in not_conservative(m.structure)] == ["c"]


# --- joints -------------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(("place", "q", "t", "slope"), [
    (lambda q, t: sh.step(q, 2.0, 0.0, 3.0, 1.0), 2.5, 0.0, 1.5),
    (lambda q, t: q * sh.log(t - 1.0), 0.3, 4.0, np.log(3.0)),
    (lambda q, t: q + LATER(t), 0.3, 5.5, 1.0),
], ids=["a step", "a logarithm", "a table"])  # fmt: skip
def test_a_coordinate_that_moves_its_body_somewhere_is_neither_idle_nor_massless(place, q, t, slope):
    """The joint is at rest, or not defined, at small coordinates and at the first times."""
    m = sh.Model("late")
    m.add_body("body", 2.0)
    m.add_joint("joint", sh.CustomJoint(1, lambda q, t: sh.Pose((place(q[0], t), 0.0, 0.0))), "ground", "body")
    assert_close(sh.Dynamics(m).mass_matrix([q], t), [[2.0 * slope**2]], 1e-12)
    assert np.isfinite(sh.Dynamics(m).forward([q], [0.1], [1.0], t)).all()
