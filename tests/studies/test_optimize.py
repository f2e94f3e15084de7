"""Optima and indices of sensitivity: known answers are found, gradients are those of the runs, whatever fails is counted."""

from __future__ import annotations

import _thread
from dataclasses import replace

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.figure import Figure
from scipy import stats

import sharnir as sh
from sharnir.studies.optimize.evaluations import slope, stencil
from sharnir.studies.optimize.optimum import best_so_far
from sharnir.studies.optimize.searches import METHODS
from states import assert_close

mpl.use("Agg")
TIGHT = {"rtol": 1e-11, "atol": 1e-13}
FALL = {"duration": 1.0, "output": 0.1}
SWING = {"duration": 0.5, "output": 0.05}


def pendulum() -> sh.Model:
    """A damped rod on a hinge, released level."""
    m = sh.Model("pendulum")
    L, c = m.add_parameter("L", 0.5), m.add_parameter("c", 0.05)
    m.add_body("bar", mass=1.0, shape=sh.Rod((0, 0, 0), (L, 0, 0), radius=0.01))
    m.add_joint("hinge", sh.Revolute("y", damping=c), "ground", "bar")
    return m


def body() -> sh.Model:
    """In free fall along z, 10 m/s²: what it does is known."""
    m = sh.Model("body", gravity=(0.0, 0.0, -10.0))
    m.add_body("ball", mass=1.0, inertia=(1.0, 1.0, 1.0))
    m.add_joint("z", sh.Prismatic("z"), "ground", "ball")
    return m


def spinner() -> sh.Model:
    """A bar with a bob on a ball joint: quaternions."""
    m = sh.Model("spinner")
    L, k = m.add_parameter("L", 0.5), m.add_parameter("k", 3.0)
    m.add_body("bar", mass=1.0, shape=sh.Rod((0, 0, 0), (L, 0, 0), radius=0.01))
    m.add_body("bob", mass=2 * L, com=(0.1, 0, 0), inertia=(0.01, 0.02, 0.03))
    m.add_joint("hinge", sh.Revolute("y", damping=0.1, stiffness=k), "ground", "bar")
    m.add_joint("ball", sh.Ball(), "bar", "bob", at=sh.Pose((L, 0, 0)))
    return m


def start_of_crank() -> dict:
    return {"duration": 0.2, "output": 0.02, "q0": {"main": 0.7}, "v0": {"main": 5.0}}


# --- identification -----------------------------------------------------------------------------------------------------------
def test_parameters_are_recovered_from_a_motion():
    m, truth = pendulum(), {"L": 0.63, "c": 0.11, "v0.hinge": 0.4}
    start = {"parameters": {"L": 0.63, "c": 0.11}, "v0": {"hinge": 0.4}}
    measured = sh.simulate(m, **SWING, **start, **TIGHT).coordinate("hinge")
    bounds = {"L": (0.2, 1.0), "c": (0.0, 0.5), "v0.hinge": (-2.0, 2.0)}
    best = sh.optimize(m, lambda r: r.coordinate("hinge") - measured, bounds, run={**SWING, **TIGHT})
    assert (best.method, best.status, best.gradients) == ("least_squares", "converged", "sensitivities")
    assert_close([best.values[name] for name in truth], list(truth.values()), 1e-8)
    assert best.runs < 15 and best.objective < 1e-18 and not best.at_bounds
    assert_close(best.result().coordinate("hinge"), measured, 1e-8)
    assert best.result().sensitivity_names == ("L", "c", "v0.hinge")
    assert float(best.history["objective"][best.best]) == best.objective == best.history["objective"].min()


def test_a_mass_of_a_closed_loop_is_recovered_by_its_path_in_the_model():
    m = sh.samples.slider_crank()
    run = {**start_of_crank(), **TIGHT}
    m2 = m.copy()
    m2.make_parameter("piston.mass")
    own = m2.parameters["piston.mass"]
    measured = sh.simulate(m2, **{**run, "v0": {"main": 4.0}}, parameters={"piston.mass": 1.3 * own}).coordinate("slide")
    bounds = {"piston.mass": (0.5 * own, 2.0 * own), "v0.main": (1.0, 8.0)}
    best = sh.optimize(m, lambda r: r.coordinate("slide") - measured, bounds, run=run)
    assert best.gradients == "sensitivities"
    assert_close([best.values["piston.mass"], best.values["v0.main"]], [1.3 * own, 4.0], 1e-7)
    assert best.history["piston.mass"][0] == own  # the model's own value is where it begins


