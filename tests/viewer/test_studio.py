"""The studio without a browser: nothing outside its folder, one job at a time, what was computed stays, failures in words."""

from __future__ import annotations

import os
import shutil
import threading

import numpy as np
import pytest

import sharnir as sh
from sharnir.model.visual import Visual
from sharnir.reporting.progress import ProgressBar, progress_listener
from sharnir.viewer.studio.folder import LARGEST_UPLOAD, Folder, words
from sharnir.viewer.studio.studio import Jobs
from sharnir.viewer.studio.workspace import COMPARISON, FORMATS, QUICK, EditedOptions, Workspace
from urdf_files import arm, write

NETCDF, CSV, PAGE = FORMATS


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """A four-bar, an arm and a run."""
    folder = tmp_path_factory.mktemp("files")
    (folder / "runs").mkdir()
    m = sh.samples.four_bar()
    m.save(folder / "four_bar.yaml")
    write(folder, *arm())
    sh.simulate(m, 0.05, q0={m.joints[0].name: 0.9}).save(folder / "runs" / "first.nc")
    return folder


@pytest.fixture
def place(files, tmp_path):
    """A folder with these in it, and secrets beside it."""
    folder = tmp_path / "studio"
    shutil.copytree(files, folder)
    shutil.copy(folder / "four_bar.yaml", tmp_path / "secret.yaml")
    (folder / "link.yaml").symlink_to(tmp_path / "secret.yaml")
    (folder / "inner.yaml").symlink_to(folder / "four_bar.yaml")
    (folder / ".hidden.yaml").write_text("x", encoding="utf-8")
    (folder / "notes.txt").write_text("x", encoding="utf-8")
    return folder


@pytest.fixture
def studio(place):
    w = Workspace(Folder(place))
    w.open("four_bar.yaml")
    return w


def differs(w: Workspace) -> bool:
    """Whether anything differs from the file."""
    at_first = {name: w.model.parameter_values(w.file_settings.get("parameters"))[name] for name in w.model.parameters}
    return w.pose is not None or bool(w.speeds) or w.values != at_first


# --- the folder ---------------------------------------------------------------------------------------------------------------
def test_models_and_results_of_the_folder_are_listed_and_links_out_of_it_are_not(place):
    found = Folder(place).listing()
    assert found.results == ("runs/first.nc",) and not found.more
    assert {"four_bar.yaml", "inner.yaml"} < set(found.models) and any(n.endswith(".urdf") for n in found.models)
    assert not {"link.yaml", ".hidden.yaml", "notes.txt"} & set(found.models)


@pytest.mark.parametrize("name", ["../secret.yaml", "link.yaml", "runs/../../secret.yaml", "/etc/passwd", "{tmp}/secret.yaml"])
def test_nothing_outside_the_folder_is_opened(place, name):
    with pytest.raises(sh.StateError, match="outside the studio's folder"):
        Folder(place).open(name.replace("{tmp}", str(place.parent)))


@pytest.mark.parametrize("name", ["", "runs", "nothing.yaml", "a\0b.yaml", "x" * 5000 + ".yaml"])
def test_what_is_no_file_is_an_error_in_words(place, name):
    with pytest.raises(sh.StateError):
        Folder(place).open(name)


def test_files_that_models_name_are_read_inside_the_folder_only(place, tmp_path):
    """The package of a model may be larger than the folder of the studio."""
    (tmp_path / "pyproject.toml").touch()
    (tmp_path / "outer.xml").write_text("<mujocoinclude><option gravity='0 0 -1'/></mujocoinclude>", encoding="utf-8")
    (place / "model.xml").write_text('<mujoco><include file="../outer.xml"/><worldbody/></mujoco>', encoding="utf-8")
    pytest.importorskip("mujoco")
    with pytest.raises(sh.FormatError, match="leads out"):
        Folder(place).open("model.xml")


def test_a_mesh_outside_the_folder_is_not_left_for_a_view_to_open(place, tmp_path):
    m = sh.samples.four_bar()
    for path in (tmp_path / "secret.stl", place / "inside.stl"):
        path.write_bytes(b"")
        m.visuals.append(Visual(m.bodies[0].name, "mesh", uri=path.name, path=path))
    m.save(place / "meshes.yaml")
    opened = Folder(place).open("meshes.yaml")
    assert [v.path for v in opened.model.visuals] == [None, place / "inside.stl"]
    assert len(opened.notes) == 1 and "secret.stl is outside the studio's folder and is not read" in opened.notes[0]


