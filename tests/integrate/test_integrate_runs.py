"""The driver of a run: events in the order of time, pauses that change nothing, failures that keep what was computed."""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
import threading
from functools import cache

import numpy as np
import pytest

import sharnir as sh
from integration_problems import ADAPTIVE, FIXED, OWN, exact, kepler, oscillator, system
from sharnir.dialect.native import from_python as native_function
from sharnir.errors import IntegrationError, StateError
from sharnir.integrate import Event, System, buffers, from_python, from_traced, run
from sharnir.integrate import run as run_function
from sharnir.integrate.driver import PiecewiseRun
from sharnir.integrate.kernels import state as s
from sharnir.integrate.methods import INTEGRATORS

PARAMETERS = np.array([9.81, 0.8])

pytestmark = pytest.mark.xdist_group("integrators")  # on one worker: each is compiled once


def ball(t, x, p):
    return [x[1], -p[0]]


def height(t, x, p):
    return [x[0]]


@pytest.fixture(scope="module")
def bouncing():
    return from_traced(ball, 2, events=height, parameters=PARAMETERS)


@pytest.fixture(scope="module")
def crossings():
    """x and v of an oscillator as event functions."""
    return from_traced(oscillator, 2, events=lambda t, x: [x[0], x[1]])


def options(method, step=0.05, tolerance=1e-9):
    return {"step": step} if method in FIXED else {"rtol": tolerance, "atol": tolerance}


# --- events --------------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("method", OWN)
def test_an_event_stops_the_run_where_it_happens(method, crossings):
    result = run(crossings, [1, 0], 0, 10, method, events=[Event(action="stop"), Event()], **options(method, 0.01))
    accuracy = {"euler": 0.02, "midpoint": 1e-4}.get(method, 1e-6)
    assert result.status == "stopped" and abs(result.final_t - np.pi / 2) < accuracy
    assert result.t[-1] == result.final_t and abs(result.final_x[0]) < 1e-12
    assert [event.index for event in result.events] == [0]  # v starts at zero: that is no event


def test_events_are_recorded_in_the_order_of_time_and_by_direction(crossings):
    result = run(crossings, [1, 0], 0, 10, rtol=1e-10, atol=1e-10, events=[Event(-1, name="x falls"), Event()])
    times = [event.t for event in result.events]
    assert times == sorted(times) and result.status == "done"
    falls = [event.t for event in result.events if event.index == 0]
    assert np.allclose(falls, [np.pi / 2, 5 * np.pi / 2]) and {e.name for e in result.events if e.index == 0} == {"x falls"}
    assert np.allclose([e.t for e in result.events if e.index == 1], np.pi * np.arange(1, 4))
    rising = run(crossings, [1, 0], 0, 10, events=[Event(1), Event(1)])
    assert np.allclose([e.t for e in rising.events if e.index == 0], [3 * np.pi / 2], atol=1e-4)


def test_several_events_of_one_step_come_in_the_order_of_time():
    steady = from_traced(lambda t, x: [1.0 + 0.0 * x[0]], 1, events=lambda t, x: [x[0] - 0.7, x[0] - 0.3, x[0] - 0.5])
    result = run(steady, [0], 0, 1, "rk4", step=1.0)
    assert [event.index for event in result.events] == [1, 2, 0] and np.allclose([e.t for e in result.events], [0.3, 0.5, 0.7])
    stopped = run(steady, [0], 0, 1, "rk4", step=1.0, events=[Event(), Event(), Event(action="stop")])
    assert [event.index for event in stopped.events] == [1, 2] and abs(stopped.final_t - 0.5) < 1e-15


def test_what_happens_at_one_instant_is_reported_together_and_once():
    twins = from_traced(lambda t, x: [1.0 + 0.0 * x[0]], 1, events=lambda t, x: [x[0] - 0.3, 2.0 * x[0] - 0.6])
    result = run(twins, [0], 0, 1, "rk4", step=1.0, events=[Event(action="change", change=lambda t, x: None), Event()])
    assert sorted(event.index for event in result.events) == [0, 1]