# --- gradients ----------------------------------------------------------------------------------------------------------------
def gradients(monkeypatch, model, objective, bounds, run, h=1e-3, **options):
    """Derivatives of the outputs at the start, as a search sees them, and by differences of fourth order of exact runs."""
    seen = []

    def search(e, settings):
        u = settings.start
        found = e.derivatives(e.point(u))
        runs = [[e.point(u + s * d).outputs for s in (h, -h, 2 * h, -2 * h)] for d in np.eye(len(u))]
        seen.append((found, np.array([(8 * (a - b) - (c - d)) / (12 * h) for a, b, c, d in runs]).T))
        return True, ""

    monkeypatch.setitem(METHODS, "SLSQP", replace(METHODS["SLSQP"], search=search))
    best = sh.optimize(model, objective, bounds, "SLSQP", run={**run, **TIGHT}, **options)
    return *seen[0], best.gradients


SPIN = {"duration": 0.3, "output": 0.03, "q0": {"hinge": 0.3}, "v0": {"ball": [0.2, 0.3, 0.4]}}
SPIN_BOUNDS = {"L": (0.4, 0.7), "k": (1.0, 5.0), "q0.hinge": (0.0, 1.0), "v0.ball.wx": (0.0, 0.5)}


def two_numbers(r: sh.Result) -> np.ndarray:
    return np.array([r.point("bob", (0.1, 0.2, 0.3))[-1] @ [1.0, 2.0, 3.0], r.energy.kinetic[-1]])


@pytest.mark.parametrize(
    "objective",
    ["rms of acceleration of hinge", "peak of reaction of ball.F", "final of speed of ball", two_numbers],
)
def test_gradients_from_sensitivities_are_those_of_the_runs(objective, monkeypatch):
    found, expected, how = gradients(monkeypatch, spinner(), objective, SPIN_BOUNDS, SPIN)
    assert how == "sensitivities"
    assert_close(found, expected, 1e-7)


def test_gradients_on_a_closed_loop_with_constraints(monkeypatch):
    bounds = {"rod.mass": (0.1, 3.0), "q0.main": (0.4, 1.0), "v0.main": (3.0, 8.0)}
    limits = {"max of reaction of crankpin.F": (None, 1e9), "late": (lambda r: r.speed("slide")[-1], (None, 1e9))}
    m = sh.samples.slider_crank()
    found, expected, how = gradients(monkeypatch, m, "rms of slide", bounds, start_of_crank(), constraints=limits)
    assert how == "sensitivities" and found.shape == (3, 3)
    assert_close(found, expected, 1e-6)


@pytest.mark.parametrize(
    ("objective", "run", "bounds", "words"),
    [
        (lambda r: sum(r.energy.work.values())[-1], {}, {"L": (0.4, 0.7)}, "depend on what has no sensitivities"),
        ("time of event low", {"events": sh.Event(lambda on: on.q("hinge") - 0.2, name="low")}, {"L": (0.4, 0.7)}, "depend on"),
        ("final of hinge", {"method": "momentum"}, {"L": (0.4, 0.7)}, "choose another method than 'momentum'"),
        ("final of hinge", {}, {"L": (0.4, 0.7), "tau.hinge": (-1.0, 1.0)}, "sensitivities by L; differences of runs by tau"),
    ],
)  # fmt: skip
def test_elsewhere_they_are_differences_of_runs(objective, run, bounds, words, monkeypatch):
    found, expected, how = gradients(monkeypatch, pendulum(), objective, bounds, {**SWING, **run})
    assert words in how and "differences of runs" in how
    assert_close(found, expected, 1e-5)


def test_where_a_run_stops_at_an_event_its_end_moves(monkeypatch):
    """The sensitivity of the last row is that at a fixed time: not the derivative of where the motion ends."""
    run = {**SWING, "events": sh.Event(lambda on: on.q("hinge") - 0.2, action="stop")}
    found, expected, how = gradients(monkeypatch, pendulum(), lambda r: float(r.t[-1]), {"L": (0.4, 0.7)}, run)
    assert "differences of runs" in how
    assert abs(expected).min() > 1e-3
    assert_close(found, expected, 1e-5)


