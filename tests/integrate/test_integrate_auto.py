"""'auto': the same bits as 'dop853' where nothing is stiff, 'radau' where it is, and runs that end where nothing else would."""

from __future__ import annotations

import numpy as np
import pytest

import sharnir as sh
from integration_problems import ARENSTORF, ARENSTORF_PERIOD, system, van_der_pol
from sharnir.errors import IntegrationError
from sharnir.integrate import Event, from_python, from_traced, run, switching

pytestmark = pytest.mark.xdist_group("integrators")  # on one worker: each is compiled once

TIGHT = {"rtol": 1e-8, "atol": 1e-10}
MU = np.array([1000.0])


@pytest.fixture(scope="module")
def relaxation():
    """Van der Pol's equation: stiff, but for short bursts; crossings of zero as events."""
    return from_traced(van_der_pol, 2, parameters=MU, events=lambda t, x, p: [x[0]])


def stiff_for_a_while(t, x):
    """Its solution is (cos t, -sin t) whatever the rate, which is large between 3 and 6."""
    return [-sh.select((t - 3) * (t - 6) < 0, 1e6, 1.0) * (x[0] - sh.cos(t)) - sh.sin(t), -x[0]]


@pytest.fixture(scope="module")
def for_a_while():
    return from_traced(stiff_for_a_while, 2, events=lambda t, x: [x[0] - 0.5])


@pytest.fixture(scope="module")
def relay():
    """A spring with dry friction as a jump: it comes to rest at x = 0.1, where the jump holds it."""
    return from_traced(lambda t, x: [x[1], -10 * x[0] - 2 * sh.select(x[1] > 0, 1.0, -1.0)], 2)


def same(a, b):
    return np.array_equal(a.t, b.t) and np.array_equal(a.x, b.x) and a.statistics == b.statistics


def test_where_nothing_is_stiff_it_is_dop853_bit_for_bit_and_radau_is_not_made_ready():
    for name, x0, t1 in (("arenstorf", ARENSTORF, ARENSTORF_PERIOD), ("oscillator", [1.0, 0.0], 1000.0)):
        problem = system(name)
        auto, explicit = (run(problem, x0, 0, t1, method, **TIGHT) for method in ("auto", "dop853"))
        assert same(auto, explicit) and auto.switches == [] and auto.method == "auto"
        rows = {"times": np.linspace(0, t1, 50)}
        assert same(run(problem, x0, 0, t1, **rows), run(problem, x0, 0, t1, "dop853", **rows))
    fresh = from_traced(lambda t, x: [-x[0]], 1)
    run(fresh, [1.0], 0, 5)
    assert [key[0] for key in fresh.idle] == ["dop853"]


def test_van_der_pol_goes_forth_and_back_with_the_rows_events_and_end_of_radau(relaxation):
    times = np.linspace(0, 2000, 41)
    auto, implicit = (run(relaxation, [2, 0], 0, 2000, method, times=times, **TIGHT) for method in ("auto", "radau"))
    names = [(one.before, one.after) for one in auto.switches]
    assert names == [("dop853", "radau"), ("radau", "dop853")] * 2 + [("dop853", "radau")]
    assert np.array_equal(auto.t, times) and np.abs(auto.x - implicit.x).max() < 1e-5
    assert auto.statistics.steps < implicit.statistics.steps and auto.statistics.jacobians > 0
    assert np.allclose([e.t for e in auto.events], [e.t for e in implicit.events], rtol=1e-7) and len(auto.events) == 2
    assert same(auto, run(relaxation, [2, 0], 0, 2000, times=times, **TIGHT)), "a run repeated is the same run"
    steps = run(relaxation, [2, 0], 0, 2000, **TIGHT)
    assert (np.diff(steps.t) > 0).all() and len(steps.t) == steps.statistics.steps + 1, "a switch writes no row twice"


