"""Each integrator has the order it claims, gives the same bits interpreted and compiled, and agrees with references."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from integration_problems import (
    ADAPTIVE,
    ARENSTORF,
    ARENSTORF_PERIOD,
    FIXED,
    OWN,
    arenstorf,
    exact,
    kepler_energy,
    robertson,
    system,
    van_der_pol,
)
from sharnir.errors import MethodError, SharnirError
from sharnir.integrate import INTEGRATORS, from_python, from_traced, integrators, run

OPTIONS = {name: {"step": 0.02} if name in FIXED else {"rtol": 1e-8, "atol": 1e-8} for name in OWN}
ORDERS = {"rk4": 4, "euler": 1, "midpoint": 2}
DENSE = {"rk4": 3, "euler": 1, "midpoint": 2, "dopri5": 4, "dop853": 7, "radau": 3}


# --- order -------------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("method", FIXED)
def test_halving_the_step_divides_the_error_by_two_to_the_order(method):
    errors = [
        np.abs(run(system("oscillator"), [1, 0.5], 0, 3, method, step=h, every=0).x[-1] - exact(3.0, (1, 0.5))).max()
        for h in (0.1, 0.05, 0.025)
    ]
    orders = np.log2(np.array(errors[:-1]) / errors[1:])
    assert np.allclose(orders, ORDERS[method], atol=0.15)


pytestmark = pytest.mark.xdist_group("integrators")  # on one worker: each is compiled once


@pytest.mark.parametrize("method", DENSE)
def test_the_dense_output_has_its_order(method):
    """One step of h from the exact state: the error within it falls as h^(order + 1), capped by the method itself."""
    errors = []
    for h in (0.4, 0.2):
        options = {"step": h} if method in FIXED else {"first_step": h, "rtol": 1e3, "atol": 1e3}
        t = np.linspace(0, h, 9)[1:-1]
        errors.append(np.abs(run(system("oscillator"), [1, 0.5], 0, h, method, times=t, **options).x - exact(t, (1, 0.5))).max())
    assert np.log2(errors[0] / errors[1]) > DENSE[method] + 0.5


@pytest.mark.parametrize("method", ADAPTIVE)
def test_the_error_follows_the_tolerance(method):
    t = np.linspace(0, 20, 57)
    tolerances = np.array([1e-4, 1e-6, 1e-8, 1e-10])
    errors = [
        np.abs(run(system("oscillator"), [1, 0], 0, 20, method, rtol=r, atol=r, times=t).x - exact(t)).max() for r in tolerances
    ]
    slope = np.polyfit(np.log(tolerances), np.log(errors), 1)[0]
    assert 0.7 < slope < 1.3 and max(errors / tolerances) < 200.0


@pytest.mark.parametrize(("method", "order"), [("dop853", 8), ("dopri5", 5), ("radau", 5)])
def test_adaptive_methods_forced_to_a_fixed_step_show_their_order(method, order):
    h = 0.8 if method == "dop853" else 0.2
    errors = []
    for step in (h, h / 2):
        options = {"first_step": step, "max_step": step, "rtol": 1e-3 if method == "radau" else 1e9, "atol": 1e9}
        if method == "radau":
            options |= {"rtol": 1e-13, "atol": 1e4}  # Newton to rounding, steps as given
        result = run(system("oscillator"), [1, 0.5], 0, 4, method, every=0, **options)
        errors.append(np.abs(result.x[-1] - exact(4.0, (1, 0.5))).max())
    assert abs(np.log2(errors[0] / errors[1]) - order) < 0.6


# --- interpreted = compiled ----------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("method", OWN)
def test_interpreted_and_compiled_agree_to_rounding(method):
    times = np.linspace(0, 2, 11)
    a, b = (run(system("pendulum"), [1, 0.5], 0, 2, method, times=times, compiled=c, **OPTIONS[method]) for c in (True, False))
    assert a.statistics.steps == b.statistics.steps and a.statistics.evaluations == b.statistics.evaluations
    assert np.abs(a.x - b.x).max() < 64 * np.finfo(float).eps


@pytest.mark.parametrize("method", OWN)
def test_python_functions_serve_compiled_integrators_too(method):
    plain = from_python(lambda t, x: [x[1], -np.sin(x[0])], 2)
    a = run(plain, [1, 0.5], 0, 1, method, every=0, **OPTIONS[method])
    b = run(system("pendulum"), [1, 0.5], 0, 1, method, every=0, **OPTIONS[method])
    assert np.allclose(a.x[-1], b.x[-1], rtol=0, atol=1e-8)


@pytest.mark.parametrize("method", OWN)
def test_backward_undoes_forward(method):
    there = run(system("pendulum"), [1, 0.5], 0, 2, method, every=0, **OPTIONS[method])
    back = run(system("pendulum"), there.final_x, 2, 0, method, every=0, **OPTIONS[method])
    assert back.final_t == 0.0 and np.abs(back.final_x - [1, 0.5]).max() < (0.02 if method == "euler" else 1e-6)


# --- references ----------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(("method", "limit"), [("dop853", 1e-4), ("dopri5", 1e-3), ("adams", 3e-3)])
def test_the_arenstorf_orbit_closes(method, limit):
    result = run(system("arenstorf"), ARENSTORF, 0, ARENSTORF_PERIOD, method, rtol=1e-11, atol=1e-11, every=0)
    assert np.abs(result.final_x[:2] - ARENSTORF[:2]).max() < limit


@pytest.mark.parametrize("method", ["dop853", "dopri5", "adams", "radau"])
def test_kepler_comes_back_and_keeps_its_energy(method):
    e = 0.6
    x0 = [1 - e, 0, 0, np.sqrt((1 + e) / (1 - e))]
    result = run(system("kepler"), x0, 0, 2 * np.pi, method, rtol=1e-9, atol=1e-9)
    assert np.abs(result.final_x - x0).max() < 1e-6
    assert np.abs(kepler_energy(result.x) + 0.5).max() < 1e-6


@cache
def van_der_pol_reference(mu):
    return solve_ivp(lambda t, x: van_der_pol(t, x, [mu]), (0, 1.5 * mu), [2, 0], "Radau", rtol=1e-8, atol=1e-10).y[0, -1]


@pytest.mark.parametrize("mu", [1e3, 1e6])
@pytest.mark.parametrize("jacobian", [True, False])
def test_radau_solves_the_stiff_van_der_pol_equation(mu, jacobian):
    """One relaxation oscillation; the reference is scipy's own Radau at a tight tolerance."""
    stiff = from_traced(van_der_pol, 2, parameters=np.array([mu]), jacobian=jacobian)
    end = 1.5 * mu
    result = run(stiff, [2, 0], 0, end, "radau", rtol=1e-6, atol=1e-9)
    assert np.abs(result.final_x[0] - van_der_pol_reference(mu)) < 1e-4
    assert result.statistics.steps < 1000 and result.statistics.jacobians < result.statistics.steps