def test_fixed_steps_have_the_rows_of_a_rollout_and_sensitivities(monkeypatch):
    run = {"duration": 0.5, "step": 0.01, "every": 5}
    best = sh.optimize(pendulum(), "mean of hinge", {"L": (0.3, 0.8)}, "Nelder-Mead", run=run, max_runs=1)
    assert len(best.result().t) == 11
    exact = sh.optimize(pendulum(), "mean of hinge", {"L": (0.3, 0.8)}, "SLSQP", run=run, max_runs=1)
    assert exact.gradients == "sensitivities"
    assert_close(exact.objective, best.objective, 1e-12)


def test_differences_of_second_order_stay_between_the_bounds():
    for u in (0.0, 1e-5, 0.4, 1.0):
        offsets = stencil(np.array([u]), [0])[0]
        assert ((u + offsets >= 0.0) & (u + offsets <= 1.0)).all()
        values = [np.array([(u + h) ** 2]) for h in offsets]
        assert_close(slope(np.array([u**2]), offsets, values), [2 * u], 1e-10)
        assert abs(slope(np.array([u**2]), offsets, [None, values[1]])[0] - 2 * u) < 1e-3
        assert slope(np.array([u**2]), offsets, [None, None]) == 0.0


# --- optima -------------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("method", ["auto", "trust-constr", "COBYQA", "differential_evolution", "optuna"])
def test_a_constrained_optimum_is_on_the_constraint(method):
    """The least v0² + q0² of a body that falls to z = 0 at the end: q0 + v0 = 5."""
    best = sh.optimize(
        body(), lambda r: float(r.v[0, 0] ** 2 + r.q[0, 0] ** 2), {"q0.z": (0.0, 10.0), "v0.z": (0.0, 10.0)}, method,
        run={"duration": 1.0, "output": 1.0}, constraints={"final of z": (0.0, None)}, start={"q0.z": 1.0, "v0.z": 2.0},
        tolerance=1e-6, max_runs=150 if method == "optuna" else 500,
    )  # fmt: skip
    near = {"optuna": 1.0, "differential_evolution": 0.05, "trust-constr": 0.009}.get(method, 1e-4)
    assert best.status in (("converged",) if near < 0.01 else ("converged", "max_runs"))
    assert abs(best.values["q0.z"] - 2.5) < near**0.5 and -1e-4 < best.objective - 12.5 < near
    assert -1e-5 <= best.constraints["final of z"] < 0.2 * near
    assert best.history["feasible"][best.best] and not best.history["feasible"].all()


def test_inputs_at_their_bounds_are_named():
    best = sh.optimize(body(), "final of z", {"q0.z": (-1.0, 2.0), "v0.z": (-3.0, 0.5)}, run=FALL)
    assert best.method == "L-BFGS-B" and best.status == "converged"
    assert best.values == {"q0.z": -1.0, "v0.z": -3.0} and best.at_bounds == {"q0.z": "low", "v0.z": "low"}
    assert_close(best.objective, -9.0, 1e-9)
    assert "at its low bound" in best.summary() and "final of z = -9 m" in best.summary()


def two_valleys(r: sh.Result) -> float:
    """Of the start height: 0.1 near -0.5, 0 near 0.7."""
    x = r.q[0, 0]
    return float(min((x + 0.5) ** 2 + 0.1, 5.0 * (x - 0.7) ** 2))


def test_a_global_method_finds_the_deeper_valley():
    options = {"run": FALL, "start": {"q0.z": -0.6}}
    near = sh.optimize(body(), two_valleys, {"q0.z": (-1.0, 1.0)}, **options)
    assert abs(near.values["q0.z"] + 0.5) < 1e-4  # the nearer one is where a local method stays
    for method in ("differential_evolution", "optuna"):
        best, again = (sh.optimize(body(), two_valleys, {"q0.z": (-1.0, 1.0)}, method, seed=3, **options) for _ in range(2))
        assert abs(best.values["q0.z"] - 0.7) < 0.02 and best.gradients == "none"
        assert again.history.identical(best.history)
        other = sh.optimize(body(), two_valleys, {"q0.z": (-1.0, 1.0)}, method, seed=4, max_runs=20, **options)
        assert not np.array_equal(other.history["q0.z"], best.history["q0.z"][:20])