def test_a_root_exactly_at_the_end_of_a_step_fires_once():
    steady = from_traced(lambda t, x: [1.0 + 0.0 * x[0]], 1, events=lambda t, x: [x[0] - 0.5])
    for step in (0.5, 0.25, 0.125):
        result = run(steady, [0], 0, 1, "rk4", step=step)
        assert len(result.events) == 1 and abs(result.events[0].t - 0.5) < 1e-15
    at_the_end = run(steady, [0], 0, 0.5, "rk4", step=0.25)
    assert [event.t for event in at_the_end.events] in ([0.5], []) and at_the_end.status == "done"


@pytest.mark.parametrize("method", ["dop853", "dopri5", "adams", "radau", "rk4"])
def test_a_ball_bounces_at_the_times_of_the_series(method, bouncing):
    """Each flight is 0.8 times the one before; the state is changed at the event and the run goes on."""
    bounce = Event(-1, "change", lambda t, x: np.array([0.0, -PARAMETERS[1] * x[1]]))
    result = run(bouncing, [1, 0], 0, 3, method, events=[bounce], **options(method))
    first = np.sqrt(2 / PARAMETERS[0])
    flights = 2 * first * 0.8 ** np.arange(1, 20)
    expected = first + np.concatenate([[0], np.cumsum(flights)])
    expected = expected[expected < 3]
    assert np.allclose([event.t for event in result.events], expected, atol=1e-7) and result.status == "done"
    assert result.x[:, 0].min() > -1e-9


def test_both_directions_do_not_fire_again_after_a_restart(bouncing):
    bounce = Event(0, "change", lambda t, x: np.array([x[0], -x[1]]))
    result = run(bouncing, [1, 0], 0, 3, events=[bounce])
    assert np.allclose([event.t for event in result.events], np.sqrt(2 / 9.81) * np.array([1, 3, 5]), atol=1e-5)


def test_an_event_changes_a_parameter_of_the_compiled_system():
    p = np.array([1.0])
    drive = from_traced(lambda t, x, p: [p[0]], 1, events=lambda t, x, p: [x[0] - 1.0], parameters=p)

    def reverse(t, x):
        p[0] = -2.0

    result = run(drive, [0], 0, 2, events=[Event(1, "change", reverse)])
    assert abs(result.final_x[0] - (1.0 - 2.0)) < 1e-12 and len(result.events) == 1


def test_rows_at_wanted_times_stop_at_the_event(crossings):
    times = np.linspace(0, 10, 101)
    result = run(crossings, [1, 0], 0, 10, times=times, events=[Event(action="stop"), Event()])
    assert np.array_equal(result.t, times[times < np.pi / 2]) and np.abs(result.x - exact(result.t)).max() < 1e-5


def test_more_looks_find_a_pair_of_roots_within_one_step():
    """A dip below zero between 0.45 and 0.55 of one long step: four looks miss it, forty find both ends."""
    steady = from_traced(lambda t, x: [1.0 + 0.0 * x[0]], 1, events=lambda t, x: [(x[0] - 0.42) * (x[0] - 0.48)])
    assert run(steady, [0], 0, 1, "rk4", step=1.0, looks=4).events == []
    found = run(steady, [0], 0, 1, "rk4", step=1.0, looks=40).events
    assert np.allclose([event.t for event in found], [0.42, 0.48])


def test_events_run_backward(crossings):
    result = run(crossings, [1, 0], 0, -5, rtol=1e-10, atol=1e-10, events=[Event(), Event(action="stop")])
    assert np.allclose([event.t for event in result.events], [-np.pi / 2, -np.pi])


