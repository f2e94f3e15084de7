"""Equilibria: hand results, the identity forward(q, v, τ) = 0, and what is said where there is none."""

from __future__ import annotations

import math

import numpy as np
import pytest

import sharnir as sh
from mechanisms import floating
from sharnir.analysis.balance import ForceDerivatives
from sharnir.equations.rows.constraint_table import table_of

G = 9.81


def pendulum(force=None, **options) -> sh.Model:
    """1 kg at 1 m under its hinge, which turns about y."""
    m = sh.Model("pendulum")
    m.add_body("bob", mass=1.0, com=(0.0, 0.0, -1.0))
    m.add_joint("hinge", sh.Revolute("y", **options), "ground", "bob")
    if force is not None:
        m.add_force(force)
    return m


def spinning(*joints) -> sh.Model:
    """A shaft about z with a point mass at 0.5 m on an arm."""
    m = sh.Model("spinning")
    m.add_body("shaft", mass=1.0, inertia=(0.1, 0.1, 0.1))
    m.add_body("arm", mass=1.0, com=(0.0, 0.0, -0.5))
    m.add_joint("spin", *joints, "ground", "shaft")
    m.add_joint("arm", sh.Revolute("y"), "shaft", "arm")
    return m


def plate(above: float, length: float, stiffness: float = 1000.0) -> sh.Model:
    """10 kg on three springs whose other ends are fixed `above` the place of the plate at zero."""
    m = sh.Model("plate")
    m.add_body("plate", mass=10.0, inertia=(0.5, 0.6, 1.0))
    m.add_joint("float", sh.Free(), "ground", "plate")
    for k in range(3):
        x, y = math.cos(2.0 * math.pi * k / 3.0), math.sin(2.0 * math.pi * k / 3.0)
        m.add_force(sh.SpringDamper("ground", "plate", (x, y, above), (x, y, 0.0), stiffness=stiffness, length=length))
    return m


def check_at_rest(found: sh.Equilibrium) -> None:
    """No accelerations, and constraints satisfied."""
    d, m = found.dynamics, found.model
    a = d.forward(found.q, found.v, found.tau, found.t)
    M = d.mass_matrix(found.q, found.t)
    assert np.abs(M @ a).max() < 1e-8 * max(1.0, np.abs(d.bias(found.q, found.v, found.t)).max())
    if m.constraints:
        assert np.abs(table_of(m).evaluate(found.q, found.v, found.t)["g"]).max() < 1e-10


# --- hand results -------------------------------------------------------------------------------------------------------------
def test_a_pendulum_hangs_stands_or_falls():
    m = pendulum()
    assert sh.equilibrium(m).stability == "stable" and sh.equilibrium(m).q[0] == 0.0
    standing = sh.equilibrium(m, {"hinge": math.pi})
    assert standing.stability == "unstable" and standing.q[0] == pytest.approx(math.pi) and "'hinge'" in standing.reason
    fallen = sh.equilibrium(m, {"hinge": math.pi}, stable=True)
    assert fallen.stability == "stable" and abs(math.sin(fallen.q[0])) < 1e-9 and math.cos(fallen.q[0]) > 0.9
    assert sh.equilibrium(m, {"hinge": 3.0}).stability == "stable"
    assert sh.equilibrium(m, {"hinge": 3.0}, stable=False).q[0] == pytest.approx(math.pi)


@pytest.mark.parametrize("angle", [0.3, 1.2, 2.8])
def test_a_torsion_spring_holds_a_pendulum_at_a_known_angle(angle):
    rest = angle + G * math.sin(angle) / 20.0
    found = sh.equilibrium(pendulum(stiffness=20.0, rest=rest), {"hinge": 0.1})
    assert abs(found.q[0] - angle) < 1e-12 and found.stability == "stable"