def test_numbers_do_not_depend_on_who_runs():
    alone, shared = (
        sh.optimize(pendulum(), "rms of hinge", {"L": (0.3, 0.8), "tau.hinge": (-1, 1)}, run=SWING, workers=n, max_runs=9)
        for n in (1, 2)
    )
    assert shared.history.identical(alone.history)
    assert set(shared.history["purpose"].values) == {"search", "difference"}


def test_arrays_are_sums_of_squares_for_every_method():
    measured = sh.simulate(pendulum(), parameters={"L": 0.6}, **SWING).coordinate("hinge")
    for options in ({"method": "Nelder-Mead"}, {"constraints": {"max of hinge": (None, 9.0)}}):
        best = sh.optimize(pendulum(), lambda r: r.coordinate("hinge") - measured, {"L": (0.3, 0.8)}, run=SWING, **options)
        assert abs(best.values["L"] - 0.6) < 1e-4
        assert best.method == options.get("method", "SLSQP")


# --- what goes wrong ----------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("method", ["auto", "least_squares", "Nelder-Mead", "COBYQA", "differential_evolution", "optuna"])
def test_runs_that_fail_do_not_end_it(method):
    """No value beyond 0.75, where the first steps of every method come to; the optimum is 0.7."""

    def picky(r):
        if r.q[0, 0] > 0.75:
            raise ValueError("too high")
        x = 10.0 * (r.q[0, 0] - 0.7)
        return np.array([x, 0.1 * x]) if method == "least_squares" else float(np.sqrt(1.0 + x**2) - 1.0)

    best = sh.optimize(body(), picky, {"q0.z": (-9.0, 1.0)}, method, run=FALL, start={"q0.z": -4.0}, max_runs=150)
    assert abs(best.values["q0.z"] - 0.7) < 0.05
    if method != "least_squares":
        assert best.failed > 0 and f"{best.failed} output_failed (output 'picky': raised ValueError: too high)" in best.summary()
        assert np.isnan(best.history["picky"].values[best.history["status"].values == "output_failed"]).all()


def test_all_runs_failing_is_an_error_with_the_runs():
    with pytest.raises(sh.StudyError, match=r"none of the 9 runs gave an objective: 9 max_steps") as error:
        sh.optimize(
            body(), "final of z", {"q0.z": (0.0, 1.0)}, "differential_evolution", run={**FALL, "max_steps": 1}, max_runs=9
        )
    assert error.value.result.sizes["run"] == 9


def test_constraints_that_cannot_be_met_are_named_infeasible():
    limits = {"final of z": (100.0, None)}
    best = sh.optimize(body(), "final of speed of z", {"q0.z": (0.0, 1.0)}, run=FALL, constraints=limits)
    assert best.status == "infeasible" and "no run meets the constraints" in best.message
    assert abs(best.values["q0.z"] - 1.0) < 1e-6  # the nearest


@pytest.mark.parametrize("method", ["auto", "differential_evolution"])
def test_ctrl_c_returns_the_best_so_far(method):
    runs = []

    def objective(r):
        runs.append(r.q[0, 0])
        if len(runs) == 6:
            _thread.interrupt_main()
        return float((r.q[0, 0] - 0.123) ** 4)  # so flat that it takes many runs

    best = sh.optimize(body(), objective, {"q0.z": (0.0, 1.0)}, method, run=FALL, start={"q0.z": 0.9}, workers=1, tolerance=1e-15)
    assert best.status == "interrupted"
    assert 1 <= best.runs <= 20 and best.objective == best.history["objective"].min()


def test_an_objective_that_changes_in_steps_is_suspected():
    best = sh.optimize(body(), "time of max of z", {"v0.z": (2.0, 8.0)}, run=FALL)
    assert best.runs == 1 and "if it changes in steps" in best.message
    searched = sh.optimize(body(), "time of max of z", {"v0.z": (2.0, 8.0)}, "differential_evolution", run=FALL, max_runs=60)
    assert searched.objective == 0.2


