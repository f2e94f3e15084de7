"""Studies: nothing computed is lost or mixed, whoever computed it and whatever ended it."""

from __future__ import annotations

import _thread
import errno
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from functools import partial

import numpy as np
import pytest
import xarray as xr
from scipy import stats

import sharnir as sh
from browser import wait_for
from sharnir.studies.compute.identity import fingerprint, model_digest, packed, unpacked
from sharnir.studies.compute.store import Folder
from sharnir.studies.compute.worker import Task
from sharnir.studies.design.designs import design_of
from study_cases import OUTPUTS, OVER, RUN, same, spring_pendulum


@pytest.fixture
def pendulum() -> sh.Model:
    return spring_pendulum()


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
    for unfinished in ("..zattrs-12345678", "...zattrs-12345678-12345678", "..zgroup-12345678"):  # or another process is at it
        (tmp_path / unfinished).write_text("{", encoding="utf-8")
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


def read_whole(store, **options):
    """A study of a table in three bundles, every number of it."""
    runs = [{"bar.mass": 0.5 + k} for k in range(5)]
    return sh.study(spring_pendulum(), runs, RUN, {"end": "final of hinge"}, store=store, progress=False, **options).load()


def changed(file, **fields):
    file.write_text(json.dumps(json.loads(file.read_text(encoding="utf-8")) | fields), encoding="utf-8")


def replaced(file, by):
    file.unlink()
    file.mkdir() if by == "a folder" else file.symlink_to(by)


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (lambda s: (s / "end" / "1").unlink(), r"chunk 1 of 'end' is missing; remove .*1 and call study again"),
        (lambda s: (s / "t_end" / "1").unlink(), "chunk 1 of 't_end' is missing"),
        (lambda s: (s / "bar.mass" / "1").unlink(), "chunk 1 of 'bar.mass' is missing"),
        (lambda s: replaced(s / "end" / "1", "a folder"), "chunk 1 of 'end' is damaged"),
        (lambda s: replaced(s / "end" / "1", os.devnull), "chunk 1 of 'end' is damaged"),
        (lambda s: replaced(s / "status" / "1", "a folder"), "chunk 1 of 'status' is damaged; remove .*1 and call study again"),
        (lambda s: shutil.rmtree(s / "end"), "'end' is missing of runs that are done; remove .*status and call study again"),
        (lambda s: shutil.rmtree(s / "bar.mass"), "'bar.mass' is missing of runs that are done; remove .*status and"),
    ],
)
def test_a_store_that_lost_a_part_says_which_and_how_to_mend_it(tmp_path, damage, words):
    store = tmp_path / "s"
    whole = read_whole(store, bundle=2)
    damage(store)
    for read in (lambda: sh.open_study(store).load(), lambda: read_whole(store)):
        with pytest.raises(sh.StateError, match=words):
            read()
    mended = store / "status" if "status and" in words else store / "status" / "1"
    shutil.rmtree(mended) if mended.is_dir() else mended.unlink()
    if (store / "end" / "1").is_dir():
        (store / "end" / "1").rmdir()
    assert same(read_whole(store), whole)


@pytest.mark.parametrize(
    ("file", "fields"),
    [
        *((".zattrs", {"bundle": n}) for n in (0, -5, 1, 2.5, True)),
        *((".zattrs", {"runs": n}) for n in (0, -5, 7)),
        (".zattrs", {"output_names": 3}),
        ("end/.zarray", {"dtype": "<i8"}),
        ("end/.zarray", {"shape": [5, 3]}),
        ("end/.zarray", {"chunks": [3]}),
    ],
)
def test_a_store_whose_description_is_damaged_is_refused(tmp_path, file, fields):
    store = tmp_path / "s"
    read_whole(store, bundle=2)
    changed(store / file, **fields)
    for read in (lambda: sh.open_study(store).load(), lambda: read_whole(store)):
        with pytest.raises(sh.StateError, match=f"{store}: it holds no study of sharnir, or a damaged one"):
            read()


def test_an_array_without_its_description_is_refused(tmp_path):
    read_whole(tmp_path / "s", bundle=2)
    (tmp_path / "s" / "end" / ".zattrs").unlink()
    with pytest.raises(sh.StateError, match="it holds no study of sharnir, or a damaged one"):
        sh.open_study(tmp_path / "s")


