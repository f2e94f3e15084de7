"""Result: the motion by name, what follows from it, and files that give back the same bits."""

from __future__ import annotations

import csv
import os
import shutil

import matplotlib as mpl
import numpy as np
import pytest
import xarray as xr

import sharnir as sh
from mechanisms import floating, floating_start, powered
from sharnir.reporting.atomic_write import check_writable
from states import assert_close

mpl.use("Agg")
pytestmark = pytest.mark.xdist_group("integrators")


@pytest.fixture(scope="module")
def free():
    m = floating()
    m.add_frame("grip", "hand", sh.Pose((0.2, 0.0, 0.0)))
    m.add_frame("mark", "ground", sh.Pose((1.0, 2.0, 3.0)))
    return sh.simulate(m, 0.5, output=0.05, rtol=1e-10, atol=1e-12, **floating_start())


@pytest.fixture(scope="module")
def fed():
    events = [sh.Event(lambda on: on.q("wrist") - 0.3, name="wrist turned"), sh.Event(lambda on: on.t - 0.2)]
    return sh.simulate(powered(), 0.5, v0={"wrist": 2.0}, tau={"wrist": 0.1}, output=0.05, events=events)


# --- by name ----------------------------------------------------------------------------------------------------------------
def test_coordinates_speeds_and_accelerations_by_joint(free):
    T = len(free)
    assert free.coordinate("elbow").shape == (T,) and free.coordinate("shoulder").shape == (T, 4)
    assert free.speed("elbow").shape == (T,) and free.speed("float").shape == (T, 6)
    d = sh.Dynamics(free.model, "extended")
    for k in (0, T - 1):
        a = d.forward(free.q[k], free.v[k])
        assert_close(free.acceleration("elbow")[k], a[free.model.v_slice("elbow")][0], 1e-9)


def test_points_frames_and_reactions_are_those_of_the_dynamics(free):
    rotation, position = sh.Dynamics(free.model).poses(free.q)
    i = free.model.body_index("hand")
    assert_close(free.point("hand", (0.2, 0.0, 0.0)), position[:, i] + 0.2 * rotation[:, i, :, 0], 1e-14)
    assert np.array_equal(free.frame("grip"), free.point("hand", (0.2, 0.0, 0.0)))
    assert_close(free.frame("mark"), np.tile([1.0, 2.0, 3.0], (len(free), 1)), 1e-15)
    expected = sh.Dynamics(free.model, "extended").reactions(free.q, free.v)[:, free.model.joint_index("elbow")]
    assert_close(free.reaction("elbow"), expected, 1e-9)
    assert_close(free.reaction("float"), np.zeros((len(free), 6)), 1e-9, scale=50.0)  # nothing holds what floats


def test_the_power_of_a_force_is_the_rate_of_its_work(fed):
    fine = sh.simulate(powered(), 0.5, v0={"wrist": 2.0}, tau={"wrist": 0.1}, output=0.001)
    name = next(name for name in fine.causes if "rag" in name)
    power, work = fine.force_power(name), fine.energy.work[name]
    assert_close(np.gradient(work, fine.t)[2:-2], power[2:-2], 1e-4)
    assert fine.force_powers.shape == fine.force_energies.shape == (len(fine), len(fine.dynamics.force_names))


def test_unknown_names_are_answered_with_the_known_ones(free):
    for ask, says in (
        (lambda: free.coordinate("knee"), "'elbow'"), (lambda: free.point("leg"), "'hand'"),
        (lambda: free.frame("tip"), "'grip'"), (lambda: free.force_power("wind"), "no forces"),
        (lambda: free.plot("knee"), "'elbow'"), (lambda: free.reaction("knee"), "'elbow'"),
        (lambda: free.point("hand", (1.0, 2.0)), "point"),
    ):  # fmt: skip
        with pytest.raises(sh.SharnirError, match=says):
            ask()


def test_a_result_is_where_the_next_run_starts(free):
    whole = sh.simulate(free.model, 1.0, output=0.5, rtol=1e-10, atol=1e-12, **floating_start())
    second = sh.simulate(free.model, 0.5, t0=0.5, rtol=1e-10, atol=1e-12, **free.state())
    assert_close(second.q[-1], whole.q[-1], 1e-8)


