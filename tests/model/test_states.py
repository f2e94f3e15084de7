"""States of forces: integrated with the motion, the same on every execution, in results, events, files and linear models."""

from __future__ import annotations

import re

import numpy as np
import pytest

import sharnir as sh
from states import assert_close

TARGET = 0.3


def controlled(model: sh.Model, joint: str, rate=None) -> sh.Model:
    """A joint held at a target by a controller with an integral."""
    model.add_state("integral", 0.1, rate=rate or (lambda on: on.q(joint) - TARGET), unit="rad s")

    def pid(on):
        error = on.q(joint) - TARGET
        on.torque(joint, -20.0 * error - 2.0 * on.v(joint) - 15.0 * on.state("integral"))
        on.observe("error", error, "rad")

    model.add_force(pid)
    return model


@pytest.fixture(scope="module")
def pendulum() -> sh.Model:
    return controlled(sh.samples.pendulum(), sh.samples.pendulum().joints[0].name)


@pytest.fixture(scope="module")
def run(pendulum) -> sh.Result:
    return sh.simulate(pendulum, 1.0, states={"integral": 0.2}, output=0.1, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize(
    "how",
    [{"backend": "loops"}, {"backend": "python"}, {"integrator": "radau"}, {"method": "momentum"}, {"method": "extended"}],
    ids=lambda how: "-".join(how.values()),
)
def test_every_execution_integrates_the_same_states(pendulum, run, how):
    r = sh.simulate(pendulum, 1.0, states={"integral": 0.2}, output=0.1, rtol=1e-10, atol=1e-12, **how)
    assert_close(r.q, run.q, 1e-8)
    assert_close(r.state("integral"), run.state("integral"), 1e-8)
    assert not r.accounted or np.abs(r.energy.defect).max() < 1e-8


def test_the_rate_of_a_state_is_what_its_function_returns(pendulum, run):
    assert run.state("integral")[0] == 0.2
    assert_close(run.dynamics.state_rates(run.q, run.v, run.t)[:, 0], run.quantity("error of pid"), 1e-12)
    fine = sh.simulate(pendulum, 1.0, states={"integral": 0.2}, output=np.linspace(0.0, 1.0, 2001), rtol=1e-10, atol=1e-12)
    integral = 0.2 + np.concatenate(
        [[0.0], np.cumsum(np.diff(fine.t) * (fine.q[1:, 0] + fine.q[:-1, 0]) / 2 - np.diff(fine.t) * TARGET)]
    )
    assert_close(fine.state("integral"), integral, 1e-6)


@pytest.mark.parametrize("backend", ["auto", "loops"])
def test_trajectories_of_a_rollout_start_from_states_of_their_own(pendulum, backend):
    start = [0.0, 0.2, 0.4, -0.1, 0.3]
    found = sh.rollout(pendulum, np.zeros((5, 1)), dt=1e-3, steps=200, states={"integral": start}, backend=backend, every=100)
    for k, z in enumerate(start):
        one = sh.simulate(pendulum, 0.2, q0=[0.0], states={"integral": z}, integrator="rk4", step=1e-3, output=0.1)
        assert_close(found.q[k], one.q, 1e-12)
        assert_close(found.state("integral")[k], one.state("integral"), 1e-12)
    assert_close(found[1].quantity("error of pid"), found.q[1, :, 0] - TARGET, 1e-15)
    on = sh.rollout(pendulum, **found.state(1), dt=1e-3, steps=100, backend=backend, every=100)
    assert_close(on.state("integral")[:, 1], found.state("integral")[:, 2], 1e-15)


def test_a_closed_mechanism_has_states_too():
    m = controlled(sh.samples.four_bar(), sh.samples.four_bar().joints[0].name)
    runs = [sh.simulate(m, 0.5, q0={"A": 0.8}, output=0.1, **how) for how in ({}, {"backend": "loops"}, {"integrator": "radau"})]
    for r in runs[1:]:
        assert_close(r.state("integral"), runs[0].state("integral"), 1e-6)
    assert np.abs(runs[0].energy.defect).max() < 1e-6


def test_going_on_from_the_end_is_going_on(pendulum):
    whole = sh.simulate(pendulum, 0.4, output=0.2, rtol=1e-11, atol=1e-13)
    half = sh.simulate(pendulum, 0.2, output=0.2, rtol=1e-11, atol=1e-13)
    rest = sh.simulate(pendulum, 0.2, t0=0.2, output=0.2, rtol=1e-11, atol=1e-13, **half.state())
    assert_close(rest.q[-1], whole.q[-1], 1e-9)
    assert_close(rest.state("integral")[-1], whole.state("integral")[-1], 1e-9)


def test_an_event_reads_and_resets_a_state(pendulum):
    def reset(state):
        state.states["integral"] = 0.0

    event = sh.Event(lambda on: on.state("integral") - 0.15, reset, "falling", "full")
    r = sh.simulate(pendulum, 1.0, states={"integral": 0.2}, events=event, output=0.01)
    (fired,) = r.events
    after = r.t > fired.t
    assert abs(r.state("integral")[~after][-1] - 0.15) < 0.01 and abs(r.state("integral")[after][0]) < 0.01


def test_sensitivities_go_through_states(pendulum):
    m = pendulum.copy()
    k = m.add_parameter("gain", 1.0)
    joint = m.joints[0].name
    m.add_force(lambda on: on.torque(joint, -k * on.state("integral")), name="more")
    options = {"states": {"integral": 0.2}, "output": 0.25, "rtol": 1e-11, "atol": 1e-13}
    r = sh.simulate(m, 0.5, sensitivities=["gain"], **options)
    ends = [sh.simulate(m, 0.5, parameters={"gain": 1.0 + h}, **options).q for h in (1e-4, -1e-4)]
    assert_close(r.sensitivity("gain").q, (ends[0] - ends[1]) / 2e-4, 1e-6)


def test_the_eigenvalues_are_those_of_the_controlled_pendulum():
    m = sh.Model("rotor", gravity=(0.0, 0.0, 0.0))
    m.add_body("disc", 1.0, inertia=(0.5, 0.5, 0.5))
    m.add_joint("axle", sh.Revolute("y"), "ground", "disc")
    system = sh.linearize(controlled(m, "axle"), {"axle": TARGET}, states={"integral": 0.0}, outputs=["q.axle", "integral"])
    assert system.steadiness == "equilibrium" and system.state_names == ["q.axle", "v.axle", "integral"]
    assert_close(np.sort_complex(system.eigenvalues), np.sort_complex(np.roots([0.5, 2.0, 20.0, 15.0])), 1e-10)
    assert_close(system.C, [[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]], 1e-12)
    with pytest.warns(sh.LinearizationWarning, match="state 'integral' changes there|accelerates"):
        sh.linearize(m, {"axle": 0.0})


def test_an_equilibrium_holds_states_and_says_what_they_would_do(pendulum):
    found = sh.equilibrium(pendulum, states={"integral": 0.0})
    assert abs(found.state_rates["integral"] - (found.q[0] - TARGET)) < 1e-12 < abs(found.q[0] - TARGET)
    assert "state 'integral', held at 0, changes here" in found.summary()


def test_a_state_is_plotted_in_its_unit(run, tmp_path):
    figure = run.plot("integral", "error of pid", path=tmp_path / "states.png")
    assert [axis.get_ylabel() for axis in figure.axes] == ["value, rad s", "angle, rad"]


def test_states_are_in_files(pendulum, run, tmp_path):
    run.save(tmp_path / "run.nc")
    back = sh.Result.load(tmp_path / "run.nc", pendulum)
    assert np.array_equal(back.state("integral"), run.state("integral")) and np.array_equal(
        back.energy.kinetic, run.energy.kinetic
    )
    run.save(tmp_path / "run.csv")
    table, units = run.to_dataframe(), run.model.structure.units_of_states
    assert np.array_equal(table["state integral"], run.state("integral"))
    assert table.attrs["units"].get("state integral", "") == units["integral"]
    with (tmp_path / "run.csv").open() as file:
        column = file.readline().split(",").index("state integral")
        assert [float(line.split(",")[column]) for line in file] == run.state("integral").tolist()
    m = sh.samples.pendulum()
    joint = m.joints[0].name
    m.add_state("integral", 0.1, sh.SignalFormula(f"q.{joint} - 0.3 - state.integral"), "rad s")
    m.add_force(sh.BristleFriction(joint, coulomb=0.2), name="rub")
    again = sh.loads(sh.dumps(m))
    assert again.states == m.states == {"rub.bristle": 0.0, "integral": 0.1}
    q, v, p = [0.4], [0.2], {"integral": 0.7, "rub.bristle": 1e-5}
    assert_close(
        sh.Dynamics(again, backend="python").state_rates(q, v, parameters=p),
        sh.Dynamics(m, backend="python").state_rates(q, v, parameters=p),
        1e-15,
    )


# --- friction that sticks -----------------------------------------------------------------------------------------------------
def block(**friction) -> sh.Model:
    m = sh.Model("block", gravity=(9.81 * np.sin(0.3), 0.0, -9.81 * np.cos(0.3)))
    m.add_body("block", 10.0, inertia=(1.0, 1.0, 1.0))
    m.add_joint("x", sh.Prismatic("x"), "ground", "block")
    m.add_force(sh.BristleFriction("x", **friction), name="friction")
    return m


def test_a_block_on_an_incline_holds_for_a_thousand_seconds():
    weight, load = 98.1 * np.cos(0.3), 98.1 * np.sin(0.3)
    m = block(coulomb=0.4 * weight)
    r = sh.simulate(m, 1000.0, integrator="radau", output=10.0)
    assert np.abs(r.q[1:] - r.q[1]).max() < 1e-12, "it creeps"
    assert abs(r.state("friction.bristle")[-1] - 1e-4 * load / (0.4 * weight)) < 1e-12, "the bristles carry the load"
    assert np.abs(r.energy.defect).max() < 1e-9
    slides = sh.simulate(block(coulomb=0.25 * weight), 1.0, output=1.0, integrator="radau").v[-1, 0]
    assert abs(slides - (load - 0.25 * weight) / 10.0) < 0.02, "a load above the sliding force slides"


def test_every_row_is_that_of_the_method_that_made_its_step():
    """More rows than the buffers hold, and changes of the integrator between them."""
    m = sh.Model("pulled", gravity=(0.0, 0.0, 0.0))
    m.add_body("block", 1.0, inertia=(1.0, 1.0, 1.0))
    m.add_joint("x", sh.Prismatic("x"), "ground", "block")
    m.add_force(lambda on: on.torque("x", on.t), name="pull")
    m.add_force(sh.BristleFriction("x", coulomb=4.0, static=5.0, stribeck=0.001), name="friction")
    r = sh.simulate(m, 6.0, output=0.001)
    other = sh.simulate(m, 6.0, output=0.001, integrator="radau")
    assert len(r.integrator_switches) > 1 and np.abs(r.q - other.q).max() < 1e-6


def test_stick_slip_has_the_period_of_a_block_that_is_pulled():
    """Stick for 2(S − C)/(kV), slip for 2(π − atan((S − C)ω/(kV)))/ω: rigid sticking, the dip over at once.

    Bristles slip a little before the whole force S is reached: the period is 1.3 % shorter."""
    m = sh.Model("pulled", gravity=(0.0, 0.0, 0.0))
    m.add_body("block", 1.0, inertia=(1.0, 1.0, 1.0))
    m.add_joint("x", sh.Prismatic("x"), "ground", "block")
    m.add_force(sh.BristleFriction("x", coulomb=1.0, static=1.5, stribeck=1e-3, presliding=1e-6), name="friction")
    m.add_force(lambda on: on.torque("x", 2.0 * (0.1 * on.t - on.q("x"))), name="pull")
    r = sh.simulate(m, 32.0, integrator="radau", output=0.005)
    v = r.v[:, 0]
    starts = r.t[1:][(v[1:] > 0.02) & (v[:-1] <= 0.02)]
    w = np.sqrt(2.0)
    period = 2 * 0.5 / 0.2 + 2.0 * (np.pi - np.arctan(0.5 * w / 0.2)) / w
    assert len(starts) >= 3 and np.abs(np.diff(starts) / period - 1.0).max() < 0.02


@pytest.mark.parametrize(
    ("do", "words"),
    [
        (lambda m: m.add_state("integral", 0.0, lambda on: 0.0), "already"),
        (lambda m: m.add_state("more", 0.0, 3.0), "rate is a function"),
        (lambda m: sh.simulate(m, 0.1, states={"integrl": 0.0}), "no state 'integrl'"),
        (lambda m: sh.simulate(m, 0.1, parameters={"integral": 0.0}), "states={'integral': …}"),
        (lambda m: (m.add_force(lambda on: on.rate("integral", 1.0)), m.structure), "theirs to set"),
        (lambda m: (m.add_constraint(lambda on: on.state("integral")), sh.Dynamics(m)), "constraints"),
        (lambda m: (m.add_force(lambda on: on.state("other")), m.structure), "no state 'other'"),
        (lambda m: m.with_parameters({"integral": 0.0}), "give states={'integral': …} to the call"),
        (lambda m: sh.linearize(m, parameters={"integral": 0.0}), "give states={'integral': …} to the call"),
        (
            lambda m: (m.add_state("x", 0.0, lambda on: None), m.structure),
            "state 'x': its rate must return numbers, got None",
        ),
        (lambda m: (m.add_state("x", 0.0, lambda on: on.q("none")), m.structure), "state 'x' cannot be traced"),
        (lambda m: (m.add_force(lambda on: on.torque("hinge", None), name="f"), m.structure), "force 'f' must return numbers"),
        (lambda m: (m.add_force(lambda on: np.linalg.norm([on.t, 0.0], np.inf)), m.structure), "sharnir.sqrt(x*x"),
        (lambda m: m.add_state("hinge", 0.0, lambda on: 0.0), "there is a joint of that name"),
        (lambda m: m.add_state(m.bodies[0].name, 0.0, lambda on: 0.0), "there is a body of that name"),
        (lambda m: m.add_state("pid", 0.0, lambda on: 0.0), "there is a force of that name"),
        (lambda m: m.add_body("integral", 1.0), "there is a state 'integral' already"),
    ],
)
def test_what_is_wrong_with_a_state_is_said(pendulum, do, words):
    with pytest.raises(sh.SharnirError, match=re.escape(words)):
        do(pendulum.copy())


def test_a_clutch_turns_the_difference_of_speeds_into_heat():
    """Momentum is kept: heat = ½ J₁J₂/(J₁ + J₂) (Δω)²; then the discs stick."""
    m = sh.Model("clutch", gravity=(0.0, 0.0, 0.0))
    m.add_body("engine", 1.0, inertia=(0.3, 0.3, 0.3))
    m.add_body("load", 1.0, inertia=(0.7, 0.7, 0.7))
    m.add_joint("shaft", sh.Revolute("z"), "ground", "engine")
    m.add_joint("discs", sh.Revolute("z"), "engine", "load")
    m.add_force(sh.BristleFriction("discs", coulomb=5.0, settling=0.002), name="clutch")
    r = sh.simulate(m, 2.0, v0={"shaft": 10.0, "discs": -10.0}, output=0.1, integrator="radau")
    heat = 0.5 * 0.3 * 0.7 / 1.0 * 10.0**2
    assert_close(r.speed("shaft")[-1], 0.3 * 10.0, 1e-7)
    assert abs(r.speed("discs")[-1]) < 1e-7
    assert abs(-r.energy.work["clutch"][-1] - heat) < 1e-5 * heat, "the rest is in the bent bristles"
    assert np.abs(r.energy.defect).max() < 1e-6