# --- rows ----------------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("method", OWN)
def test_every_step_every_tenth_and_the_ends_alone(method):
    all_rows = run(system("oscillator"), [1, 0], 0, 5, method, **options(method))
    tenth = run(system("oscillator"), [1, 0], 0, 5, method, every=10, **options(method))
    ends = run(system("oscillator"), [1, 0], 0, 5, method, every=0, **options(method))
    n = all_rows.statistics.steps
    assert len(all_rows.t) == n + 1 and all_rows.t[0] == 0.0 and all_rows.t[-1] == 5.0
    assert np.array_equal(tenth.t, all_rows.t[[*range(0, n, 10), n]])
    assert np.array_equal(ends.x, all_rows.x[[0, -1]])


def test_a_million_steps_need_no_more_memory_than_their_rows():
    pieces = PiecewiseRun(system("oscillator"), INTEGRATORS["rk4"], _request(every=100_000), True, None)
    result = pieces.run(None, (np.inf, np.inf))
    assert result.statistics.steps == 1_000_000 and len(result.t) == 11
    assert np.abs(result.x[-1] - exact(1000.0)).max() < 1e-9


def _request(**changes):
    from sharnir.integrate.request import Request

    values = {"x0": [1, 0], "t0": 0, "t1": 1000, "rtol": 1e-6, "atol": 1e-9, "step": 1e-3, "first_step": None, "max_step": np.inf}
    values |= {"times": None, "every": 1, "events": (), "looks": 4} | changes
    return Request(system("oscillator"), method=INTEGRATORS["rk4"], **values)


def test_fixed_steps_land_on_the_end_and_do_not_drift():
    result = run(system("oscillator"), [1, 0], 0, 1, "rk4", step=0.3)
    assert np.array_equal(result.t, [0, 0.3, 0.6, 0.3 * 3, 1.0])
    assert run(system("oscillator"), [1, 0], 0, 1, "rk4", step=0.1).statistics.steps == 10
    assert run(system("oscillator"), [1, 0], 0.5, 0.5).x.tolist() == [[1, 0]]


@pytest.mark.parametrize("method", OWN)
def test_pauses_change_nothing_to_the_last_bit(method, crossings, monkeypatch):
    """In pieces of one step, with room for four rows, and in one go."""
    times = np.linspace(0, 7, 50)
    for wanted in (None, times):
        whole = run(crossings, [1, 0], 0, 7, method, times=wanted, **options(method))
        with monkeypatch.context() as patch:
            patch.setattr("sharnir.integrate.driver.PIECE", 0.0)
            patch.setattr("sharnir.integrate.driver.ROWS", 4)
            pieces = run(crossings, [1, 0], 0, 7, method, times=wanted, **options(method))
        assert np.array_equal(whole.t, pieces.t) and whole.x.tobytes() == pieces.x.tobytes()
        assert [(e.t, e.index) for e in whole.events] == [(e.t, e.index) for e in pieces.events]
        assert whole.statistics == pieces.statistics


def test_a_projection_keeps_the_state_where_it_belongs():
    """A unit vector turned by a constant rate, normalised after every step, also between steps."""

    def turn(t, x):
        return [-3.0 * x[1], 3.0 * x[0]]

    def normalise(t, x):
        return x / sh.sqrt(x[0] ** 2 + x[1] ** 2)

    projected = from_traced(turn, 2, projection=normalise)
    for method in OWN:
        rows = run(projected, [1, 0], 0, 5, method, times=np.linspace(0, 5, 23), **options(method, 0.05, 1e-4)).x
        assert np.abs(np.hypot(*rows.T) - 1.0).max() < 1e-14
        steps = run(projected, [1, 0], 0, 5, method, **options(method, 0.05, 1e-4)).x
        assert np.abs(np.hypot(*steps.T) - 1.0).max() < 1e-14