def test_radau_solves_robertsons_reaction_over_eleven_decades():
    """Reference at t = 1e11: Hairer, Wanner II, problem ROBER (test set of their book)."""
    reference = [0.2083340149701255e-07, 0.8333360770334713e-13, 0.9999999791665050]
    result = run(system("robertson"), [1, 0, 0], 0, 1e11, "radau", rtol=1e-7, atol=[1e-12, 1e-16, 1e-12], every=0)
    assert np.allclose(result.final_x, reference, rtol=1e-4)
    scipy = solve_ivp(robertson, (0, 1e11), [1, 0, 0], "Radau", rtol=1e-7, atol=[1e-12, 1e-16, 1e-12])
    assert result.statistics.evaluations < 1.2 * scipy.nfev


@pytest.mark.parametrize(("method", "name"), [("dop853", "DOP853"), ("dopri5", "RK45"), ("radau", "Radau")])
@pytest.mark.parametrize("rtol", [1e-5, 1e-8])
def test_the_cost_is_that_of_scipy(method, name, rtol):
    """Evaluations within a fifth, on an orbit with a close passage (a smooth one for Radau)."""
    if method == "radau":
        x0, end, f, s = [1.0, 0.5], 20.0, lambda t, x: [x[1], -np.sin(x[0])], system("pendulum")
        scipy = solve_ivp(f, (0, end), x0, name, rtol=rtol, atol=rtol, jac=lambda t, x: np.array([[0, 1], [-np.cos(x[0]), 0]]))
    else:
        x0, end, s = ARENSTORF, ARENSTORF_PERIOD, system("arenstorf")
        scipy = solve_ivp(arenstorf, (0, end), x0, name, rtol=rtol, atol=rtol)
    ours = run(s, x0, 0, end, method, rtol=rtol, atol=rtol)
    assert ours.statistics.evaluations < 1.2 * scipy.nfev
    assert ours.statistics.evaluations > 0.6 * scipy.nfev