def test_the_summary_says_what_matters(fed):
    text = fed.summary()
    for word in (
        "powered",
        "done",
        "dop853",
        "steps",
        "real time",
        "wrist turned at t = 0.1",
        "by drives",
        "removed by",
        "balance",
    ):
        assert word in text
    assert "Result('powered', 11 times, 0 … 0.5 s, done)" in repr(fed)


# --- files ------------------------------------------------------------------------------------------------------------------
def test_a_saved_result_comes_back_bit_for_bit(fed, tmp_path):
    fed.save(tmp_path / "run.nc")
    back = sh.Result.load(tmp_path / "run.nc", fed.model)
    for name in ("t", "q", "v", "tau", "work_done"):
        ours, theirs = getattr(fed, name), getattr(back, name)
        assert ours.dtype == theirs.dtype and np.array_equal(ours, theirs), name
    assert back.cost == fed.cost and back.causes == fed.causes and back.status == fed.status and back.message == fed.message
    assert [(e.name, e.t) for e in back.events] == [(e.name, e.t) for e in fed.events]
    assert all(np.array_equal(x.q, y.q) and np.array_equal(x.v, y.v) for x, y in zip(back.events, fed.events, strict=True))
    assert np.array_equal(back.a, fed.a)
    assert os.listdir(tmp_path) == ["run.nc"]


def test_other_programs_read_it_by_name(free, tmp_path):
    free.save(tmp_path / "run.nc")
    with xr.open_dataset(tmp_path / "run.nc") as data:
        elbow = data["q"].sel(coordinate="elbow").values
        hand = data["position"].sel(body="hand").values
        assert data["time"].attrs["units"] == "s" or data["time"].dtype.kind in "mf"
    assert np.array_equal(elbow, free.coordinate("elbow"))
    assert np.array_equal(hand, free.point("hand"))


@pytest.mark.filterwarnings("error")
def test_the_file_holds_the_dataset_and_the_events(fed, tmp_path):
    fed.save(tmp_path / "run.nc")
    ours = fed.to_xarray()
    with xr.open_dataset(tmp_path / "run.nc", engine="scipy") as data:
        xr.testing.assert_identical(data[list(ours)].drop_attrs(deep=False), ours.drop_attrs(deep=False))
        assert data["event_time"].dims == ("event",) and data["event_q"].dims == ("event", "coordinate")
        assert list(data["event"].values) == ["wrist turned", ""]
        assert set(data.attrs) - set(ours.attrs) == {"model_yaml"}
        for name, value in ours.attrs.items():
            assert np.array_equal(data.attrs[name], value), name


def test_what_is_driven_throughout_is_saved_too(tmp_path):
    m = sh.Model("driven")
    m.add_body("b", mass=1.0, com=(0.1, 0.0, 0.0), inertia=(0.1, 0.1, 0.1))
    m.add_joint("turn", sh.Revolute("z", motion=lambda t: t), "ground", "b")
    r = sh.simulate(m, 0.1)
    r.save(tmp_path / "a.nc")
    back = sh.Result.load(tmp_path / "a.nc", m)
    assert back.q.shape == (11, 0) and np.array_equal(back.t, r.t)


def test_a_run_that_failed_before_its_first_row_is_saved_too(tmp_path):
    m = sh.samples.pendulum()
    m.add_parameter("load", 1.0)
    m.add_force(lambda on: on.torque("hinge", on.parameter("load") * sh.sqrt(1.0 + on.q("hinge"))), name="root")
    r = sh.simulate(m, 2.0, output=[1.5], on_failure="return", save=tmp_path / "a.nc")
    back = sh.Result.load(tmp_path / "a.nc", m)
    assert len(r) == len(back) == 0 and back.status == r.status == "not_finite"
    assert back.q.shape == (0, 1) and back.parameters.shape == r.parameters.shape == (0, 1)


def test_tables_hold_every_digit(fed, tmp_path):
    fed.to_csv(tmp_path / "run.csv")
    with open(tmp_path / "run.csv", newline="", encoding="utf-8") as file:
        head, *rows = list(csv.reader(file))
    table = np.array(rows, dtype=float)
    assert head[0] == "t" and "q hinge" in head and "work of drives" in head
    assert np.array_equal(table[:, head.index("q hinge")], fed.coordinate("hinge"))
    assert np.array_equal(table[:, head.index("kinetic")], fed.energy.kinetic)