def test_what_another_study_has_finished_does_not_end_this_one(tmp_path, monkeypatch):
    """Two processes were given the same name: what this one has computed stays."""
    path, put = tmp_path / "s.nc", Folder.put

    def put_after_another(self, k, rows, bundle):
        put(self, k, rows, bundle)
        monkeypatch.undo()
        shutil.copy(other, path)
        raise OSError(errno.EIO, "the disk is gone")

    other = tmp_path / "other.nc"
    sh.study(spring_pendulum(), [{"bar.mass": 7.0}], RUN, {"end": "final of hinge"}, store=other, progress=False)
    monkeypatch.setattr(Folder, "put", put_after_another)
    with pytest.raises(sh.StateError, match="holds another study"):
        read_whole(path, bundle=2)
    assert list((tmp_path / "s.nc.partial" / "status").glob("[0-9]"))  # whichever bundle came first


def test_chunks_beyond_the_last_bundle_are_no_runs(tmp_path):
    whole = read_whole(tmp_path / "s", bundle=2)
    for name in ("99", "\N{ARABIC-INDIC DIGIT SEVEN}"):
        shutil.copy(tmp_path / "s" / "status" / "1", tmp_path / "s" / "status" / name)
    found = sh.open_study(tmp_path / "s")
    assert found.attrs["status"] == "done" and same(found, whole)


def test_a_bundle_without_a_run_that_ended_may_lack_outputs(tmp_path):
    """Its runs were refused before any run had shown of which shape the output is."""
    runs = [{"bar.mass": m} for m in (1.0, -1.0, 2.0)]
    outputs = {"ends": lambda r: r.q[-1]}
    given = {"store": tmp_path / "s", "bundle": 1, "workers": 1, "progress": False}
    ds = sh.study(spring_pendulum(), [runs[1], runs[0], runs[1]], RUN, outputs, **given)
    assert ds["status"].values.tolist() == ["refused", "done", "refused"]
    assert np.isnan(ds["ends"].values).all(axis=1).tolist() == [True, False, True] and same(ds, sh.open_study(tmp_path / "s"))


def test_a_store_in_a_folder_that_is_not_there_is_refused(tmp_path):
    for name in ("a/b", "a/b.nc"):
        with pytest.raises(sh.StateError, match=f"there is no folder {tmp_path / 'a'}; make it first"):
            read_whole(tmp_path / name)
    for name in (os.devnull, f"{os.devnull}/x"):
        with pytest.raises(sh.StateError):
            read_whole(name)
        with pytest.raises(sh.StateError, match="there is no study in"):
            sh.open_study(name)
    assert not list(tmp_path.iterdir())


def test_a_study_that_another_process_finishes_first_is_the_one_in_the_file(tmp_path, monkeypatch):
    path, put = tmp_path / "s.nc", Folder.put

    def put_after_another(self, k, rows, bundle):
        monkeypatch.undo()
        read_whole(path, bundle=2)
        put(self, k, rows, bundle)

    monkeypatch.setattr(Folder, "put", put_after_another)
    ds = read_whole(path, bundle=2)
    assert ds.attrs["status"] == "done" and np.array_equal(ds["end"], sh.open_study(path)["end"])
    assert [p.name for p in tmp_path.iterdir()] == ["s.nc"]


def test_a_store_that_another_process_begins_meanwhile_keeps_its_bundles(tmp_path, monkeypatch):
    """Which size is best is measured, and two processes measure two."""
    module = sys.modules["sharnir.studies.study"]

    def measured(*given):
        monkeypatch.undo()
        read_whole(tmp_path / "s", bundle=4)
        return 3

    monkeypatch.setattr(module, "_bundle_size", measured)
    ds = read_whole(tmp_path / "s")
    assert set(ds["status"].values) == {"done"}
    assert json.loads((tmp_path / "s" / ".zattrs").read_text(encoding="utf-8"))["bundle"] == 4