# --- failures ------------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("method", OWN)
def test_a_blow_up_ends_in_a_word_and_keeps_what_was_computed(method):
    """x' = x², x = 1/(1 - t): nothing goes beyond t = 1."""
    explode = from_traced(lambda t, x: [x[0] * x[0]], 1, split=0)
    with pytest.raises(IntegrationError) as caught:
        run(explode, [1], 0, 2, method, **options(method, 0.01, 1e-6))
    trajectory = caught.value.trajectory
    assert trajectory.status in ("step_too_small", "not_finite", "no_convergence")
    assert np.isfinite(trajectory.x).all() and len(trajectory.t) > 10
    assert abs(trajectory.final_t - 1.0) < (1e-5 if method in ADAPTIVE else 0.2)
    quiet = run(explode, [1], 0, 2, method, strict=False, **options(method, 0.01, 1e-6))
    assert quiet.status == trajectory.status and np.array_equal(quiet.x, trajectory.x)


@pytest.mark.parametrize("method", OWN)
def test_a_nan_is_never_accepted_and_its_place_is_named(method):
    """The second derivative is not a number beyond t = 1/2."""
    broken = from_traced(lambda t, x: [x[1] * 0.0 + 1.0, sh.sqrt(0.5 - t)], 2)
    result = run(broken, [0, 0], 0, 1, method, strict=False, **options(method, 0.01))
    assert result.status in ("not_finite", "step_too_small") and np.isfinite(result.x).all()
    assert 0.4 < result.final_t <= 0.5 + 1e-9
    if result.status == "not_finite":
        assert "number 1 of the state" in result.message


def test_a_nan_at_the_start_is_named_at_once():
    broken = from_traced(lambda t, x: [x[0], sh.log(x[1])], 2)
    with pytest.raises(IntegrationError, match="number 1 of the state"):
        run(broken, [1, -1], 0, 1)


def test_a_fixed_point_iteration_that_diverges_says_so():
    stiff = from_traced(lambda t, x: [-1000.0 * x[0]], 1)
    with pytest.raises(IntegrationError, match="does not converge"):
        run(stiff, [1], 0, 1, "midpoint", step=0.1)


def test_what_a_python_function_raises_comes_out():
    def wrong(t, x):
        if t > 0.5:
            raise LookupError("no such table")
        return -x

    for compiled in (True, False):
        with pytest.raises(IntegrationError, match="LookupError: no such table") as caught:
            run(from_python(wrong, 1), [1], 0, 1, compiled=compiled)
        assert isinstance(caught.value.__cause__, LookupError) and 0.0 < caught.value.trajectory.final_t < 1.0
    with pytest.raises(IntegrationError, match="must return 2 numbers, got 1"):
        run(from_python(lambda t, x: [1.0], 2), [1, 0], 0, 1)


def test_the_number_of_steps_can_be_limited():
    result = run(system("oscillator"), [1, 0], 0, 100, "rk4", step=0.01, max_steps=123)
    assert result.status == "max_steps" and result.statistics.steps == 123 and not result.ok


def test_control_c_stops_cleanly_with_what_was_computed():
    timer = threading.Timer(0.0, os.kill, (os.getpid(), signal.SIGINT))
    begun = cache(timer.start)  # by the first report: nothing is left to compile then
    result = run(system("oscillator"), [1, 0], 0, 1e6, "rk4", step=1e-4, every=10_000, progress=lambda t, steps: begun())
    timer.join()
    assert result.status == "interrupted" and 0 < result.final_t < 1e6
    assert np.abs(result.x - exact(result.t)).max() < 1e-8


def test_progress_is_told_and_an_exception_in_it_comes_out():
    seen: list[float] = []
    run(system("oscillator"), [1, 0], 0, 100, "rk4", step=1e-4, every=0, progress=lambda t, steps: seen.append(t))
    assert seen == sorted(seen) and len(seen) > 1
    with pytest.raises(IntegrationError, match="ZeroDivisionError"):
        run(system("oscillator"), [1, 0], 0, 100, "rk4", step=1e-3, every=0, progress=lambda t, steps: 1 / 0)


