"""Studies: every run is what `simulate` gives, whoever computed it; nothing computed is lost."""

from __future__ import annotations

import _thread
import errno
import subprocess
import sys
import threading
import time
from functools import partial

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from scipy import stats
from scipy.stats import qmc

import sharnir as sh
from sharnir.studies.design import design_of
from sharnir.studies.identity import _model as model_digest
from sharnir.studies.identity import fingerprint
from sharnir.studies.store import Folder
from sharnir.studies.transport import packed, unpacked
from sharnir.studies.worker import Task

RUN = {"duration": 0.3, "v0": {"hinge": 2.0}}
OUTPUTS = {
    "end": "final of hinge",
    "speed": "peak of speed of hinge",
    "top": lambda r: r.point("bar", (1.0, 0.0, 0.0))[:, 2].max(),
}
OVER = {"bar.mass": [0.5, 1.0, 2.0], "q0.hinge": [0.0, 0.5]}


@pytest.fixture
def pendulum() -> sh.Model:
    model = sh.samples.pendulum()
    model.add_force(sh.JointSpring("hinge", stiffness=3.0, damping=0.1), name="spring")
    return model


def same(a: xr.Dataset, b: xr.Dataset) -> bool:
    """To the last bit, with all labels."""
    return bool(a.drop_attrs().load().identical(b.drop_attrs().load()))


# --- what a study gives -----------------------------------------------------------------------------------------------------
def test_a_grid_has_an_axis_for_every_input_and_the_numbers_of_simulate(pendulum):
    ds = sh.study(pendulum, OVER, RUN, OUTPUTS, progress=False)
    assert dict(ds.sizes) == {"bar.mass": 3, "q0.hinge": 2}
    assert ds["end"].attrs == {"role": "output", "units": "rad"} and ds["bar.mass"].attrs == {"role": "input"}
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


# --- stores -----------------------------------------------------------------------------------------------------------------
def test_a_store_holds_the_dataset_and_xarray_reads_it(pendulum, tmp_path):
    ds = sh.study(pendulum, OVER, RUN, OUTPUTS, progress=False)
    kept = sh.study(pendulum, OVER, RUN, OUTPUTS, store=tmp_path / "study", bundle=4, progress=False)
    assert same(ds, kept) and same(ds, sh.open_study(tmp_path / "study"))
    assert kept["end"].isel({"q0.hinge": 1})[2] == ds["end"][2, 1] and kept["end"][1:].shape == (2, 2)
    zarr = pytest.importorskip("zarr")
    assert zarr.open(str(tmp_path / "study"), mode="r")["end"].shape == (6,)
    with xr.open_zarr(tmp_path / "study", consolidated=False) as flat:
        assert np.array_equal(flat["end"].values, ds["end"].values.ravel())


def test_a_netcdf_file_is_written_whole(pendulum, tmp_path):
    path = tmp_path / "study.nc"
    ds = sh.study(pendulum, OVER, RUN, OUTPUTS, store=path, progress=False)
    assert [p.name for p in tmp_path.iterdir()] == ["study.nc"]
    with xr.open_dataset(path) as read:
        assert np.array_equal(read["end"], ds["end"]) and read["status"].values.tolist() == ds["status"].values.tolist()
    before = path.stat().st_mtime_ns
    again = sh.study(pendulum, OVER, RUN, OUTPUTS, store=path, progress=False)
    assert np.array_equal(again["end"], ds["end"]) and path.stat().st_mtime_ns == before
    with pytest.raises(sh.StateError, match="holds another study"):
        sh.study(pendulum, {"bar.mass": [9.0]}, RUN, OUTPUTS, store=path, progress=False)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"over": {"bar.mass": [0.5, 1.0, 2.5], "q0.hinge": [0.0, 0.5]}}, "values of its inputs"),
        ({"run": {**RUN, "rtol": 1e-5}}, "arguments of its runs"),
        ({"outputs": {**OUTPUTS, "top": lambda r: r.point("bar", (0.5, 0.0, 0.0))[:, 2].max()}}, "outputs are others"),
        ({"bundle": 5}, "bundle=2"),
        ({"model": sh.samples.pendulum(length=2.0)}, "model has changed"),
    ],
)
def test_a_store_goes_on_with_its_own_study_only(pendulum, tmp_path, change, words):
    given = {"model": pendulum, "over": OVER, "run": RUN, "outputs": OUTPUTS}
    sh.study(**given, store=tmp_path / "s", bundle=2, progress=False)
    with pytest.raises(sh.StateError, match=words):
        sh.study(**(given | change), store=tmp_path / "s", progress=False)


FACTOR = 1.0


def scaled(r, k=1.0):
    return FACTOR * k * r.q[-1, 0]