def test_an_upload_stays_in_the_folder_and_takes_the_place_of_nothing(place, tmp_path):
    folder, before = Folder(place), (place / "four_bar.yaml").read_bytes()
    assert folder.put("../../four_bar.yaml", b"a") == "four_bar-2.yaml" and folder.put("C:\\x\\new.urdf", b"b") == "new.urdf"
    assert folder.put("link.yaml", b"c") == "link-2.yaml"
    assert (place / "four_bar.yaml").read_bytes() == before and (tmp_path / "secret.yaml").read_bytes() != b"c"
    for name in ("run.sh", "", "..", ".profile.yaml", "a\n.yaml", "x.html"):
        with pytest.raises(sh.StateError, match="no model and no result"):
            folder.put(name, b"")
    with pytest.raises(sh.StateError, match="too much for an upload"):
        folder.put("large.nc", bytes(LARGEST_UPLOAD + 1))


def test_a_folder_that_is_none_is_refused(place):
    with pytest.raises(sh.StateError, match="there is no folder"):
        Folder(place / "nowhere")
    with pytest.raises(sh.StateError, match="is a file; give the folder"):
        Folder(place / "four_bar.yaml")


# --- what is open -------------------------------------------------------------------------------------------------------------
def test_a_run_is_what_simulate_gives(studio):
    model = studio.model
    studio.options = EditedOptions(duration=0.2, interval=0.02, rtol=1e-6)
    r = studio.run()
    same = sh.simulate(model, 0.2, output=0.02, rtol=1e-6, atol=1e-8)
    assert np.array_equal(r.q, same.q) and np.array_equal(r.t, same.t) and studio.result is r


def test_settings_of_the_file_hold_until_they_are_edited(place):
    m = sh.samples.four_bar()
    joint = m.joints[0].name
    options = {"integrator": "rk4", "step": 1e-3, "output": 0.05, "rtol": 1e-5, "atol": 1e-5}
    m.simulation = sh.SimulationSettings(duration=0.3, v0={joint: 2.0}, **options)
    m.save(place / "set.yaml")
    w = Workspace(Folder(place))
    w.open("set.yaml")
    assert w.options == EditedOptions(0.3, 0.05, "auto", "rk4", 1e-5, 1e-3)
    assert w.arguments()["v0"] == {joint: 2.0} and w.arguments()["atol"] == 1e-5
    assert np.array_equal(w.run().q, sh.simulate(m, **m.simulation.arguments()).q)
    w.set_speeds(joint, [1.0])
    assert differs(w) and w.run().speed(joint)[0] == 1.0
    w.reset()
    assert not differs(w)


def test_a_model_with_states_runs_from_where_its_file_says(place):
    m = sh.samples.pendulum()
    m.add_parameter("k", 2.0)
    m.add_state("clock", 0.5, sh.SignalFormula("parameter.k"))
    m.simulation = sh.SimulationSettings(duration=0.1, integrator="rk4", step=0.05, states={"clock": 0.7})
    m.save(place / "clock.yaml")
    w = Workspace(Folder(place))
    w.open("clock.yaml")
    assert w.values == {"k": 2.0} and not differs(w)
    assert w.run().state("clock")[[0, -1]] == pytest.approx([0.7, 0.9])
    w.result.save(place / "runs" / "clock.nc")
    w.open("runs/clock.nc")
    assert w.file_settings["states"] == {"clock": 0.7} and w.run().state("clock")[-1] == pytest.approx(0.9)


def test_parameters_and_start_are_those_that_were_edited(studio):
    name = studio.make_parameter(f"{studio.model.bodies[0].name}.mass")
    studio.set_parameter(name, 7.5)
    q = studio.model.assemble({studio.model.joints[0].name: 0.8})[0]
    studio.pose, studio.options = q, EditedOptions(duration=0.05)
    r = studio.run()
    assert np.allclose(r.q[0], q, atol=1e-9) and r.parameters[0].tolist() == [7.5]
    with pytest.raises(sh.StateError, match="expected a"):
        studio.set_parameter(name, float("nan"))
    assert studio.values[name] == 7.5


def test_what_fails_leaves_everything_as_it_was(studio, place):
    studio.options = EditedOptions(duration=0.02)
    opened, result = studio.opened, studio.run()
    (place / "bad.urdf").write_text("<robot", encoding="utf-8")
    for name in ("bad.urdf", "nothing.yaml", "../secret.yaml"):
        with pytest.raises(sh.SharnirError):
            studio.open(name)
    studio.options = EditedOptions(duration=0.0)
    with pytest.raises(sh.StateError, match="duration"):
        studio.run()
    assert studio.opened is opened and studio.result is result