# --- handing in addresses ------------------------------------------------------------------------------------------------------
def test_a_system_of_native_functions_with_a_report():
    """The derivative as two calls, the second of which counts; a batch of three states as one flat vector."""
    b = buffers(6, report=1)

    def rates():
        b.DX[:3] = b.X[3:]

    def accelerations():
        b.DX[3:] = -b.X[:3]
        b.report[0] = 2.0

    natives = [native_function(rates), native_function(accelerations)]
    raw = System(b, natives, rates=natives[:1], split=3)
    x0 = np.array([1, 2, 3, 0, 0, 0.5])
    result = run(raw, x0, 0, 2, "rk4", step=0.01, every=0)
    for k in range(3):
        assert np.allclose(result.final_x[k::3], exact(2.0, x0[k::3]), atol=1e-8)
    assert result.report_total[0] == 2.0 * result.statistics.steps and result.report_peak[0] == 2.0
    cheap = run(raw, x0, 0, 2, "euler", step=0.01, every=0)
    assert cheap.statistics.evaluations == cheap.statistics.steps + 1  # positions by their rates alone


@pytest.mark.parametrize("n", [2, 5, 16])
def test_the_jacobian_is_exact_in_one_graph_or_along_directions(n, monkeypatch):
    """A chain of springs is sparse: one graph. A long formula of all numbers is not: a batch of directions, eight at once."""
    monkeypatch.setattr("sharnir.integrate.system.host_lanes", lambda: 8)

    def chain(t, x):
        return [sh.sin(x[i - 1]) * x[i] if i else -(x[0] ** 2) for i in range(n)]

    def mixing(t, x):
        total = sum(x)
        for k in range(40):
            total = sh.sin(total) + total * x[k % n] / (k + 1)
        return [total * v for v in x]

    x = np.linspace(0.1, 1, n)
    for f in (chain, mixing):
        compiled = from_traced(f, n)
        h = 1e-6
        columns = [(np.array(f(0, x + h * e)) - np.array(f(0, x - h * e))) / (2 * h) for e in np.eye(n)]
        assert np.allclose(compiled.jacobian(0.0, x), np.array(columns, dtype=float).T, rtol=1e-6, atol=1e-6)
    if n == 16:  # the first of the arguments is the number of states
        assert ctypes.c_int64.from_address(int(compiled.problem(True).calls[-1, 1])).value == n


# --- the compiled code ---------------------------------------------------------------------------------------------------------
def test_a_warm_cache_compiles_nothing_and_a_damaged_one_is_made_anew(tmp_path):
    script = (
        "import sharnir.integrate as i, sharnir.dialect.native as n; made = []; whole = n.compile_module;"
        "n.compile_module = lambda *args: made.append(1) or whole(*args);"
        "s = i.from_traced(lambda t, x: [x[0]], 1, jacobian=False);"
        "print(i.run(s, [1], 0, 1, 'rk4', step=0.5).x[-1, 0], len(made))"
    )
    env = {**os.environ, "SHARNIR_CACHE": str(tmp_path)}

    def answer():
        return subprocess.run([sys.executable, "-c", script], env=env, capture_output=True, text=True, check=True).stdout.split()

    cold, warm = answer(), answer()
    assert cold[1] == "1" and warm == [cold[0], "0"]
    for path in (tmp_path / "llvm").iterdir():
        path.write_bytes(path.read_bytes()[:100])
    assert answer() == cold


def test_runs_of_several_threads_do_not_disturb_each_other():
    systems = [from_traced(kepler, 4, jacobian=False) for _ in range(4)]
    results: list = [None] * 4

    def work(k):
        results[k] = run_function(systems[k], [1, 0, 0, 1 + 0.01 * k], 0, 50, rtol=1e-10, atol=1e-10)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for k in range(4):
        alone = run(systems[k], [1, 0, 0, 1 + 0.01 * k], 0, 50, rtol=1e-10, atol=1e-10)
        assert alone.x.tobytes() == results[k].x.tobytes()