class Scale:
    def __init__(self, k):
        self.k = k

    def of(self, r):
        return self.k * r.q[-1, 0]


def with_function(gravity=9.81, state=0.0):
    model = sh.samples.pendulum()
    model.gravity = (0.0, 0.0, -gravity)
    model.add_state("sum", state, rate=lambda on: on.q("hinge"))
    model.add_force(lambda on: on.torque("hinge", -0.1 * on.v("hinge") ** 3), name="own")
    return model


def test_what_makes_a_study_another_is_noticed(monkeypatch):
    """And what does not is not: models and functions made anew, in the same way."""
    rows = [{"a": float(k)} for k in range(9)]
    changed = [*rows[:3], {"a": 99.0}, *rows[4:]]
    pairs = [
        (lambda: design_of(rows, None, "random", 0).ingredients, lambda: design_of(changed, None, "random", 0).ingredients),
        (lambda: partial(scaled, k=1.0), lambda: partial(scaled, k=7.0)),
        (lambda: Scale(1.0).of, lambda: Scale(7.0).of),
        (lambda: {"f": lambda r: r.q[-1, 0]}, lambda: {"f": lambda r: r.q[-1, 1]}),
        (lambda: stats.norm(1.0, 2.0), lambda: stats.norm(1.0, 3.0)),
    ]
    for make, other in pairs:
        assert fingerprint(make()) == fingerprint(make()) != fingerprint(other())
    before = fingerprint(scaled)
    monkeypatch.setitem(globals(), "FACTOR", 2.0)
    assert fingerprint(scaled) != before
    assert model_digest(with_function()) == model_digest(with_function())
    assert len({model_digest(m) for m in (with_function(), with_function(gravity=1.6), with_function(state=1.0))}) == 3


def test_a_store_that_was_hardly_begun_begins_anew(pendulum, tmp_path):
    (tmp_path / "..zattrs-12345678").write_text("{", encoding="utf-8")
    ds = sh.study(pendulum, OVER, RUN, OUTPUTS, store=tmp_path, progress=False)
    assert set(ds["status"].values.ravel()) == {"done"}


def test_a_folder_that_holds_something_else_is_refused(pendulum, tmp_path):
    (tmp_path / "letter.txt").write_text("dear reader", encoding="utf-8")
    with pytest.raises(sh.StateError, match="not empty and holds no study"):
        sh.study(pendulum, OVER, RUN, store=tmp_path, progress=False)
    (tmp_path / ".zattrs").write_text("{}", encoding="utf-8")
    with pytest.raises(sh.StateError, match="no study of sharnir"):
        sh.study(pendulum, OVER, RUN, store=tmp_path, progress=False)
    with pytest.raises(sh.StateError, match="there is no study"):
        sh.open_study(tmp_path / "nowhere")


def test_a_full_disk_loses_nothing(pendulum, tmp_path, monkeypatch):
    whole = sh.study(pendulum, OVER, RUN, OUTPUTS, progress=False)
    write, count = Folder._bytes, []

    def full(self, place, data):
        count.append(place)
        if len(count) > 40:
            raise OSError(errno.ENOSPC, "No space left on device")
        write(self, place, data)

    monkeypatch.setattr(Folder, "_bytes", full)
    with pytest.raises(sh.StudyError, match=r"No space left on device\. .* bundles are done and in .*call study again") as caught:
        sh.study(pendulum, OVER, RUN, OUTPUTS, store=tmp_path / "s", bundle=1, workers=1, progress=False)
    done = caught.value.result["status"].values == "done"
    assert 1 < done.sum() < 6 and np.array_equal(caught.value.result["end"].values[done], whole["end"].values[done])
    stored = sh.open_study(tmp_path / "s")["status"].values == "done"
    assert stored.sum() == done.sum() - 1, "what could not be written is in the error alone"
    monkeypatch.undo()
    assert same(whole, sh.study(pendulum, OVER, RUN, OUTPUTS, store=tmp_path / "s", progress=False))


KILLED = """
import sys, time
import sharnir as sh
model = sh.samples.pendulum()
def slow(r):
    time.sleep(0.01)
    return r.q[-1, 0]
sh.study(model, {"bar.mass": [1.0 + k / 100 for k in range(60)]}, {"duration": 0.1}, {"end": "final of hinge", "slow": slow},
         store=sys.argv[1], bundle=3, workers=1, progress=False)
"""