@pytest.mark.parametrize("store", [None, "s"])
def test_a_study_that_is_interrupted_before_its_first_bundle_says_so_of_every_run(tmp_path, store):
    def interrupted(r):
        raise KeyboardInterrupt

    place = {} if store is None else {"store": tmp_path / store}
    runs = [{"bar.mass": 0.5 + k} for k in range(5)]
    ds = sh.study(spring_pendulum(), runs, RUN, {"end": interrupted}, bundle=2, workers=1, progress=False, **place)
    assert ds.attrs["status"] == "interrupted" and set(ds["status"].values) == {"not_run"}
    assert np.isnan(ds["end"].values).all() and set(ds["message"].values) == {""} and ds["bar.mass"].dims == ("run",)


def test_a_netcdf_file_whose_bytes_changed_is_refused(tmp_path):
    path = tmp_path / "s.nc"
    whole = read_whole(path)
    whole.close()
    good, rng = path.read_bytes(), np.random.default_rng(0)
    for at in [*range(0, 400, 7), *rng.integers(400, len(good) - 16, 60)]:
        path.write_bytes(good[:at] + bytes([good[at] ^ 1 << rng.integers(8)]) + good[at + 1 :])
        for read in (sh.open_study, read_whole):
            with pytest.raises(sh.StateError, match=f"{path} cannot be read as a study"):
                read(path)
    for end in (0, 3, 40, len(good) // 2, len(good) - 40):
        path.write_bytes(good[:end])
        with pytest.raises(sh.StateError, match=f"{path} cannot be read as a study"):
            sh.open_study(path)
    path.write_bytes(good[:-16])  # as older versions wrote it
    with sh.open_study(path) as older:
        assert np.array_equal(older["end"], whole["end"])


def test_names_in_any_letters_come_back_from_a_netcdf_file(tmp_path):
    names = ("Masse größer", "масса Ω", "\N{RIGHT-TO-LEFT OVERRIDE}mass")
    model = spring_pendulum()
    for name in names:
        model.add_parameter(name, 1.0)
    given = {"outputs": {"Σ": "final of hinge"}, "store": tmp_path / "s.nc", "progress": False}
    ds = sh.study(model, {name: [1.0, 2.0] for name in names}, RUN, **given)
    with sh.open_study(tmp_path / "s.nc") as back:
        assert set(back.sizes) == set(names) and np.array_equal(back["Σ"], ds["Σ"]) and same(back.load(), ds)
    assert "масса Ω".encode() in (tmp_path / "s.nc").read_bytes(), "names are UTF-8, as the format has it"
    older = ds["status"].rename({names[1]: "a", names[2]: "b"}).to_dataset()
    older.to_netcdf(tmp_path / "older.nc", engine="scipy", format="NETCDF3_64BIT")  # in Latin-1
    with sh.open_study(tmp_path / "older.nc") as back:
        assert set(back.sizes) == {names[0], "a", "b"}


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
import os, sys, time
from pathlib import Path
import sharnir as sh
model = sh.samples.pendulum()
def slow(r):
    if len(list(Path(os.environ.get("DEADLY", "none")).glob("[0-9]*"))) >= 4:
        os.kill(os.getpid(), 9)
    time.sleep(0.01)
    return r.q[-1, 0]
sh.study(model, {"bar.mass": [1.0 + k / 100 for k in range(60)]}, {"duration": 0.1}, {"end": "final of hinge", "slow": slow},
         store=sys.argv[1], bundle=3, workers=1, progress=False)
"""


def test_a_study_whose_process_is_killed_goes_on_where_it_was(tmp_path):
    """Killed with signal 9 in the middle; what is there is taken, the rest computed, the whole as if nothing had happened."""
    script = tmp_path / "script.py"
    script.write_text(KILLED, encoding="utf-8")
    status = tmp_path / "s" / "status"
    environment = {**os.environ, "DEADLY": str(status)}  # to itself, once four bundles are stored
    done = subprocess.run([sys.executable, str(script), str(tmp_path / "s")], env=environment, check=False)
    assert done.returncode == -signal.SIGKILL
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

    def interrupt():
        wait_for(lambda: len([*(tmp_path / "s" / "status").glob("[0-9]*")]) >= 2)
        _thread.interrupt_main()

    over = {"bar.mass": np.linspace(1.0, 2.0, 200)}
    threading.Thread(target=interrupt).start()
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
