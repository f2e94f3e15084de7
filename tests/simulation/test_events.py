"""Events: found where they are, in the order of time, and what their actions change is changed."""

from __future__ import annotations

import math

import numpy as np
import pytest

import sharnir as sh
from mechanisms import floating, floating_start, hinged
from states import assert_close

pytestmark = pytest.mark.xdist_group("integrators")
G = 9.81


def ball(parameter: bool = False) -> sh.Model:
    """A ball that falls from 1 m; with a parameter: a wind that pushes it sideways."""
    m = sh.Model("ball", gravity=(0.0, 0.0, -G))
    m.add_body("ball", mass=2.0)
    m.add_joint("place", sh.Translation(), "ground", "ball")
    if parameter:
        m.add_parameter("wind", 0.0)
        m.add_force(lambda on: on.push("ball", (on.parameter("wind"), 0.0, 0.0)), name="wind")
    return m


HEIGHT = {"q0": {"place": (0.0, 0.0, 1.0)}}


def floor(action="record", direction="falling", name="floor"):
    return sh.Event(lambda on: on.q("place")[2], action, direction, name)


@pytest.mark.parametrize("options", [{}, {"backend": "loops"}, {"backend": "python"}, {"method": "momentum"}], ids=str)
def test_events_are_found_on_every_backend(options):
    event = sh.Event(lambda on: on.point("bar", (1.0, 0.0, 0.0))[0][0] - 0.5, name="passes x = 0.5")
    r = sh.simulate(hinged(), 1.0, events=event, **options)
    (found,) = r.events
    assert found.name == "passes x = 0.5" and abs(found.q[0] + math.pi / 3.0) < 1e-8
    assert_close(found.v, [-math.sqrt(2.0 * G * math.sin(math.pi / 3.0))], 1e-7)


def test_direction_picks_crossings():
    counts = {}
    for direction in ("rising", "falling", "both"):
        r = sh.simulate(hinged(), 5.0, events=[sh.Event(lambda on: on.q("hinge") + math.pi / 2, "record", direction)])
        counts[direction] = len(r.events)
        speeds = [float(e.v[0]) for e in r.events]
        assert direction == "both" or all((v > 0.0) == (direction == "rising") for v in speeds)
    assert counts["both"] == counts["rising"] + counts["falling"] and min(counts.values()) > 1


def test_several_events_come_in_the_order_of_time():
    marks = [sh.Event(lambda on, h=h: on.q("place")[2] - h, name=f"{h} m") for h in (0.2, 0.8, 0.5)]
    r = sh.simulate(ball(), 0.45, events=marks, **HEIGHT)
    assert [e.name for e in r.events] == ["0.8 m", "0.5 m", "0.2 m"]
    assert_close([e.t for e in r.events], [math.sqrt(2.0 * (1.0 - h) / G) for h in (0.8, 0.5, 0.2)], 1e-9)


def test_stop_ends_the_run_at_the_event():
    r = sh.simulate(ball(), 2.0, events=[floor("stop")], **HEIGHT)
    assert r.status == "stopped" and abs(r.t[-1] - math.sqrt(2.0 / G)) < 1e-10
    assert abs(r.coordinate("place")[-1, 2]) < 1e-10


@pytest.mark.parametrize("method", ["separate", "momentum"])
def test_a_ball_bounces(method):
    def bounce(moment):
        moment.v[2] = -0.8 * moment.v[2]

    r = sh.simulate(ball(), 1.5, method=method, events=[floor(bounce)], **HEIGHT)
    first = math.sqrt(2.0 / G)
    assert_close([e.t for e in r.events], [first, first * 2.6, first * (2.6 + 1.28)][: len(r.events)], 1e-9)
    assert len(r.events) >= 2 and r.coordinate("place")[:, 2].min() > -1e-9


def test_an_action_may_move_the_mechanism():
    def lift(moment):
        moment.q[2] += 1.0

    r = sh.simulate(ball(), 0.6, events=[floor(lift)], **HEIGHT)
    assert_close(r.q[-1, 2], 1.0 + 1.0 - 0.5 * G * 0.36, 1e-9)


@pytest.mark.parametrize("way", [{"backend": "python"}, {"method": "extended"}, {"backend": "loops"}], ids=str)
def test_changed_parameters_reach_forces_on_every_execution(way):
    """They were ignored by the interpreter and by matrix forms."""

    def blow(state):
        state.parameters["wind"] = 4.0

    r = sh.simulate(ball(True), 0.5, events=[sh.Event(lambda on: on.t - 0.3, blow)], output=0.5, **way, **HEIGHT)
    assert_close(r.q[-1, 0], 0.2**2, 1e-9)


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_an_action_may_change_parameters_and_the_result_remembers(sign):
    def blow(moment):
        moment.parameters["wind"] = 4.0

    event = sh.Event(lambda on: on.t - sign * 0.35, blow, name="wind rises")
    r = sh.simulate(ball(True), sign * 1.0, events=[event], **HEIGHT)
    later = np.abs(r.t) > 0.35
    assert_close(r.acceleration("place")[:, 0], np.where(later, 2.0, 0.0), 1e-12)
    assert_close(r.parameters[:, 0], np.where(later, 4.0, 0.0), 1e-15)
    assert_close(r.q[-1, 0], 0.65**2, 1e-9)
    assert np.abs(r.energy.defect).max() < 1e-8
    assert_close(r.force_power("wind"), np.where(later, 4.0 * r.v[:, 0], 0.0), 1e-12)