def test_a_given_joint_force_holds_a_pendulum_where_it_equals_the_weight():
    found = sh.equilibrium(pendulum(), tau={"hinge": 0.5 * G})
    assert abs(math.sin(found.q[0]) - 0.5) < 1e-12 and found.stability == "stable" and found.tau[0] == 0.5 * G


@pytest.mark.parametrize(("first", "second"), [(0, 0), (0, 1), (1, 0), (1, 1)])
def test_a_double_pendulum_has_four_equilibria_one_of_them_stable(first, second):
    """Each rod hangs or stands; the angles of the sample are from the horizontal."""
    down = -0.5 * math.pi
    angles = down + math.pi * first, down + math.pi * second
    near = {"hinge1": angles[0] + 0.1, "hinge2": angles[1] - angles[0] - 0.15}
    found = sh.equilibrium(sh.samples.double_pendulum(), near, stable=False)
    np.testing.assert_allclose([found.q[0], found.q[0] + found.q[1]], angles, atol=1e-10)
    assert found.stability == ("unstable" if first or second else "stable")


def test_a_chain_between_two_points_has_slopes_in_arithmetic_progression():
    """The catenary of rods: H tan θ_k is the weight between the lowest point and the middle of rod k."""
    n, span = 6, 4.0
    m = sh.samples.rods(n).copy()
    end, last = sh.Pose((span, 0.0, 0.0)), sh.Pose((1.0, 0.0, 0.0))
    m.add_joint("end", sh.Revolute("z"), f"rod{n}", "ground", at=last, child_at=end, cut=True)
    found = sh.equilibrium(m, {"hinge1": -1.0, "hinge2": 0.3})
    slopes = np.tan(np.cumsum(found.q))
    np.testing.assert_allclose(np.diff(slopes), np.mean(np.diff(slopes)), rtol=1e-9)
    np.testing.assert_allclose(slopes, -slopes[::-1], rtol=1e-9)
    assert found.stability == "stable" and abs(np.cos(np.cumsum(found.q)).sum() - span) < 1e-10
    check_at_rest(found)
    horizontal = G / np.mean(np.diff(slopes))  # H, by the spacing of the slopes
    R = found.reactions()["hinge1"]
    turn = found.q[0]
    world = math.cos(turn) * R[0] - math.sin(turn) * R[1]
    assert abs(abs(world) - horizontal) < 1e-9 * horizontal


def test_a_four_bar_with_a_spring_rests_at_the_least_of_its_energy():
    m = sh.samples.four_bar(1.0, 2.0, 1.5, 2.0)
    m.add_force(sh.JointSpring("A", stiffness=20.0, rest=1.0))
    found = sh.equilibrium(m, {"A": 1.0, "C": 1.5})
    check_at_rest(found)
    d = sh.Dynamics(m)

    def energy(a: float) -> float:
        q = m.assemble({"A": a, "B": found.q[1], "C": found.q[2]}, fixed=["A"])[0]
        return float(d.energy(q)[1])

    h = 1e-3
    below, at, above = (energy(found.q[0] + x) for x in (-h, 0.0, h))
    assert found.stability == "stable" and above + below > 2.0 * at
    assert abs(above - below) < 2.0 * h * (above + below - 2.0 * at)  # the parabola through them has its vertex here, to h²
    np.testing.assert_allclose(d.multipliers(found.q, tau=found.tau), found.multipliers, rtol=1e-7, atol=1e-9)


def test_a_plate_hangs_on_three_springs_and_cannot_stand_on_them():
    """The springs give by m g / 3 k. Those it stands on push it over: they turn about their feet."""
    drop = 10.0 * G / 3000.0
    hanging = sh.equilibrium(plate(2.0, 2.0))
    assert hanging.stability == "stable" and abs(hanging.q[2] + drop) < 1e-12
    np.testing.assert_allclose(hanging.q, (0, 0, -drop, 1, 0, 0, 0), atol=1e-9)
    standing = sh.equilibrium(plate(-2.0, 2.0), m_at(-0.03), stable=False)
    assert standing.stability == "unstable" and abs(standing.q[2] + drop) < 1e-12


