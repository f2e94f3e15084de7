"""Studies: every run is what `simulate` gives, whatever varies and whatever is kept of it; a run that fails is a row."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from scipy.stats import qmc

import sharnir as sh
from sharnir.studies.design.designs import design_of
from study_cases import OUTPUTS, OVER, RUN, same, spring_pendulum


@pytest.fixture
def pendulum() -> sh.Model:
    return spring_pendulum()


# --- what a study gives -----------------------------------------------------------------------------------------------------
def test_inputs_have_the_units_that_the_model_says(tmp_path):
    m = sh.Model("units", gravity=(0.0, 0.0, -9.81))
    mass, twice, _ = (m.add_parameter(name, 1.0) for name in ("mass", "twice", "unread"))
    m.add_body("a", mass=mass, com=(0.0, 0.0, -1.0), inertia=(1, 1, 1))
    m.add_joint("hinge", sh.Revolute("y"), "ground", "a")
    m.add_force(sh.SpringDamper("ground", "a", at_b=(0.0, 0.0, -2.0), stiffness=2.0 * twice, length=1.0), name="spring")
    units = {
        "mass": "kg", "twice": "", "unread": "", "a.com.z": "m", "a.inertia.yy": "kg m²", "gravity.z": "m/s²", "hinge.at.x": "m",
        "spring.length": "m", "spring.damping": "N s/m", "q0.hinge": "rad", "v0.hinge": "rad/s", "tau.hinge": "N m", "rtol": "",
        "max_step": "s",
    }  # fmt: skip
    rows = [dict.fromkeys(units, 1e-2)]
    run, where = {"duration": 0.01}, tmp_path / "kept"
    ds = sh.study(m, rows, run, {"end": "final of hinge"}, progress=False, store=where)
    for found in (ds, sh.open_study(where)):
        assert {name: found[name].attrs.get("units", "") for name in units} == units
    sh.plot_study(ds, tmp_path / "study.html")
    page = (tmp_path / "study.html").read_text(encoding="utf-8")
    assert all(f'<th scope="row">{label}</th>' in page for label in ("mass, kg", "q0.hinge, rad", "end, rad", "twice"))


def test_a_grid_has_an_axis_for_every_input_and_the_numbers_of_simulate(pendulum):
    ds = sh.study(pendulum, OVER, RUN, OUTPUTS, progress=False)
    assert dict(ds.sizes) == {"bar.mass": 3, "q0.hinge": 2}
    assert ds["end"].attrs == {"role": "output", "units": "rad"} and ds["bar.mass"].attrs == {"role": "input", "units": "kg"}
    assert set(ds["status"].values.ravel()) == {"done"} and (ds["t_end"] == 0.3).all()
    model = pendulum.copy()
    model.make_parameter("bar.mass")
    for mass in OVER["bar.mass"]:
        for q in OVER["q0.hinge"]:
            r = sh.simulate(model, **RUN, q0={"hinge": q}, parameters={"bar.mass": mass})
            row = ds.sel({"bar.mass": mass, "q0.hinge": q})
            assert row["end"] == r.q[-1, 0] and row["speed"] == np.abs(r.speed("hinge")).max()
            assert row["top"] == r.point("bar", (1.0, 0.0, 0.0))[:, 2].max()


def test_every_kind_of_input(pendulum):
    rows = [
        {"bar.mass": 2.0, "v0.hinge": 1.0, "tau.hinge": 0.5, "duration": 0.2, "integrator": "dopri5", "rtol": 1e-6},
        {"bar.mass": 1.0, "v0.hinge": 0.0, "tau.hinge": 0.0, "duration": 0.1, "integrator": "radau", "rtol": 1e-9},
    ]
    ds = sh.study(pendulum, rows, outputs={"end": "final of hinge"}, progress=False)
    model = pendulum.copy()
    model.make_parameter("bar.mass")
    for k, row in enumerate(rows):
        r = sh.simulate(
            model, row["duration"], v0={"hinge": row["v0.hinge"]}, tau={"hinge": row["tau.hinge"]},
            integrator=row["integrator"], rtol=row["rtol"], parameters={"bar.mass": row["bar.mass"]},
        )  # fmt: skip
        assert ds["end"][k] == pytest.approx(r.q[-1, 0], rel=1e-11)
        assert ds["integrator"][k] == row["integrator"] and ds["t_end"][k] == row["duration"]


def test_states_of_forces_are_inputs():
    model = sh.samples.pendulum()
    model.add_force(sh.PID("hinge", kp=1.0, ki=2.0), name="pid")
    (state,) = model.states
    ds = sh.study(model, {f"states.{state}": [0.0, 0.7]}, {"duration": 0.2}, f"final of {state}", progress=False)
    r = sh.simulate(model, 0.2, states={state: 0.7})
    assert ds[f"final of {state}"][1] == pytest.approx(r.state(state)[-1], rel=1e-11) != ds[f"final of {state}"][0]


@pytest.mark.parametrize(
    ("word", "expected"),
    {
        "final": lambda t, x: x[-1],
        "initial": lambda t, x: x[0],
        "max": lambda t, x: max(x),
        "min": lambda t, x: min(x),
        "peak": lambda t, x: max(abs(x)),
        "range": lambda t, x: max(x) - min(x),
        "mean": lambda t, x: sum((t[1:] - t[:-1]) * (x[1:] + x[:-1])) / 2 / (t[-1] - t[0]),
        "rms": lambda t, x: (sum((t[1:] - t[:-1]) * (x[1:] ** 2 + x[:-1] ** 2)) / 2 / (t[-1] - t[0])) ** 0.5,
        "integral": lambda t, x: sum((t[1:] - t[:-1]) * (x[1:] + x[:-1])) / 2,
        "time of max": lambda t, x: t[list(x).index(max(x))],
        "time of min": lambda t, x: t[list(x).index(min(x))],
    }.items(),
)
def test_reductions(pendulum, word, expected):
    """Of quantities of one line and of several, of many runs at once and of one alone."""
    ds = sh.study(pendulum, {"bar.mass": [0.5, 1.0]}, RUN, {"x": f"{word} of hinge", "p": f"{word} of bar"}, progress=False)
    alone = sh.study(pendulum, {"bar.mass": [1.0]}, RUN, {"x": f"{word} of hinge", "p": f"{word} of bar"}, progress=False)
    r = sh.simulate(pendulum, **RUN)
    assert ds["x"][1] == alone["x"][0] == pytest.approx(expected(r.t, r.q[:, 0]), rel=1e-12)
    assert list(ds["p.part"].values) == ["bar.x", "bar.y", "bar.z"]
    assert ds["p"].values[1] == pytest.approx([expected(r.t, x) for x in r.place("bar")[1].T], rel=1e-12, abs=1e-15)


def test_motions_events_and_arrays(pendulum):
    crossing = sh.Event(lambda on: on.q("hinge") - 0.1, name="crossing")
    outputs = {
        "motion": "motion of hinge", "when": "time of event crossing", "often": "count of event crossing",
        "ends": lambda r: [r.q[0, 0], r.q[-1, 0]], "energy": "final of defect",
    }  # fmt: skip
    ds = sh.study(
        pendulum, {"v0.hinge": [0.1, 2.0]}, {"duration": 0.5, "events": [crossing], "output": 0.1}, outputs, progress=False
    )
    assert ds["motion"].dims == ("v0.hinge", "time") and ds["time"].values == pytest.approx(np.arange(6) / 10)
    assert np.isnan(ds["when"][0]) and 0.05 < ds["when"][1] < 0.1 and ds["often"].values.tolist() == [0.0, 2.0]
    assert ds["ends"].shape == (2, 2) and (ds["ends"][:, 1] == ds["motion"][:, -1]).all() and (abs(ds["energy"]) < 1e-6).all()


def test_a_motion_that_stops_early_has_no_rows_after_that(pendulum):
    falling = sh.Event(lambda on: on.q("hinge") + 0.1, "stop", name="low")
    run = {"duration": 0.5, "events": [falling], "output": 0.1}
    ds = sh.study(pendulum, {"v0.hinge": [-2.0, 2.0]}, run, {"motion": "motion of hinge"}, progress=False)
    assert ds["status"].values.tolist() == ["stopped", "stopped"] and ds["motion"].shape == (2, 6)
    rows = [int((np.arange(6) / 10 <= t).sum()) for t in ds["t_end"].values]
    assert np.isfinite(ds["motion"].values).sum(axis=1).tolist() == rows and rows[0] < rows[1] < 6


def test_sums_do_not_depend_on_the_bundle():
    model = sh.samples.double_pendulum()
    rows = [{"v0.hinge1": 0.3 * k} for k in range(12)]
    a, b = (sh.study(model, rows, {"duration": 0.5, "step": 1e-3}, "mean of hinge2", bundle=n, progress=False) for n in (1, 5))
    assert same(a, b)


def test_runs_that_lanes_leave_do_not_touch_their_neighbours():
    """A four-bar near its singular position, in bundles of one and of many."""
    model = sh.samples.four_bar()
    rng = np.random.default_rng(1)
    rows = [{"q0.A": q, "v0.A": v} for q, v in zip(rng.uniform(-1.2, 1.2, 16), rng.uniform(-4.0, 4.0, 16), strict=True)]
    given = {"model": model, "over": rows, "run": {"duration": 1.0}, "outputs": "final of A", "progress": False}
    assert same(sh.study(**given, bundle=1, workers=1), sh.study(**given, bundle=16, workers=1))


def test_by_default_where_the_motion_ends(pendulum):
    ds = sh.study(pendulum, {"bar.mass": [1.0, 2.0]}, RUN, progress=False)
    r = sh.simulate(pendulum, **RUN)
    assert ds["q"].dims == ("bar.mass", "coordinate") and ds["q"][0, 0] == pytest.approx(r.q[-1, 0], rel=1e-11)
    assert ds["v"].sel(speed="hinge")[0] == pytest.approx(r.v[-1, 0], rel=1e-11)


# --- fixed steps: on lanes --------------------------------------------------------------------------------------------------
def test_runs_of_fixed_step_go_side_by_side(pendulum):
    run = {"duration": 0.3, "step": 0.01}
    over = {"bar.mass": (0.5, 2.0), "v0.hinge": (-1.0, 1.0), "tau.hinge": (0.0, 1.0)}
    ds = sh.study(pendulum, over, run, OUTPUTS, runs=21, progress=False)
    model = pendulum.copy()
    model.make_parameter("bar.mass")
    for k in (0, 7, 20):
        row = {name: float(ds[name][k]) for name in over}
        r = sh.simulate(
            model, 0.3, step=0.01, integrator="rk4", v0={"hinge": row["v0.hinge"]}, tau={"hinge": row["tau.hinge"]},
            parameters={"bar.mass": row["bar.mass"]},
        )  # fmt: skip
        assert ds["end"][k] == pytest.approx(r.q[-1, 0], rel=1e-12) and ds["top"][k] == pytest.approx(
            OUTPUTS["top"](r), rel=1e-12
        )
    assert same(ds, sh.study(pendulum, over, run, OUTPUTS, runs=21, bundle=5, progress=False))


def test_closed_models_and_durations_on_lanes():
    model = sh.samples.slider_crank()
    over = [{"q0.main": q, "rod.mass": m, "duration": d} for q, m, d in ((0.1, 1.0, 0.1), (0.8, 2.0, 0.2), (0.1, 3.0, 0.2))]
    ds = sh.study(
        model, over, {"step": 0.01, "v0": {"main": 2.0}}, {"x": "final of slide", "e": "max of violation"}, progress=False
    )
    model.make_parameter("rod.mass")
    for k, row in enumerate(over):
        r = sh.simulate(
            model, row["duration"], q0={"main": row["q0.main"]}, v0={"main": 2.0}, step=0.01, integrator="rk4",
            parameters={"rod.mass": row["rod.mass"]},
        )  # fmt: skip
        assert ds["x"][k] == pytest.approx(r.coordinate("slide")[-1], rel=1e-10) and ds["e"][k] < 1e-9
        assert ds["t_end"][k] == pytest.approx(row["duration"])


def test_adaptive_runs_on_lanes_are_those_one_after_another():
    """Which is how they go where an output is a function."""
    model = sh.samples.slider_crank()
    model.add_force(sh.PID("main", kp=1.0, ki=2.0), name="pid")
    over = {
        "rod.mass": (0.5, 2.0),
        "q0.main": (0.0, 1.0),
        "v0.main": (1.0, 3.0),
        "tau.main": (0.0, 1.0),
        "states.pid.integral": (0.0, 0.1),
    }
    outputs = {
        "end": "final of slide",
        "state": "final of pid.integral",
        "force": "peak of reaction of main.F",
        "mean": "mean of speed of main",
    }
    run = {"duration": 0.4, "t0": 0.1, "output": 0.02}
    lanes = sh.study(model, over, run, outputs, runs=13, progress=False)
    alone = sh.study(model, over, run, outputs | {"own": lambda r: r.coordinate("slide")[-1]}, runs=13, progress=False)
    assert set(lanes["status"].values) == {"done"}
    for name in outputs:
        assert lanes[name].values == pytest.approx(alone[name].values, rel=1e-9), name
        assert lanes[name].values.std() > 0.0
    assert alone["own"].values == pytest.approx(alone["end"].values, rel=1e-12)


def test_runs_that_lanes_leave_are_done_alone():
    """Stiff ones by 'auto', and those that come near a singular position."""
    model = sh.samples.pendulum()
    model.add_force(sh.JointSpring("hinge", stiffness=10.0, damping=1.0), name="spring")
    over = {"spring.damping": [0.1, 1e6]}
    ds = sh.study(model, over, {"duration": 2.0, "v0": {"hinge": 1.0}}, {"end": "final of hinge"}, progress=False)
    model.make_parameter("spring.damping")
    for damping, end in zip(over["spring.damping"], ds["end"].values, strict=True):
        r = sh.simulate(model, 2.0, v0={"hinge": 1.0}, parameters={"spring.damping": damping})
        assert end == pytest.approx(r.q[-1, 0], abs=1e-9)
    assert r.integrator_switches


# --- designs ----------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("sampler", ["random", "sobol", "lhs", "halton"])
def test_a_run_is_known_without_those_before_it(sampler):
    over = {"a": (1.0, 3.0), "b": stats.norm(5.0, 0.1), "c": ["x", "y"], "d": (0.0, 1.0), "e": (0.0, 1.0)}
    design = design_of(over, 200, sampler, 7)
    whole = design.rows(0, 200)
    for first, last in ((0, 64), (64, 65), (65, 200)):
        part = design.rows(first, last)
        assert all(np.array_equal(part[name], whole[name][first:last]) for name in over)
    assert whole["a"].min() >= 1.0 and whole["a"].max() <= 3.0 and set(whole["c"]) == {"x", "y"}
    assert abs(whole["b"].mean() - 5.0) < 0.03 and abs(np.corrcoef(whole["a"], whole["d"])[0, 1]) < 0.25
    other = design_of(over, 200, sampler, 8).rows(0, 200)
    assert not np.array_equal(other["a"], whole["a"])


def test_engines_tables_and_functions(pendulum):
    engine = design_of({"a": (0.0, 2.0)}, 8, qmc.Sobol(1, scramble=False), 0)
    assert np.array_equal(engine.rows(0, 8)["a"], 2.0 * qmc.Sobol(1, scramble=False).random(8)[:, 0])
    table = pd.DataFrame({"bar.mass": [1.0, 2.0], "v0.hinge": [0.5, 0.6]})
    rows = table.to_dict("records")
    kept = {"run": {"duration": 0.1}, "outputs": {"end": "final of hinge"}, "progress": False}
    a, b = sh.study(pendulum, table, **kept), sh.study(pendulum, rows, **kept)
    c = sh.study(pendulum, lambda k: rows[k], runs=2, **kept)
    assert same(a, b) and same(a, c)
    drawn = design_of(lambda k, rng: {"a": rng.normal()}, 10, None, 3)
    assert np.array_equal(drawn.rows(4, 7)["a"], drawn.rows(0, 10)["a"][4:7])


# --- failures ---------------------------------------------------------------------------------------------------------------
def test_a_run_that_fails_is_a_row(pendulum):
    """Refused, ended early, or with an output that raises: the others are not touched."""

    def reciprocal(r):
        if r.parameters[0, 1] == 3.0:
            raise ZeroDivisionError("no such number")
        return r.q[-1, 0]

    limit = pendulum.add_parameter("limit", 1.0)
    pendulum.add_force(lambda on: on.torque("hinge", sh.select(on.t > 0.1, sh.sqrt(2.5 - limit), 0.0)), name="f")
    over = [{"bar.mass": m, "limit": x} for m, x in ((1.0, 1.0), (-1.0, 1.0), (1.0, 9.0), (3.0, 1.0), (2.0, 1.0))]
    outputs = {"own": reciprocal, "end": "final of hinge", "peak": "max of hinge"}
    ds = sh.study(pendulum, over, {"duration": 0.3}, outputs, progress=False)
    assert ds["status"].values.tolist() == ["done", "refused", "not_finite", "output_failed", "done"]
    messages = ds["message"].values.tolist()
    assert (
        "mass" in messages[1]
        and "not finite" in messages[2]
        and messages[3] == "output 'own': raised ZeroDivisionError: no such number"
    )
    assert ds["t_end"][2] == pytest.approx(0.1, abs=0.02) and np.isfinite(ds["end"][2]) and np.isnan(ds["peak"][2])
    assert np.isfinite(ds["end"][3]) and np.isnan(ds["own"][3]) and np.isnan(ds["end"][1])
    alone = sh.study(pendulum, over[4:], {"duration": 0.3}, outputs, progress=False)
    assert alone["end"][0] == ds["end"][4]


def test_an_option_that_is_refused_is_refused_for_its_runs_alone(pendulum):
    ds = sh.study(pendulum, {"integrator": ["dop853", "nope"], "v0.hinge": [0.1, 0.2]}, {"duration": 0.1}, progress=False)
    assert ds["status"].values.tolist() == [["done", "done"], ["refused", "refused"]]
    assert "unknown integrator 'nope'" in str(ds["message"].values[1, 1])


def test_runs_that_cannot_start_do_not_keep_the_others_from_the_lanes():
    model = sh.samples.pendulum()
    masses = np.ones(40)
    masses[[3, 17, 39]] = -1.0
    ds = sh.study(model, [{"bar.mass": m} for m in masses], {"duration": 0.1, "step": 0.01}, "final of hinge", progress=False)
    assert (ds["status"] == np.where(masses > 0, "done", "refused")).all() and "mass" in str(ds["message"][3].values)
    assert np.isfinite(ds["final of hinge"].values).tolist() == (masses > 0).tolist()


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"over": {"bar.mas": [1.0]}}, "bar.mass"),
        ({"over": {"q0.hing": [1.0]}}, "did you mean 'q0.hinge'"),
        ({"over": {}}, "no inputs"),
        ({"over": {"bar.mass": []}}, "has no values"),
        ({"over": {"bar.mass": [np.nan]}}, "not finite"),
        ({"over": {"bar.mass": [[1.0, 2.0]]}}, "one number"),
        ({"over": {"bar.mass": stats.norm(1.0, 0.1)}}, "runs=…"),
        ({"over": {"bar.mass": (2.0, 1.0)}, "runs": 4}, "low < high"),
        ({"over": [{"bar.mass": 1.0}, {"v0.hinge": 1.0}]}, "run 1 differs"),
        ({"over": {"status": [1.0]}}, "cannot be the name"),
        ({"over": 3}, "expected {input: values}"),
        ({"runs": -1, "over": {"bar.mass": (1.0, 2.0)}}, "at least 1"),
        ({"sampler": "sobl", "runs": 4, "over": {"bar.mass": (1.0, 2.0)}}, "'sobol'"),
        ({"run": {"duraton": 1.0}}, "duration"),
        ({"run": {"duration": 1.0, "save": "x.nc"}}, "has a store"),
        ({"run": 3.0}, "arguments of simulate"),
        ({"run": {"duration": 0.1, "parameters": {"bar.mass": 1.0}}}, "in run['parameters'] too"),
        ({"outputs": {"end": "finl of hinge"}}, "final"),
        ({"outputs": {"end": "final of hing"}}, "hinge"),
        ({"outputs": {"end": "time of event x"}}, "no event 'x'"),
        ({"outputs": {"end": 3.0}}, "expected a function"),
        ({"outputs": {"end": lambda r: r.nothing}}, "of the first run, output 'end'"),
        ({"outputs": {"end": lambda r: "far"}}, "number"),
        ({"client": 3}, "dask.distributed.Client"),
        ({"workers": 0}, "workers"),
        ({"bundle": 0}, "bundle"),
    ],
)
def test_mistakes_are_named_before_anything_runs(given, words):
    model = sh.samples.pendulum()
    arguments = {"over": {"bar.mass": [1.0, 2.0]}, "run": {"duration": 0.1}, "progress": False} | given
    if "run['parameters']" in words:
        model.make_parameter("bar.mass")
    with pytest.raises(sh.SharnirError) as caught:
        sh.study(model, **arguments)
    assert words in str(caught.value)


def test_outputs_that_no_run_has_given_are_nan():
    car = sh.samples.quarter_car()
    ds = sh.study(car, {"mass": [-1.0, -2.0]}, {"duration": 0.1}, {"h": "final of heave"}, bundle=1, progress=False)
    assert (ds["status"] == "refused").all() and ds["h"].isnull().all()


def test_a_pair_is_a_range_and_needs_runs():
    with pytest.raises(sh.StateError, match=r"\(0.1, 0.2\) is a range.*runs=…; two values are a list, \[0.1, 0.2\]"):
        sh.study(sh.samples.pendulum(), {"q0.hinge": (0.1, 0.2)}, {"duration": 0.1})


def test_a_function_finds_the_parameters_of_its_run():
    def slowest(r: sh.Result) -> float:
        return float(sh.linearize(r.model, r.q[-1], parameters=r.parameter_values).frequencies[0])

    over, hanging = {"bar.com.x": [1.0, 4.0]}, {"duration": 0.01, "q0": {"hinge": -0.5 * np.pi}}
    ds = sh.study(sh.samples.pendulum(), over, hanging, {"f": slowest}, progress=False)
    np.testing.assert_allclose(ds["f"], np.sqrt(9.81 / np.array([1.0, 4.0])) / (2.0 * np.pi), rtol=1e-6)


def test_more_runs_than_memory_can_keep_are_refused(pendulum, monkeypatch):
    monkeypatch.setattr("sharnir.machine.memory", lambda: 2**20)
    many = {"bar.mass": np.linspace(1.0, 2.0, 200), "q0.hinge": np.linspace(0.0, 1.0, 200)}
    with pytest.raises(sh.StateError, match=r"40000 runs need .* give a folder as `store`, or make fewer"):
        sh.study(pendulum, many, RUN, OUTPUTS, progress=False)
    with pytest.raises(sh.StateError, match=r"40000 points of 'lhs' need .*; take another sampler, or fewer"):
        design_of({"bar.mass": (1.0, 2.0)}, 40_000, "lhs", 0)
    assert design_of({"bar.mass": (1.0, 2.0)}, 40_000, "sobol", 0).count == 40_000