def test_a_stiff_stretch_is_crossed_with_radau_and_events_are_found_in_both_forward_and_interpreted(for_a_while):
    problem = for_a_while
    result = run(problem, [1, 0], 0, 10, events=[Event(name="half")], **TIGHT)
    (a, to_radau), (b, to_dop853) = ((one.t, one.after) for one in result.switches)
    assert (to_radau, to_dop853) == ("radau", "dop853") and 3 < a < 3.01 and 6 < b < 8 and result.statistics.steps < 1000
    assert np.allclose([e.t for e in result.events], [np.pi / 3, 5 * np.pi / 3, 7 * np.pi / 3], atol=1e-5)
    assert np.abs(result.final_x - [np.cos(10), -np.sin(10)]).max() < 1e-5
    plain = run(problem, [1, 0], 0, 10, compiled=False, **TIGHT)
    assert [one[1:] for one in plain.switches] == [one[1:] for one in result.switches]
    assert np.allclose(plain.final_x, result.final_x, atol=1e-9)


def test_backward_in_time_what_grows_forward_is_stiff():
    problem = from_python(lambda t, x: [1e6 * (x[0] - np.cos(t)) - np.sin(t)], 1)
    result = run(problem, [np.cos(1.0)], 1.0, 0.0, **TIGHT)
    assert [one.after for one in result.switches] == ["radau"] and abs(result.final_x[0] - 1.0) < 1e-6


def test_an_event_that_changes_the_state_restarts_whatever_method_is_at_work():
    problem = from_traced(lambda t, x: [1.0, -1e6 * (x[1] - sh.cos(t))], 2, events=lambda t, x: [x[0] - 1.0])
    back = Event(1, "change", lambda t, x: np.array([0.0, 5.0]))
    result = run(problem, [0.0, 1.0], 0, 3.5, events=[back], **TIGHT)
    assert [round(e.t, 9) for e in result.events] == [1, 2, 3] and [one.after for one in result.switches][:1] == ["radau"]
    assert abs(result.final_x[1] - np.cos(3.5)) < 1e-5 and result.statistics.steps < 1000


def test_a_problem_too_large_for_dense_matrices_stays_with_dop853_and_says_so(monkeypatch, for_a_while):
    monkeypatch.setattr(switching, "LARGEST", 1)
    result = run(for_a_while, [1, 0], 0, 3.1, **TIGHT)
    assert result.ok and result.switches == [] and "stiff from t = 3.0" in result.message and "'radau'" in result.message
    assert run(for_a_while, [1, 0], 0, 2.9, **TIGHT).message == "reached t = 2.9"


@pytest.mark.parametrize("method", ["auto", "adams", "radau"])
def test_chatter_ends_the_run_with_what_was_computed_and_where_it_jumps(method, relay):
    with pytest.raises(IntegrationError, match="number 1 of the state chatters across a jump") as caught:
        run(relay, [0.3, 0.0], 0, 1000, method, max_steps=10_000, **TIGHT)
    found = caught.value.trajectory
    assert found.status == "chattering" and found.chatter.index == 1 and abs(found.final_x[0] - 0.1) < 1e-6
    assert np.allclose(sorted(found.chatter.rates), [-3, 1], atol=1e-6) and found.t[-1] > 0.99


def test_slow_runs_that_do_not_chatter_go_on():
    """Fast vibration; a relay that swings about a jump, far wider than the tolerance; a slope as steep as numbers allow for."""
    limit = {"max_steps": 4000, **TIGHT}
    vibration = from_traced(lambda t, x: [x[1], -1e14 * x[0]], 2)
    assert run(vibration, [1e-3, 0.0], 0, 1e3, "dop853", **limit).status == "max_steps"
    bang = from_traced(lambda t, x: [x[1], -1e8 * sh.select(x[0] > 0, 1.0, -1.0)], 2)
    assert run(bang, [1e-2, 0.0], 0, 1e5, "dop853", **limit).status == "max_steps"
    slope = from_traced(lambda t, x: [x[1], -10 * x[0] - 2 * sh.tanh(x[1] / 1e-10)], 2)
    assert run(slope, [0.3, 0.0], 0, 1e5, "dop853", **limit).status == "max_steps"
    end = run(slope, [0.3, 0.0], 0, 100, max_steps=10_000)
    assert end.ok and end.switches and abs(end.final_x[0] - 0.1) < 1e-4, "and 'auto' integrates it"


def test_seconds_end_a_run_too():
    result = run(system("oscillator"), [1, 0], 0, 1e9, max_seconds=0.1, every=0)
    assert result.status == "max_seconds" and not result.ok and 0 < result.final_t < 1e9 and result.t[-1] <= result.final_t