def test_actions_see_speeds_and_points_of_any_body():
    seen = []
    event = sh.Event(lambda on: on.point("hand", (0.1, 0.0, 0.0))[1][2], lambda moment: seen.append(moment), name="turns")
    r = sh.simulate(floating(), 0.5, events=[event], **floating_start())
    assert len(seen) == len(r.events) > 0
    assert all(np.array_equal(moment.q, e.q) for moment, e in zip(seen, r.events, strict=True))


# --- refusals ---------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(("when", "says"), [
    (lambda on: 1.0 if on.q("hinge") > 0.0 else -1.0, "select"), (lambda on: None, "numbers"), (lambda on: (1.0, 2.0), "numbers"),
    (lambda on: on.q("knee"), "'hinge'"), (lambda on: on.torque("hinge", 1.0) or on.t, "'bad': .* must not apply forces"),
    (lambda on: math.sin(on.q("hinge")), "event 'bad'"),
], ids=["branch", "nothing", "two numbers", "no such joint", "pushes", "math"])  # fmt: skip
def test_functions_that_are_none_are_refused_by_name(when, says):
    with pytest.raises(sh.SharnirError, match=says):
        sh.simulate(hinged(), 1.0, events=[sh.Event(when, name="bad")])


def test_events_that_make_no_sense_are_refused():
    for options in ({"direction": "up"}, {"action": "explode"}):
        with pytest.raises(sh.StateError, match="event 'x'"):
            sh.Event(lambda on: on.t, name="x", **options)
    with pytest.raises(sh.StateError, match="function"):
        sh.Event(1.0)


@pytest.mark.parametrize(("action", "says"), [
    (lambda m: setattr(m, "q", np.zeros(3)), "bad state"), (lambda m: setattr(m, "v", np.array([np.nan])), "bad state"),
    (lambda m: m.parameters.update(wind=1.0), "no parameter 'wind'"),
], ids=["shape", "nan", "parameter"])  # fmt: skip
def test_actions_that_break_the_state_are_named(action, says):
    event = sh.Event(lambda on: on.q("hinge") + 1.0, action, name="break")
    with pytest.raises(sh.SimulationError, match=f"event 'break'.*{says}"):
        sh.simulate(hinged(), 1.0, events=[event])


@pytest.mark.parametrize("options", [{}, {"backend": "python"}, {"integrator": "cvode-adams"}], ids=str)
def test_an_error_in_an_action_leaves_the_motion_until_then(options):
    event = sh.Event(lambda on: on.q("hinge") + 1.0, lambda m: 1 / 0, name="break")
    with pytest.raises(sh.SimulationError, match="the action of event 'break' raised ZeroDivisionError: division") as caught:
        sh.simulate(hinged(), 1.0, events=event, **options)
    r = caught.value.result
    assert isinstance(caught.value.__cause__, ZeroDivisionError)
    assert r.status == "raised" and len(r) > 10 and abs(r.coordinate("hinge")[-1] + 1.0) < 1e-6
    assert r.t[-1] == caught.value.time
    assert sh.simulate(hinged(), 1.0, events=event, on_failure="return", **options).t[-1] == r.t[-1]


@pytest.mark.parametrize("answer", ["stop", (np.zeros(1), np.zeros(1)), False], ids=str)
def test_an_action_that_returns_something_is_refused(answer):
    event = sh.Event(lambda on: on.q("hinge") + 1.0, lambda m: answer, name="end")
    with pytest.raises(sh.SimulationError, match=r"the action of event 'end' returned .* add an event of action 'stop'"):
        sh.simulate(hinged(), 1.0, events=event)
    sh.simulate(hinged(), 1.0, events=sh.Event(lambda on: on.q("hinge") + 1.0, lambda m: m))  # the state itself is no surprise


# --- functions that are no numbers --------------------------------------------------------------------------------------------
FALL = math.sqrt(2.0 / G)
"""When the ball is on the floor."""