def m_at(z: float) -> dict[str, tuple[float, ...]]:
    return {"float": (0.0, 0.0, z, 1.0, 0.0, 0.0, 0.0)}


def test_a_ball_joint_lets_a_pendulum_hang_from_any_quaternion():
    m = sh.Model("ball pendulum")
    m.add_body("bob", mass=2.0, com=(0.1, -0.2, -0.5), inertia=(0.1, 0.1, 0.05))
    m.add_joint("ball", sh.Ball(), "ground", "bob")
    for seed in range(3):
        found = sh.equilibrium(m, m.random_q(seed))
        com = sh.Dynamics(m).poses(found.q)[0][0] @ (0.1, -0.2, -0.5)
        np.testing.assert_allclose(com / np.linalg.norm(com), (0.0, 0.0, -1.0), atol=1e-8)
        assert found.stability == "undecided" and "does not change" in found.reason  # it may turn about the vertical
        assert abs(np.linalg.norm(found.q) - 1.0) < 1e-12


def test_an_equilibrium_far_away_is_found():
    """20 kg on a spring of 1 N/m: 196 m down."""
    m = sh.Model("soft spring")
    m.add_body("mass", mass=20.0)
    m.add_joint("lift", sh.Prismatic("z", stiffness=1.0), "ground", "mass")
    assert sh.equilibrium(m).q[0] == pytest.approx(-20.0 * G, rel=1e-12)


# --- steady motion ------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("driven", [False, True])
def test_the_arm_of_a_governor_stands_at_the_angle_of_watt(driven):
    """cos φ = g / ω² l, by given speed or by a drive; at rest below the critical speed."""
    omega, length = 6.0, 0.5
    angle = math.acos(G / (omega**2 * length))
    m = spinning(sh.Revolute("z", motion=(lambda t: omega * t) if driven else None))
    speeds = None if driven else {"spin": omega}
    found = sh.equilibrium(m, {"arm": 0.3}, speeds=speeds)
    assert abs(abs(found.q[-1]) - angle) < 1e-12 and found.stability == "stable" and found.steady
    down = sh.equilibrium(m, {"arm": 0.0}, speeds=speeds)
    assert down.stability == "unstable" and down.q[-1] == 0.0
    if not driven:
        check_at_rest(found)
        assert found.held == ("spin",) and "driven at 6" in found.summary()
        assert sh.equilibrium(m, {"arm": 0.3}, speeds={"spin": 4.0}).q[1] == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize("closed", [False, True])
def test_the_governor_of_iftomm_turns_steadily(closed):
    m = sh.samples.governor(closed)
    found = sh.equilibrium(m, {"slide": 0.5}, speeds={"shaft": 2.0 * math.pi})
    check_at_rest(found)
    assert found.steady and abs(found.q[m.q_slice("left hinge")][0] - found.q[m.q_slice("right hinge")][0]) < 1e-8
    assert abs(found.tau[0]) < 1e-8  # nothing is needed to go on turning


def test_a_motion_that_is_balanced_at_one_instant_only_is_not_steady():
    """A pendulum on a shaft that turns about a level axis: gravity turns in the axes of the shaft."""
    m = sh.Model("level shaft")
    m.add_body("shaft", mass=1.0, inertia=(0.1, 0.1, 0.1))
    m.add_body("arm", mass=1.0, com=(0.0, 0.0, -0.5))
    m.add_joint("spin", sh.Revolute("x"), "ground", "shaft")
    m.add_joint("arm", sh.Revolute("y", stiffness=3.0, rest=0.5), "shaft", "arm")
    found = sh.equilibrium(m, speeds={"spin": 2.0})
    assert not found.steady and "only" in found.summary()