def test_no_more_runs_than_allowed():
    best = sh.optimize(body(), two_valleys, {"q0.z": (-1.0, 1.0)}, "differential_evolution", run=FALL, max_runs=7)
    assert best.runs == 7 and best.status == "max_runs" and best.method in best.summary()


@pytest.mark.parametrize(
    ("objective", "bounds", "options", "words"),
    [
        ("final of z", {"q0.zz": (0, 1)}, {}, r"bounds: nothing is called 'q0.zz'; did you mean 'q0.z'"),
        ("final of z", {"ball.mas": (0, 1)}, {}, r"bounds: 'ball.mas': .*'ball.mass'"),
        ("final of z", {"q0.z": (1, 1)}, {}, r"bounds: 'q0.z': \(low, high\) needs low < high"),
        ("final of z", {"q0.z": (0, np.inf)}, {}, r"bounds: 'q0.z': expected \(low, high\)"),
        ("final of z", {"q0.z": 3}, {}, r"bounds: 'q0.z': expected \(low, high\), got 3"),
        ("final of z", {}, {}, r"bounds: expected"),
        ("final of z", {"integrator": (0, 1)}, {}, "compare its values by sharnir.study"),
        ("finl of z", {"q0.z": (0, 1)}, {}, r"objective: .*did you mean 'final'"),
        (7, {"q0.z": (0, 1)}, {}, "objective: expected a text"),
        (lambda r: 1 / 0, {"q0.z": (0, 1)}, {}, "at the start, output 'objective': raised ZeroDivisionError"),
        (lambda r: "far", {"q0.z": (0, 1)}, {}, "must return a number"),
        ("final of z", {"q0.z": (0, 1)}, {"method": "slsqp"}, "unknown method 'slsqp'.*'auto', 'L-BFGS-B', 'SLSQP'.*'optuna'"),
        ("final of z", {"q0.z": (0, 1)}, {"method": "least_squares"}, "needs an objective that is an array"),
        ("final of z", {"q0.z": (0, 1)}, {"method": "L-BFGS-B", "constraints": {"max of z": (0, 1)}}, "takes no constraints"),
        ("final of z", {"q0.z": (0, 1)}, {"constraints": {"max of z": (1, 0)}}, "constraints: 'max of z': expected low ≤ high"),
        ("final of z", {"q0.z": (0, 1)}, {"constraints": {"max of z": (None, None)}}, "at least one of them a number"),
        ("final of z", {"q0.z": (0, 1)}, {"constraints": {"z": lambda r: 1.0}}, "say between what it must be"),
        ("final of z", {"q0.z": (0, 1)}, {"constraints": {"z": (lambda r: r.t, (0, 1))}}, "'z' is an array; limit one number"),
        ("final of z", {"q0.z": (0, 1)}, {"start": {"q0.z": 2.0}}, "start: 'q0.z' = 2 is not between its bounds"),
        ("final of z", {"q0.z": (0, 1)}, {"start": {"z": 2.0}}, "start: no input 'z'"),
        ("final of z", {"q0.z": (0, 1)}, {"run": {"duration": 1.0, "max_steps": 1}}, "the run at the start failed: max_steps"),
        ("final of z", {"q0.z": (0, 1)}, {"run": {"duration": 1.0, "sensitivities": ["q0.z"]}}, "optimize asks for those"),
        ("final of z", {"q0.z": (0, 1)}, {"constraints": {"feasible": ("max of z", (0, 1))}}, "'feasible' cannot be the name"),
        ("final of z", {"q0.z": (0, 1)}, {"tolerance": 0.0}, "tolerance: expected"),
        ("final of z", {"q0.z": (0, 1)}, {"max_runs": 0}, "max_runs: expected a whole number of at least 1"),
    ],
)
def test_what_cannot_be_optimised_is_refused_in_words(objective, bounds, options, words):
    with pytest.raises(sh.SharnirError, match=f"(?s){words}"):
        sh.optimize(body(), objective, bounds, **{"run": FALL, **options})