@pytest.mark.parametrize("options", [
    {}, {"output": None}, {"integrator": "rk4", "step": 0.01}, {"backend": "loops"},
    {"backend": "python", "integrator": "dopri5"}, {"integrator": "cvode-bdf"},
], ids=str)  # fmt: skip
def test_an_event_that_is_not_a_number_ends_the_run_where_it_was_one_last(options):
    event = sh.Event(lambda on: sh.sqrt(on.q("place")[2]) + 1.0, name="root")
    passed = sh.Event(lambda on: on.q("place")[2] - 0.5, name="half way")
    with pytest.raises(sh.SimulationError, match="the function of event 'root' is not a number") as caught:
        sh.simulate(ball(), 1.0, **HEIGHT, events=[passed, event], **options)
    r = caught.value.result
    assert r.status == "event_undefined" and [found.name for found in r.events] == ["half way"]
    near = 0.1 if "cvode" in options.get("integrator", "") else 1e-9
    assert abs(r.t[-1] - FALL) < near and r.t[-1] <= FALL + 1e-12 and np.isfinite(r.q).all() and (np.diff(r.t) > 0.0).all()


def test_an_event_that_is_not_a_number_at_the_start_is_named():
    with pytest.raises(sh.SimulationError, match=r"the function of event 2 is not a number .* from t = 3 on") as caught:
        sh.simulate(ball(), 1.0, t0=3.0, events=[floor(), sh.Event(lambda on: sh.log(on.q("place")[2] - 1.0))])
    assert len(caught.value.result) == 1


def test_backward_in_time_too():
    event = sh.Event(lambda on: sh.sqrt(on.t - 0.3), name="root")
    r = sh.simulate(ball(), -1.0, t0=1.0, events=event, on_failure="return")
    assert r.status == "event_undefined" and abs(r.t[-1] - 0.3) < 1e-12 and "event 'root'" in r.message


@pytest.mark.parametrize("stabilisation", ["projection", "partitioning", "baumgarte", "ggl"])
def test_an_action_that_leaves_the_constraints_is_followed_from_the_nearest_state_on_them(stabilisation):
    """Whatever the stabilisation and the tolerance: a speed of one joint is changed, the others must follow at once."""
    m = sh.samples.four_bar(0.5, 1.0, 0.8, 0.9)

    def kick(state):
        state.v[0] += 2.0

    def end(**options):
        start = {"q0": {"A": 1.0, "B": -0.8, "C": 1.6}, "fixed": ["A"], "v0": {"A": 1.0}, "output": 0.3}
        return sh.simulate(m, 0.3, events=sh.Event(lambda on: on.t - 0.1, kick), **start, **options).q[-1]

    expected = end(stabilisation="ggl", rtol=1e-10, atol=1e-12)
    assert np.abs(end(stabilisation=stabilisation) - expected).max() < 1e-6
    assert np.abs(end(stabilisation=stabilisation, rtol=1e-5, atol=1e-7) - expected).max() < 1e-3


def latch() -> sh.Model:
    """Two pendulums on one axis that a parameter ties together."""
    m = sh.Model("latch", gravity=(0.0, -9.81, 0.0))
    m.add_parameter("latched", 0.0)
    for name in "AB":
        m.add_body(name.lower(), mass=1.0, com=(0.5, 0.0, 0.0), inertia=(0.1, 0.1, 0.1))
        m.add_joint(name, sh.Revolute("z", damping=0.1), "ground", name.lower())
    m.add_constraint(lambda on: on.parameter("latched") * (on.q("A") - on.q("B")), "latch")
    return m


@pytest.mark.parametrize("output", [0.01, None, [1.2]])
def test_what_an_event_takes_from_the_motion_is_its_entry_in_the_account(output):
    """A latch takes the energy of the relative motion: half the reduced inertia times the square of its speed."""

    def close(state):
        state.parameters["latched"] = 1.0

    event = sh.Event(lambda on: on.q("A") - on.q("B"), close, name="catch")
    r = sh.simulate(latch(), 1.2, q0={"A": 0.5, "B": -1.0}, output=output, events=event, rtol=1e-11, atol=1e-12)
    before = sh.simulate(latch(), r.events[0].t, q0={"A": 0.5, "B": -1.0}, rtol=1e-11, atol=1e-12)
    taken = 0.5 * 0.5 * (0.1 + 0.5**2) * (before.v[-1, 0] - before.v[-1, 1]) ** 2
    assert r.energy.work["event catch"][-1] == pytest.approx(-taken, rel=1e-7) and taken > 1.0
    assert np.abs(r.energy.defect).max() < 1e-7


def test_changes_of_parameters_between_steps_are_in_the_account():
    m = latch()
    m.add_force(sh.JointSpring("A", m.add_parameter("k", 0.0)))
    sim = sh.Simulation(m, q0={"A": 0.5}, rtol=1e-11, atol=1e-12)
    sim.step(0.1)
    angle = sim.state.coordinate("A")
    sim.parameters = {"k": 20.0}
    sim.step(0.1)
    e = sim.result().energy
    assert e.work["Simulation"][-1] == pytest.approx(10.0 * angle**2, rel=1e-9) and np.abs(e.defect).max() < 1e-8