def test_a_study_whose_process_is_killed_goes_on_where_it_was(tmp_path):
    """Killed with signal 9 in the middle; what is there is taken, the rest computed, the whole as if nothing had happened."""
    script = tmp_path / "script.py"
    script.write_text(KILLED, encoding="utf-8")
    process = subprocess.Popen([sys.executable, str(script), str(tmp_path / "s")])
    status = tmp_path / "s" / "status"
    while process.poll() is None and len(list(status.glob("[0-9]*")) if status.exists() else []) < 4:
        time.sleep(0.01)
    process.kill()
    process.wait()
    there = sorted(p.name for p in status.glob("[0-9]*"))
    stamps = {p: (status / p).stat().st_mtime_ns for p in there}
    assert 4 <= len(there) < 20
    unfinished = sh.open_study(tmp_path / "s")
    assert unfinished.attrs["status"] == "unfinished" and (unfinished["status"] == "done").sum() == 3 * len(there)
    names: dict = {"__name__": "again"}
    exec(KILLED.replace("store=sys.argv[1], ", "").replace("sh.study(model", "whole = sh.study(model"), names)
    stored = repr(str(tmp_path / "s"))
    exec(KILLED.replace("sys.argv[1]", stored).replace("sh.study(model", "resumed = sh.study(model"), names)
    assert same(names["whole"], names["resumed"])
    assert stamps == {p: (status / p).stat().st_mtime_ns for p in there}, "what was done is not done again"


def test_ctrl_c_keeps_what_is_done(pendulum, tmp_path):
    def slow(r):
        time.sleep(0.01)
        return r.q[-1, 0]

    over = {"bar.mass": np.linspace(1.0, 2.0, 200)}
    threading.Timer(0.5, _thread.interrupt_main).start()
    ds = sh.study(pendulum, over, {"duration": 0.1}, {"slow": slow}, bundle=5, store=tmp_path / "s", progress=False)
    assert ds.attrs["status"] == "interrupted" and 0 < (ds["status"] == "done").sum() < 200
    stored = sh.open_study(tmp_path / "s")
    assert np.array_equal(stored["slow"].values, ds["slow"].values, equal_nan=True)
    assert set(stored["status"].values) == {"done", "not_run"} and np.isnan(ds["slow"].values[ds["status"] == "not_run"]).all()


# --- other processes --------------------------------------------------------------------------------------------------------
def test_processes_give_the_same_bits_and_one_that_dies_is_replaced(pendulum, tmp_path):
    marker = str(tmp_path / "died")

    def deadly(r):
        import os
        from pathlib import Path

        if r.parameters[0, 0] == 2.0 and not Path(marker).exists():
            Path(marker).write_text("x", encoding="utf-8")
            os.kill(os.getpid(), 9)
        return r.q[-1, 0]

    over = {"bar.mass": [0.5, 1.0, 1.5, 2.0, 2.5, 3.0]}
    ds = sh.study(
        pendulum, over, RUN, {"own": deadly, "end": "final of hinge"}, processes=True, workers=2, bundle=1, progress=False
    )
    assert (tmp_path / "died").exists() and set(ds["status"].values) == {"done"}
    threads = sh.study(pendulum, over, RUN, {"own": deadly, "end": "final of hinge"}, progress=False)
    assert same(ds, threads)


def test_a_run_that_kills_every_process_is_given_up_and_no_other(pendulum):
    def deadly(r):
        import os

        if r.parameters[0, 0] == 2.0:
            os.kill(os.getpid(), 9)
        return r.q[-1, 0]

    over = {"bar.mass": [1.5, 1.0, 1.2, 2.0, 2.5, 3.0]}
    ds = sh.study(pendulum, over, RUN, {"own": deadly}, processes=True, workers=2, bundle=1, progress=False)
    assert ds["status"].values.tolist() == ["done"] * 3 + ["worker_died"] + ["done"] * 2
    assert "3 processes died" in str(ds["message"].values[3])


def test_a_task_travels_with_its_version_and_what_cannot_is_named(pendulum):
    data = packed(Task(pendulum, ("bar.mass",), RUN, {"f": lambda r: r.q[-1, 0]}))
    assert unpacked(data).outputs["f"].__name__ == "<lambda>"
    with pytest.raises(sh.StateError, match=rf"a worker has sharnir {sh.__version__}, the study was begun with 9\.9"):
        unpacked(data.replace(sh.__version__.encode(), b"9.9", 1))
    lock = threading.Lock()
    with pytest.raises(sh.StateError, match=r"output 'held' cannot be sent to another process: .*lock"):
        packed(Task(pendulum, ("bar.mass",), RUN, {"end": "final of hinge", "held": lambda r: lock.locked()}))
    pendulum.add_force(lambda on: on.torque("hinge", 0.0 if lock.locked() else 0.1), name="odd")
    with pytest.raises(sh.StateError, match="force 'odd' of model 'pendulum' cannot be sent"):
        packed(Task(pendulum, ("bar.mass",), RUN, None))