def test_a_result_saved_under_the_name_of_a_table_is_one(fed, tmp_path):
    fed.save(tmp_path / "saved.csv")
    fed.to_csv(tmp_path / "run.csv")
    assert (tmp_path / "saved.csv").read_bytes() == (tmp_path / "run.csv").read_bytes()


def test_saving_is_part_of_the_run(tmp_path):
    for name in ("run.nc", "run.csv"):
        sh.simulate(sh.samples.pendulum(), 0.1, save=tmp_path / name)
    assert len(sh.Result.load(tmp_path / "run.nc", sh.samples.pendulum())) == 11
    assert (tmp_path / "run.csv").read_text().startswith("t,q hinge")


def test_what_cannot_be_written_is_said_before_the_run(tmp_path, monkeypatch):
    runs = []
    monkeypatch.setattr("sharnir.simulation.run.runs.run", lambda *args, **options: runs.append(1))

    def refused(path, says):
        with pytest.raises(sh.StateError, match=says):
            sh.simulate(sh.samples.pendulum(), 1.0, save=path)

    refused(tmp_path / "no" / "run.nc", "no folder")
    refused(tmp_path, "is a folder")
    refused(tmp_path / "run.foo", r"unknown suffix '.foo'; end the name with .nc or .csv")
    refused(tmp_path / "run", "no suffix")
    monkeypatch.setattr(shutil, "disk_usage", lambda path: shutil._ntuple_diskusage(10**9, 10**9 - 1000, 1000))
    refused(tmp_path / "run.nc", "are free")
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    refused(tmp_path / "run.nc", "no permission")
    assert not runs


def test_a_disk_that_fills_up_leaves_no_half_file(free, tmp_path, monkeypatch):
    def full(self, *args, **options):
        assert [name.startswith(".run-") for name in os.listdir(tmp_path)] == [True]
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("sharnir.simulation.results.netcdf.Writer.append", full)
    with pytest.raises(sh.StateError, match="No space left"):
        free.save(tmp_path / "run.nc")
    assert not os.listdir(tmp_path)


def test_a_status_of_an_earlier_version_is_read_by_its_new_name(free, tmp_path):
    free.save(tmp_path / "run.nc")
    earlier = xr.open_dataset(tmp_path / "run.nc", decode_times=False).assign_attrs(status="lost")
    earlier.to_netcdf(tmp_path / "earlier.nc")
    assert sh.Result.load(tmp_path / "earlier.nc", free.model).status == "constraints_violated"


def test_files_that_are_no_results_are_refused(free, tmp_path):
    (tmp_path / "text.nc").write_text("hello")
    for path, says in ((tmp_path / "text.nc", "cannot be read"), (tmp_path / "none.nc", "no file")):
        with pytest.raises(sh.StateError, match=says):
            sh.Result.load(path, free.model)
    free.save(tmp_path / "run.nc")
    with pytest.raises(sh.StateError, match="other coordinates"):
        sh.Result.load(tmp_path / "run.nc", sh.samples.pendulum())
    whole = (tmp_path / "run.nc").read_bytes()
    (tmp_path / "run.nc").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(sh.StateError, match="cannot be read"):
        sh.Result.load(tmp_path / "run.nc", free.model)


def test_room_is_asked_for_in_megabytes(tmp_path):
    with pytest.raises(sh.StateError, match="MB are free"):
        check_writable(tmp_path / "run.nc", 10**18)


# --- pictures ---------------------------------------------------------------------------------------------------------------
def test_a_picture_of_everything_and_of_some_joints(fed, tmp_path):
    figure = fed.plot(path=tmp_path / "all.png")
    assert (tmp_path / "all.png").stat().st_size > 20000 and len(figure.axes) == 4  # orientations are angles
    fed.plot("hinge", "wrist", path=tmp_path / "some.png")
    with pytest.raises(sh.StateError, match="no folder"):
        fed.plot(path=tmp_path / "no" / "a.png")