def test_results_are_opened_with_their_model(place):
    w = Workspace(Folder(place))
    opened = w.open("runs/first.nc")
    assert w.result is opened.result and len(w.result) == 6 and w.model is w.result.model
    assert "1 degree of freedom" in w.mobility() and np.allclose(w.run().q, w.opened.result.q, atol=1e-9), "it runs as it ran"


@pytest.mark.parametrize("kind", [NETCDF, CSV])
def test_a_run_is_taken_away_as_it_is_saved(studio, place, kind):
    studio.options = EditedOptions(duration=0.02)
    with pytest.raises(sh.StateError, match="run the model first"):
        studio.file(kind)
    r = studio.run()
    (place / ".sharnir-trial").write_text("mine", encoding="utf-8")
    before = sorted(os.listdir(place))
    name, content = studio.file(kind)
    assert sorted(os.listdir(place)) == before, "what is made for a download is gone"
    kept = [studio.keep(kind), studio.keep(kind)]
    assert kept == [name, name.replace("-run", "-run-2")] and (place / kept[0]).read_bytes() == content
    if kind == NETCDF:
        assert np.array_equal(sh.Result.load(place / kept[0]).q, r.q)


def test_the_comparison_agrees_and_is_a_page(studio, monkeypatch):
    monkeypatch.setattr("sharnir.viewer.studio.workspace.BUDGET", None)  # however slow the machine
    monkeypatch.setitem(QUICK, "backends", "python")
    with pytest.raises(sh.StateError, match="compare the methods first"):
        studio.file(COMPARISON)
    c = studio.compare()
    name, content = studio.file(COMPARISON)
    assert c.disagreement < 1e-9 and name == "four_bar-compared.html" and b"<!DOCTYPE html>" in content[:100]


# --- jobs -----------------------------------------------------------------------------------------------------------------------
def test_whatever_has_a_progress_bar_tells_a_listener_in_its_thread_alone():
    told, elsewhere = [], []
    with progress_listener(lambda share, words: told.append((share, words))):
        with ProgressBar(False, "work", 4.0, 2.0, "{:g} s") as bar:
            bar.update(3.0)
            bar.update(4.0, "the end")
        other = threading.Thread(target=lambda: elsewhere.append(ProgressBar(False, "other", 1.0).update(0.5)))
        other.start()
        other.join()
    ProgressBar(False, "later", 1.0).update(1.0)
    assert told == [(0.5, "work, 3 s"), (1.0, "work, the end")] and elsewhere == [None]


def test_a_job_that_is_stopped_leaves_what_it_computed(studio):
    seen, results = threading.Event(), []

    def changed(progress):
        if progress.running and progress.share > 0.0:
            seen.set()

    jobs = Jobs(changed)
    studio.options = EditedOptions(duration=1e5, interval=10.0)
    jobs.start("the run", studio.run, results.append)
    assert seen.wait(600.0)
    with pytest.raises(sh.StateError, match="the run is still running; wait for it or stop it, then start another"):
        jobs.start("another", studio.run, results.append)
    jobs.stop()
    jobs.wait(600.0)
    (r,) = results
    assert r.status == "interrupted" and 0.0 < r.t[-1] < 1e5 and not jobs.progress.running and jobs.progress.error == ""


def test_errors_of_a_job_are_words(capsys):
    jobs = Jobs(lambda progress: None)
    for failure, said in (
        (sh.StateError("the wrong speed"), "the wrong speed"),
        (ZeroDivisionError("x"), "this should not have happened, please report it: ZeroDivisionError: x"),
        (MemoryError(), "the memory does not suffice"),
        (KeyboardInterrupt(), "was stopped before there was anything to keep"),
    ):

        def work(failure=failure):
            raise failure

        jobs.start("it", work, print)
        jobs.wait()
        assert said in jobs.progress.error and "Traceback" not in jobs.progress.error
    assert words(OSError(2, "No such file")) == "[Errno 2] No such file"
    jobs.start("it", lambda: 1, print)
    jobs.wait()
    assert jobs.progress.error == "" and "ZeroDivisionError" in capsys.readouterr().err


def test_a_file_that_is_no_model_is_refused_before_anything_is_served(command, tmp_path):
    (tmp_path / "hosts").write_text("127.0.0.1", encoding="utf-8")
    code, out, err = command("studio", tmp_path / "hosts", "--no-browser")
    assert code and not out and "hosts: the suffix '' is none of a model or a result" in err