# --- the history --------------------------------------------------------------------------------------------------------------
def test_the_history_is_a_study_and_can_be_drawn(tmp_path):
    limits = {"low enough": ("max of z", (None, 0.5)), "final of z": (-5.0, None)}
    best = sh.optimize(
        body(), two_valleys, {"q0.z": (-1.0, 1.0), "v0.z": (-1.0, 1.0)}, "differential_evolution", run=FALL, constraints=limits,
        max_runs=60,
    )  # fmt: skip
    ds = best.history
    assert ds.sizes == {"run": 60} and best.runs == 60
    assert [n for n in ds.variables if ds[n].attrs.get("role") == "input"] == ["q0.z", "v0.z"]
    assert [n for n in ds.variables if ds[n].attrs.get("role") == "output"] == ["two_valleys", "low enough", "final of z"]
    assert ds["final of z"].attrs["units"] == "m"
    inside = (ds["low enough"] <= 0.5) & (ds["final of z"] >= -5.0)
    assert bool((ds["feasible"] == inside).all()) and 0 < int(inside.sum()) < 60
    assert best.constraints == {name: float(ds[name][best.best]) for name in limits}
    so_far = best_so_far(ds)
    assert so_far[-1] == best.best and best.objective == ds["two_valleys"].where(ds["feasible"]).min()
    figure = best.plot(tmp_path / "way.png")
    assert isinstance(figure, Figure) and (tmp_path / "way.png").stat().st_size > 10_000
    labels = figure.axes[0].get_legend_handles_labels()[1]
    assert labels == ["runs", "outside the constraints", "best so far"]
    assert len(figure.axes[1].get_lines()) == 4
    assert isinstance(sh.plot_study(ds, tmp_path / "study.png"), Figure)
    plt.close("all")


# --- Sobol's indices ----------------------------------------------------------------------------------------------------------
def test_shares_of_variance_of_a_free_fall():
    """z(1) = z0 + v0 − 5: variances add. Its height squared does not: there the inputs act together."""
    over = {"q0.z": (0.0, 1.0), "v0.z": stats.norm(0.0, 0.5)}
    outputs = {"end": "final of z", "product": lambda r: float(r.q[0, 0] * r.v[0, 0]), "constant": lambda r: 1.0}
    ds = sh.sobol_indices(body(), over, 256, run={"duration": 1.0, "output": 1.0}, outputs=outputs, second_order=True)
    share = (1 / 12) / (1 / 12 + 0.25)
    assert ds["S1"].dims == ("output", "input") and list(ds["input"].values) == ["q0.z", "v0.z"] and ds.attrs["runs"] == 256 * 6
    for name in ("S1", "ST"):
        assert_close(ds[name].sel(output="end").values, [share, 1 - share], 0.05)
    assert abs(float(ds["S2"].sel(output="end", input="q0.z", other="v0.z"))) < 0.05
    # q v with means ½ and 0: alone only v matters, E[q]² var v of E[q²] var v
    assert np.abs(ds["S1"].sel(output="product") - [0.0, 0.75]).max() < 0.05
    assert np.abs(ds["ST"].sel(output="product") - [0.25, 1.0]).max() < 0.08
    assert abs(float(ds["S2"].sel(output="product", input="v0.z", other="q0.z")) - 0.25) < 0.1
    assert np.isnan(ds["S1"].sel(output="constant")).all()
    assert isinstance(sh.plot_sobol(ds.isel(output=slice(2))), Figure)
    plt.close("all")


@pytest.mark.parametrize(
    ("over", "options", "words"),
    [
        ({"q0.z": (0.0, 1.0)}, {"n": 100}, "powers of two only; take 128, not 100"),
        ({"q0.z": [0.0, 1.0]}, {}, "expected a range"),
        ({"q0.z": (0.0, 1.0)}, {"runs": 5}, "the design of Sobol's indices is its own"),
        (
            {"q0.z": (0.0, 1.0)},
            {"outputs": {"odd": lambda r: 1 / (r.q[0, 0] < 0.9)}},
            r"\d+ of 24 runs failed.*narrow the range",
        ),
    ],
)
def test_indices_that_would_be_wrong_are_refused(over, options, words):
    with pytest.raises(sh.StateError, match=words):
        sh.sobol_indices(body(), over, **{"n": 8, "run": FALL, **options})