@pytest.mark.parametrize(("share", "says"), [(0.9, "unstable"), (1.1, "undecided")])
def test_a_sleeping_top_stands_by_its_spin_alone(share, says):
    """C ω > 2 √(A m g l): the linearised motion neither grows nor decays; slower it falls."""
    A, C, mass, height = 0.6, 0.3, 2.0, 0.4
    m = sh.Model("top")
    m.add_body("gimbal", mass=0.0)
    m.add_body("top", mass=mass, com=(0.0, 0.0, height), inertia=(A - mass * height**2, A - mass * height**2, C))
    m.add_joint("tilt", sh.Universal("x", "y"), "ground", "gimbal")
    m.add_joint("spin", sh.Revolute("z"), "gimbal", "top")
    omega = share * 2.0 * math.sqrt(A * mass * G * height) / C
    found = sh.equilibrium(m, {"spin": 0.0}, speeds={"spin": omega})
    assert found.stability == says and np.abs(found.q).max() == 0.0


# --- stability ----------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(("load", "says"), [(2.0, "undecided"), (2.17, "unstable")])
def test_the_column_of_ziegler_flutters_above_its_critical_load(load, says):
    """Two rods with springs k = 1, 2 kg and 1 kg at their ends, a load along the second: P l / k = 7/2 − √2 = 2.086."""

    def push(on):
        on.push_in_body("second", (-load, 0.0, 0.0), at=(1.0, 0.0, 0.0))

    m = sh.Model("Ziegler", gravity=(0.0, 0.0, 0.0))
    for name, mass in (("first", 2.0), ("second", 1.0)):
        m.add_body(name, mass=mass, com=(1.0, 0.0, 0.0))
    m.add_joint("one", sh.Revolute("z", stiffness=1.0), "ground", "first")
    m.add_joint("two", sh.Revolute("z", stiffness=1.0), "first", "second", at=sh.Pose((1.0, 0.0, 0.0)))
    m.add_force(push)
    found = sh.equilibrium(m, [0.0, 0.0])
    assert found.stability == says and np.abs(found.q).max() == 0.0
    assert "oscillates" in found.reason or says == "undecided"


def test_a_damper_that_feeds_makes_an_equilibrium_unstable():
    fed = sh.equilibrium(pendulum(sh.JointSpring("hinge", damping=-0.5)))
    assert fed.stability == "unstable" and "grows" in fed.reason
    assert sh.equilibrium(pendulum(damping=0.5)).stability == "stable"


@pytest.mark.parametrize("sample", [
    lambda: sh.samples.four_bar(1.0, 2.0, 1.5, 2.0), sh.samples.bricard, lambda: sh.samples.governor(True), sh.samples.stewart,
    lambda: floating(),
], ids=["four-bar", "bricard", "governor", "stewart", "floating"])  # fmt: skip
def test_the_stiffness_is_the_derivative_of_the_forces_with_multipliers_held(sample):
    m = sample()
    d, table, rng = sh.Dynamics(m), table_of(m) if m.constraints else None, np.random.default_rng(3)
    q, v, lam = m.random_q(rng), 0.3 * rng.normal(size=m.nv), rng.normal(size=len(table) if table else 0)

    def force(q: np.ndarray) -> np.ndarray:
        return d.bias(q, v) - (lam @ table.evaluate(q, v, 0.0)["J"] if table else 0.0)

    dq = ForceDerivatives(d, table)(q, v, lam, 0.0)[0]
    h = 1e-5
    differences = [(force(m.integrate(q, h * e)) - force(m.integrate(q, -h * e))) / (2.0 * h) for e in np.eye(m.nv)]
    np.testing.assert_allclose(dq, np.transpose(differences), atol=1e-6 * np.abs(dq).max())