def test_the_status_names_of_a_run_are_all_told():
    from sharnir.integrate.driver import STATUS

    assert set(STATUS) == {s.DONE, s.EVENT_STOP, s.STEP_TOO_SMALL, s.NOT_FINITE, s.NO_CONVERGENCE, s.UNDEFINED}


def test_a_run_leaves_nothing_behind_for_the_next():
    """Workspaces are used again; every run is bitwise the run of a fresh system, whatever ran before, also inside another."""

    def make():
        return from_python(lambda t, x: [x[1], -np.sin(x[0]) - 0.1 * x[1]], 2, events=lambda t, x: [x[0]], n_events=1)

    def once(system, name, x0):
        given = {} if name in ADAPTIVE else {"step": 0.01}
        y = run(system, x0, 0.0, 1.5, name, **given)
        return y.t, y.x, y.final_x, y.statistics.steps, [(e.t, *e.x) for e in y.events]

    kept = make()
    for name in OWN:
        for x0 in ([1.0, 0.0], [-0.3, 2.0], [1.0, 0.0]):
            for ours, fresh in zip(once(kept, name, x0), once(make(), name, x0), strict=True):
                np.testing.assert_array_equal(ours, fresh)
    assert 0 < len(kept.idle) <= 8


def test_a_run_inside_a_run_has_arrays_of_its_own():
    system = from_python(lambda t, x: [x[1], -x[0]], 2, events=lambda t, x: [x[0]], n_events=1)
    inner = []

    def change(t, x):
        inner.append(run(system, [0.5, 0.0], 0.0, 1.0, events=[Event()]).final_x)
        return x

    y = run(system, [1.0, 0.0], 0.0, 4.0, rtol=1e-10, atol=1e-12, events=[Event(action="change", change=change)])
    assert len(inner) == 1 and np.allclose(inner[0], [0.5 * np.cos(1.0), -0.5 * np.sin(1.0)], atol=1e-6)
    assert np.allclose(y.final_x, [np.cos(4.0), -np.sin(4.0)], atol=1e-8)


def test_tolerances_have_the_shape_of_the_state():
    with pytest.raises(sh.StateError, match=r"atol: expected a number or \(2,\), got \(3,\)"):
        run(from_python(lambda t, x: x, 2), [1.0, 0.0], 0.0, 1.0, atol=[1e-9] * 3)


def test_slow_functions_of_python_are_looked_after_from_the_first_steps():
    """A bar moves, however few numbers there are and however long each step takes."""
    seen: list[float] = []
    run(from_python(lambda t, x: [-x[0]], 1), [1.0], 0.0, 1.0, "rk4", step=0.01, progress=lambda t, steps: seen.append(t))
    assert seen[0] == pytest.approx(0.16)


def test_pauses_end_steps_exactly_and_those_that_change_nothing_leave_fixed_steps_as_they_are():
    times, seen = [0.0, 0.3, 0.5], []
    plain = run(system("oscillator"), [1, 0], 0, 1, "rk4", step=0.1)

    def note(t, x):
        seen.append((t, x.copy()))

    paused = run(system("oscillator"), [1, 0], 0, 1, "rk4", step=0.1, pauses=times, at_pause=note)
    assert [t for t, _ in seen] == times and np.abs(paused.x - plain.x).max() < 4e-16
    assert len(paused.t) == len(plain.t) and paused.statistics.steps == 10
    flipped = run(system("oscillator"), [1, 0], 0, 1, "rk4", step=0.1, pauses=[0.5], at_pause=lambda t, x: -x)
    assert np.abs(flipped.x[-1] + plain.x[-1]).max() < 4e-16 and len(flipped.t) == 12  # a row before the change, one after
    for pauses, says in (([0.5, 0.5], "strictly"), ([1.0], "fall on its end"), ([2.0], "exceed")):
        with pytest.raises(StateError, match=says):
            run(system("oscillator"), [1, 0], 0, 1, "rk4", step=0.1, pauses=pauses, at_pause=note)