def test_the_implicit_midpoint_rule_keeps_energy_over_a_hundred_thousand_steps():
    e = 0.2
    x0 = [1 - e, 0, 0, np.sqrt((1 + e) / (1 - e))]
    result = run(system("kepler"), x0, 0, 5000, "midpoint", step=0.05, every=100)
    assert result.statistics.steps == 100_000
    energy = kepler_energy(result.x) + 0.5
    early, late = np.abs(energy[:100]).max(), np.abs(energy[-100:]).max()
    assert late < 1.01 * early < 1e-3  # it swings, it does not drift


def test_semi_implicit_euler_keeps_the_energy_near():
    result = run(system("pendulum"), [1, 0], 0, 1000, "euler", step=0.01, every=50)
    energy = 0.5 * result.x[:, 1] ** 2 - np.cos(result.x[:, 0])
    assert np.abs(energy - energy[0]).max() < 0.01


@pytest.mark.parametrize("method", ["cvode-adams", "cvode-bdf"])
def test_cvode_agrees(method):
    t = np.linspace(0, 10, 21)
    result = run(system("oscillator"), [1, 0], 0, 10, method, rtol=1e-9, atol=1e-9, times=t)
    assert result.status == "done" and np.abs(result.x - exact(t)).max() < 1e-5
    steps = run(system("oscillator"), [1, 0], 0, 10, method, rtol=1e-6, atol=1e-6)
    assert len(steps.t) == steps.statistics.steps + 1 and steps.t[-1] == 10.0


@pytest.mark.parametrize("method", ["cvode-adams", "cvode-bdf"])
@pytest.mark.parametrize("t1", [10.0, -10.0])
def test_the_steps_of_cvode_are_its_own_whatever_the_rows(method, t1):
    step_by_step = run(system("oscillator"), [1, 0], 0, t1, method)
    for rows in ([t1], np.linspace(0, t1, 7), np.linspace(0, t1, 2001)):
        found = run(system("oscillator"), [1, 0], 0, t1, method, times=rows)
        assert found.statistics.steps == step_by_step.statistics.steps == len(step_by_step.t) - 1
        assert np.isclose(found.statistics.max_step, np.abs(np.diff(step_by_step.t)).max())
        assert len(found.t) == len(rows) and np.abs(found.x - exact(found.t)).max() < 1e-4


# --- the table and what it refuses ---------------------------------------------------------------------------------------------
def test_the_table_prints_every_integrator():
    text = str(integrators())
    assert all(name in text for name in INTEGRATORS) and len(text.splitlines()) == len(INTEGRATORS) + 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "rk5"}, "unknown integrator 'rk5'; did you mean 'rk4'\\? The integrators are 'auto'"),
        ({"method": "rk4"}, "'rk4' needs a positive `step`"),
        ({"step": 0.1}, "'auto' chooses its own steps"),
        ({"rtol": -1.0}, "not be negative"),
        ({"times": [0, 2, 1]}, "strictly"),
        ({"times": [0, 20]}, "exceed the run"),
        ({"every": -1}, "`every` must be at least 0"),
        ({"max_step": 0.0}, "positive"),
    ],
)
def test_mistakes_are_named_before_anything_runs(options, message):
    with pytest.raises(SharnirError, match=message):
        run(system("oscillator"), [1, 0], 0, 10, **options)


def test_a_state_of_the_wrong_size_or_not_finite_is_refused():
    with pytest.raises(SharnirError, match="2 numbers, got 3"):
        run(system("oscillator"), [1, 0, 0], 0, 10)
    with pytest.raises(SharnirError, match="number 1 of the initial state"):
        run(system("oscillator"), [1, np.inf], 0, 10)


def test_without_sundials_cvode_says_what_to_install(monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "sksundae.cvode", None)
    with pytest.raises(MethodError, match=r"pip install \"sharnir\[sundials\]\""):
        run(system("oscillator"), [1, 0], 0, 1, "cvode-bdf")
