"""A run with `save`: whatever ends it, its rows are in a file or in the error; the file of the run before stays until then."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import sharnir as sh
from browser import wait_for
from sharnir.simulation.results.netcdf import Writer
from sharnir.simulation.run import recording

pytestmark = pytest.mark.xdist_group("integrators")

FIXED = {"method": "separate", "integrator": "rk4", "step": 0.01, "output": None}


def partial_files(folder):
    return sorted(folder.glob("run.partial-*.nc"))


def same_motion(a, b):
    return all(np.array_equal(getattr(a, name), getattr(b, name)) for name in ("t", "q", "v", "work_done", "parameters"))


@pytest.fixture
def at_once(monkeypatch):
    """Rows are written at every pause of the integrator, and there is one whenever its buffer of sixteen rows is full."""
    monkeypatch.setattr(recording, "INTERVAL", 0.0)
    monkeypatch.setattr(recording, "SHARE", 0.0)
    monkeypatch.setattr("sharnir.integrate.driver.ROWS", 16)


def loaded():
    """A load that an event doubles: parameters, work and an event."""
    m = sh.samples.pendulum()
    m.add_parameter("load", 1.0)
    m.add_force(lambda on: on.torque("hinge", on.parameter("load")), name="weight")

    def double(moment):
        moment.parameters["load"] *= 2.0

    return m, [sh.Event(lambda on: on.t - 0.205, double, name="doubled")]


KILLED = """
import sys, sharnir as sh
from sharnir.simulation.run import recording
recording.INTERVAL = 0.0
sh.simulate(sh.samples.chain(2), 1e9, method="separate", integrator="rk4", step=0.01, output=None, every=100, save=sys.argv[1])
"""


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="signals of POSIX")
def test_a_run_that_is_killed_leaves_its_rows_and_the_file_of_the_run_before(tmp_path):
    path = tmp_path / "run.nc"
    path.write_text("before")
    environment = {**os.environ, "PYTHONPATH": str(Path(sh.__file__).parents[1])}
    with subprocess.Popen([sys.executable, "-c", KILLED, str(path)], env=environment) as process:
        wait_for(lambda: partial_files(tmp_path) or process.poll() is not None)
        wait_for(lambda: len(sh.Result.load(*partial_files(tmp_path))) > 1)
        process.kill()
    (left,) = partial_files(tmp_path)
    r = sh.Result.load(left)
    assert r.status == "interrupted" and f"rows up to t = {r.t[-1]:g}" in r.message and "interrupted" in r.summary()
    whole = sh.simulate(r.model, float(r.t[-1]), every=100, **FIXED)
    assert len(r) > 1 and same_motion(r, whole)
    assert path.read_text() == "before" and set(tmp_path.iterdir()) == {path, left}
    path.unlink()
    with pytest.raises(sh.StateError, match=rf"no file .*a run that did not finish has left '.*{left.name}'"):
        sh.Result.load(path)


def test_at_every_instant_of_a_run_the_file_holds_its_rows(tmp_path, monkeypatch, at_once):
    m, events = loaded()
    seen = []
    append = Writer.append

    def looked_at(self, columns):
        append(self, columns)
        if files := partial_files(tmp_path):
            seen.append(sh.Result.load(files[0], m))

    monkeypatch.setattr(Writer, "append", looked_at)
    r = sh.simulate(m, 1.0, events=events, save=tmp_path / "run.nc", **FIXED)
    assert os.listdir(tmp_path) == ["run.nc"] and len(seen) > 3
    assert len({len(part) for part in seen}) > 3 and {part.status for part in seen} == {"interrupted"}
    assert set(r.parameters[:, 0]) == {1.0, 2.0} and np.ptp(r.work_done) > 0.0
    for part in seen:
        n = len(part)
        assert np.array_equal(part.t, r.t[:n]) and np.array_equal(part.q, r.q[:n]) and np.array_equal(part.v, r.v[:n])
        assert np.array_equal(part.parameters, r.parameters[:n]) and np.array_equal(part.work_done, r.work_done[:n])
    assert same_motion(sh.Result.load(tmp_path / "run.nc", m), r)


def test_other_programs_read_the_rows_of_a_run_that_goes_on(tmp_path, monkeypatch, at_once):
    import xarray as xr

    lengths = []
    append = Writer.append

    def looked_at(self, columns):
        append(self, columns)
        for file in partial_files(tmp_path):
            with xr.open_dataset(file, engine="scipy") as data:
                lengths.append(len(data["q"].sel(coordinate="joint1")))

    monkeypatch.setattr(Writer, "append", looked_at)
    sh.simulate(sh.samples.chain(2), 0.5, save=tmp_path / "run.nc", **FIXED)
    assert lengths[-1] > lengths[0] > 0


def test_a_short_run_and_one_that_is_not_saved_open_no_file_beside(tmp_path, monkeypatch):
    monkeypatch.setattr(recording.Recording, "_open", lambda *_: pytest.fail("a file beside"))
    sh.simulate(sh.samples.pendulum(), 0.1, save=tmp_path / "run.nc", **FIXED)
    monkeypatch.setattr(recording, "INTERVAL", 0.0)
    monkeypatch.setattr(recording.Recording, "keep", lambda *_: pytest.fail("rows kept"))
    sh.simulate(sh.samples.pendulum(), 0.1, **FIXED)


# --- what cannot be written -------------------------------------------------------------------------------------------------
def gone(folder, monkeypatch):
    shutil.rmtree(folder)


def full(folder, monkeypatch):
    def write(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("sharnir.simulation.results.storage.Writer", write)
    monkeypatch.setattr("sharnir.simulation.results.storage.csv.writer", write)


def a_folder(folder, monkeypatch):
    (folder / "run.nc").mkdir()
    (folder / "run.csv").mkdir()


def underivable(folder, monkeypatch):
    def fail(self):
        raise MemoryError

    monkeypatch.setattr(sh.Result, "a", property(fail))


@pytest.mark.parametrize("name", ["run.nc", "run.csv"])
@pytest.mark.parametrize(
    ("happens", "says"),
    [(gone, "no folder"), (full, "No space left"), (a_folder, "is a folder"), (underivable, "MemoryError")],
    ids=lambda x: getattr(x, "__name__", ""),
)
def test_a_run_that_cannot_be_written_is_in_the_error(tmp_path, monkeypatch, at_once, name, happens, says):
    folder = tmp_path / "folder"
    folder.mkdir()
    m = sh.samples.chain(2)
    expected = sh.simulate(m, 0.5, **FIXED)
    finish = recording.Recording.finish

    def finish_then(self, r):
        happens(folder, monkeypatch)
        finish(self, r)

    monkeypatch.setattr(recording.Recording, "finish", finish_then)
    with pytest.raises(sh.SaveError, match=f"cannot write .*{says}.*The motion is in the error's `result`") as error:
        sh.simulate(m, 0.5, save=folder / name, **FIXED)
    assert issubclass(sh.SaveError, sh.StateError) and error.value.result.status == "done"
    assert same_motion(error.value.result, expected)
    if happens is gone:
        assert "partial" not in str(error.value)
    else:
        (left,) = partial_files(folder)
        assert str(left) in str(error.value) and same_motion(sh.Result.load(left), expected)


def test_a_disk_that_is_full_for_a_while_costs_nothing(tmp_path, monkeypatch, at_once):
    append, calls = Writer.append, []

    def sometimes(self, columns):
        calls.append(len(columns["time"]))
        if len(calls) in (2, 3):
            self.file.write(b"half a row")
            raise OSError(28, "No space left on device")
        append(self, columns)

    monkeypatch.setattr(Writer, "append", sometimes)
    r = sh.simulate(sh.samples.chain(2), 1.0, save=tmp_path / "run.nc", **FIXED)
    assert calls[3] > calls[2] > calls[1]  # what could not be written is written with the next rows
    assert same_motion(sh.Result.load(tmp_path / "run.nc"), r) and os.listdir(tmp_path) == ["run.nc"]


def test_a_limit_on_the_size_of_files_loses_no_run(tmp_path, at_once):
    resource = pytest.importorskip("resource")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, hard))
    try:
        with pytest.raises(sh.SaveError, match="File too large") as error:
            sh.simulate(sh.samples.chain(2), 10.0, save=tmp_path / "run.nc", **FIXED)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    (left,) = partial_files(tmp_path)
    r = sh.Result.load(left)
    assert len(error.value.result) == 1001 and 50 < len(r) < 1001
    assert np.array_equal(r.q, error.value.result.q[: len(r)])


def test_a_run_that_fails_and_cannot_be_written_says_both(tmp_path, monkeypatch):
    m = sh.samples.pendulum()
    m.add_force(lambda on: on.torque("hinge", sh.sqrt(1.0 + on.q("hinge"))), name="root")
    full(tmp_path, monkeypatch)
    with pytest.raises(sh.SaveError, match=r"No space left.*ended early.*not finite") as error:
        sh.simulate(m, 2.0, save=tmp_path / "run.nc")
    assert error.value.result.status == "not_finite" and len(error.value.result) > 10


# --- what ends a run --------------------------------------------------------------------------------------------------------
def test_an_error_in_the_action_of_an_event_leaves_the_rows_before_it(tmp_path, at_once):
    def fail(moment):
        raise ZeroDivisionError

    event = sh.Event(lambda on: on.t - 0.505, fail)
    with pytest.raises(sh.SimulationError) as error:
        sh.simulate(sh.samples.pendulum(), 1.0, events=[event], save=tmp_path / "run.nc", **FIXED)
    r = sh.Result.load(tmp_path / "run.nc")
    assert isinstance(error.value.__cause__, ZeroDivisionError) and same_motion(r, error.value.result)
    assert r.status == "raised" and r.t[-1] == pytest.approx(0.505)
    assert os.listdir(tmp_path) == ["run.nc"]


def test_ctrl_c_writes_what_was_computed_and_says_where(tmp_path, monkeypatch, at_once):
    keep, calls = recording.Recording.keep, []

    def interrupted(self, pieces):
        calls.append(len(pieces))
        if len(calls) == 4:
            raise KeyboardInterrupt
        keep(self, pieces)

    monkeypatch.setattr(recording.Recording, "keep", interrupted)
    r = sh.simulate(sh.samples.pendulum(), 10.0, save=tmp_path / "run.nc", **FIXED)
    assert r.status == "interrupted" and r.message.endswith(f"the motion up to there is in {tmp_path / 'run.nc'}")
    back = sh.Result.load(tmp_path / "run.nc")
    assert same_motion(back, r) and back.message == r.message and 0.0 < r.t[-1] < 10.0
    assert os.listdir(tmp_path) == ["run.nc"]


def test_ctrl_c_while_the_result_is_written_keeps_the_rows(tmp_path, monkeypatch, at_once):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(recording, "write", interrupted)
    with pytest.raises(KeyboardInterrupt) as error:
        sh.simulate(sh.samples.pendulum(), 1.0, save=tmp_path / "run.nc", **FIXED)
    (left,) = partial_files(tmp_path)
    assert str(left) in error.value.__notes__[0] and sh.Result.load(left).t[-1] == pytest.approx(1.0)