# --- held joints, drives, redundant constraints -------------------------------------------------------------------------------
def test_what_holds_a_fixed_joint_is_its_inverse_dynamics():
    m = sh.samples.rods(3)
    found = sh.equilibrium(m, {"hinge2": 0.4, "hinge3": 0.2}, fixed=["hinge2"])
    check_at_rest(found)
    np.testing.assert_allclose(found.tau, found.dynamics.inverse(found.q, np.zeros(3), np.zeros(3)), atol=1e-9)
    assert found.q[1] == 0.4 and found.tau[1] != 0.0 and found.held == ("hinge2",) and "held by" in found.summary()


def test_all_joints_fixed_is_the_statics_of_a_robot():
    m = sh.samples.manipulator()
    q = m.random_q(4)
    found = sh.equilibrium(m, q, fixed=[j.name for j in m.joints])
    np.testing.assert_allclose(found.tau, found.dynamics.bias(q, np.zeros(m.nv)), atol=1e-9)
    np.testing.assert_array_equal(found.q, q)
    assert found.stability == "stable" and found.reason == "nothing can move"


def test_reactions_carry_the_weight():
    found = sh.equilibrium(pendulum())
    np.testing.assert_allclose(found.reactions()["hinge"][:3], (0.0, 0.0, G), atol=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_trees_on_joint_springs_come_to_rest(seed):
    m = sh.samples.tree(5, seed=seed, dof=1).copy()
    for j in m.joints:
        m.add_force(sh.JointSpring(j.name, stiffness=30.0, rest=0.2))
    found = sh.equilibrium(m)
    check_at_rest(found)
    assert found.stability == "stable"


def test_redundant_constraints_and_rolling_are_no_hindrance():
    found = sh.equilibrium(sh.samples.n_four_bar(2), sh.samples.n_four_bar_start(2, angle=-1.0)["q0"])
    check_at_rest(found)
    np.testing.assert_allclose(found.q[::2], -0.5 * math.pi, atol=1e-9)
    upright = {"disc float": (0.0, 0.0, 0.1, math.sqrt(0.5), math.sqrt(0.5), 0.0, 0.0)}
    standing = sh.equilibrium(sh.samples.rolling_disc(), upright)
    check_at_rest(standing)
    assert standing.stability == "unstable"


def test_a_guess_by_name_is_held_while_loops_are_closed():
    m = sh.samples.slider_crank()
    found = sh.equilibrium(m, {"main": 0.5}, fixed=["main"])
    assert found.q[0] == 0.5 and found.tau[0] != 0.0
    check_at_rest(found)


# --- none ---------------------------------------------------------------------------------------------------------------------
def test_a_falling_body_has_no_equilibrium():
    m = sh.Model("falling")
    m.add_body("stone", mass=2.0, inertia=(1.0, 1.0, 1.0))
    m.add_floating("stone")
    with pytest.raises(sh.EquilibriumError, match=r"'stone float.vz' a force of 19.62 N stays unbalanced") as error:
        sh.equilibrium(m, starts=2)
    best = error.value.result
    assert best.residual == pytest.approx(2.0 * G) and best.stability == "undecided" and "not balance" in best.summary()
    assert "fixed=['stone float']" in str(error.value)
    assert sh.equilibrium(m, tau={"stone float": (0, 0, 2.0 * G, 0, 0, 0)}).stability in ("undecided", "unstable")


def test_a_spring_that_is_too_weak_is_named_with_the_force_that_is_missing():
    def spring(on):
        on.torque("lift", 5.0 * sh.tanh(-on.q("lift")))

    m = sh.Model("weak")
    m.add_body("mass", mass=1.0)
    m.add_joint("lift", sh.Prismatic("z"), "ground", "mass")
    m.add_force(spring)
    with pytest.raises(sh.EquilibriumError, match=r"'lift' a force of 4.81 N") as error:
        sh.equilibrium(m, starts=2)
    assert error.value.result.residual == pytest.approx(G - 5.0, rel=1e-3)
    with pytest.raises(sh.EquilibriumError, match=r"'hinge' a force of .* N m"):
        sh.equilibrium(pendulum(), tau={"hinge": 2.0 * G}, starts=2)


def test_where_only_unstable_ones_are_found_the_error_has_one():
    m = pendulum()
    m2 = sh.Model("hill", gravity=(0.0, 0.0, -G))
    m2.add_body("bead", mass=1.0)
    m2.add_joint("slide", sh.CustomJoint(dof=1, pose=lambda q, t: sh.Pose((q[0], 0.0, -0.5 * q[0] * q[0]))), "ground", "bead")
    assert sh.equilibrium(m, stable=True).stability == "stable"
    with pytest.raises(sh.EquilibriumError, match="only unstable") as error:
        sh.equilibrium(m2, {"slide": 0.1}, stable=True, starts=2)
    assert error.value.result.stability == "unstable" and abs(error.value.result.q[0]) < 1e-9


@pytest.mark.parametrize(("options", "error", "says"), [
    ({"guess": {"hing": 0.1}}, sh.ModelError, "hing"),
    ({"guess": [0.0, 1.0]}, sh.StateError, "expected"),
    ({"tau": {"hing": 1.0}}, sh.ModelError, "hing"),
    ({"tau": [math.nan]}, sh.StateError, "tau"),
    ({"speeds": {"hing": 1.0}}, sh.ModelError, "did you mean 'hinge'"),
    ({"speeds": {"hinge": [1.0, 2.0]}}, sh.StateError, "1 finite number"),
    ({"speeds": [math.inf]}, sh.StateError, "speeds"),
    ({"fixed": "hinge"}, sh.StateError, "a list"),
    ({"fixed": ["hing"]}, sh.ModelError, "did you mean 'hinge'"),
    ({"starts": 1.5}, sh.StateError, "starts"),
    ({"stable": "yes"}, sh.StateError, "stable"),
    ({"t": "now"}, sh.StateError, "t:"),
], ids=str)  # fmt: skip
def test_bad_options_are_refused(options, error, says):
    with pytest.raises(error, match=says):
        sh.equilibrium(pendulum(), **options)


def test_speeds_that_constraints_forbid_are_refused_with_the_constraint():
    with pytest.raises(sh.StateError, match=r"speeds: .* would be violated"):
        sh.equilibrium(sh.samples.slider_crank(), {"main": 0.5}, speeds={"main": 1.0})


def test_a_model_is_needed():
    with pytest.raises(sh.ModelError, match="equilibrium needs"):
        sh.equilibrium("pendulum")


def test_a_straight_chain_between_near_anchors_hangs():
    """From where it is straight no step leads to a closed position: loops are closed as by an assembly."""
    m, last, n = sh.Model("chain"), "ground", 4
    for k in range(n):
        m.add_body(f"link {k}", 0.1, shape=sh.Rod((0, 0, 0), (10 / n, 0, 0)))
        m.add_joint(f"{k}", sh.Revolute("y"), last, f"link {k}", at=sh.Pose((10 / n if k else 0.0, 0, 0)))
        last = f"link {k}"
    m.add_joint("end", sh.Revolute("y"), last, "ground", at=sh.Pose((10 / n, 0, 0)), child_at=sh.Pose((6.0, 0, 0)))
    assert sh.equilibrium(m, starts=1).stability == "stable"


@pytest.mark.parametrize("guess", [0.0, 1.5, 2.3])
def test_forces_are_balanced_in_comparison_with_those_at_the_same_position(guess):
    """A spring before a wall that would be immense behind it: at x = 2.3 it pushes with 10¹³ N, at 1 with nothing."""
    m = sh.Model("wall")
    m.add_body("body", 1.0)
    m.add_joint("slider", sh.Prismatic("x"), "ground", "body")
    m.add_force(lambda on: on.torque("slider", 5.0 - 5.0 * on.q("slider") - sh.exp(100.0 * (on.q("slider") - 2.0))))
    assert sh.equilibrium(m, [guess]).q == pytest.approx([1.0], abs=1e-9)
