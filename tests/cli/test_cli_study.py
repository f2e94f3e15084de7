"""`sharnir study`: what a file may say, exit codes, results that go on where they were, and mistakes by file, line and field."""

from __future__ import annotations

import csv
import re
import signal
from pathlib import Path

import numpy as np
import pytest
import xarray as xr

import sharnir as sh
from sharnir.studies.compute import execution

ROOT = Path(__file__).parents[2]
RUN = "run: {duration: 0.1}\n"
OUTPUTS = "outputs: {angle: final of hinge}\n"
GRID = f"sample: pendulum\nover: {{q0.hinge: [0.1, 1e-1, 0.3]}}\n{RUN}{OUTPUTS}"


@pytest.fixture
def study(command, tmp_path):
    """`sharnir study` of a text, which is written to study.yaml."""

    def call(text: str, *arguments: object) -> tuple[int, str, str]:
        (tmp_path / "study.yaml").write_text(text, encoding="utf-8")
        return command("study", tmp_path / "study.yaml", *arguments)

    return call


@pytest.fixture
def angles(study, tmp_path):
    """The dataset of a study."""

    def call(text: str, *arguments: object) -> xr.Dataset:
        code, out, err = study(text, "-q", "-o", tmp_path / "out.nc", *arguments)
        assert (code, out, err) == (0, "", "")
        with xr.open_dataset(tmp_path / "out.nc", engine="scipy") as ds:
            return ds.load()

    return call


# --- what a file may say ----------------------------------------------------------------------------------------------------
def test_a_grid_is_that_of_the_public_function(angles):
    ds = angles(
        "sample: pendulum\nover:\n  q0.hinge: [1e-1, pi/4]\n  v0.hinge: {from: 0, to: 2, points: 3}\n"
        f"  rtol: {{from: 1e-8, to: 1e-4, points: 2, log: true}}\n{RUN}{OUTPUTS}"
    )
    over = {"q0.hinge": [0.1, np.pi / 4], "v0.hinge": [0.0, 1.0, 2.0], "rtol": [1e-8, 1e-4]}
    asked = sh.study(sh.samples.pendulum(), over, {"duration": 0.1}, {"angle": "final of hinge"})
    assert ds.sizes == asked.sizes and ds.attrs["identity"] == asked.attrs["identity"]
    assert np.array_equal(ds["angle"], asked["angle"])


def test_runs_are_drawn(angles):
    text = (
        "sample: pendulum\nover:\n  q0.hinge: {normal: [0, 0.2], within: [-0.1, 0.3]}\n  v0.hinge: {triangular: [0, 1, 2]}\n"
        "  tau.hinge: {uniform: [-1, 1]}\n  rtol: {loguniform: [1e-8, 1e-4]}\n  duration: [0.1, 0.2]\n"
        f"runs: 16\nsampler: sobol\nseed: 3\n{OUTPUTS}"
    )
    ds = angles(text)
    assert ds.sizes == {"run": 16} and ds.attrs["seed"] == 3
    assert (ds["q0.hinge"] >= -0.1).all() and (ds["q0.hinge"] <= 0.3).all() and set(ds["duration"].values) == {0.1, 0.2}
    half = angles(text, "--runs", 8)
    assert np.array_equal(half["angle"], ds["angle"][:8])
    assert not np.array_equal(angles(text, "--seed", 4)["angle"], ds["angle"])


def test_distributions_have_the_numbers_they_are_given():
    from sharnir.studies.design.file_values import FAMILIES, Truncated, distribution

    numbers = {"uniform": (2, 4), "loguniform": (1, 100), "normal": (5, 1), "lognormal": (3, 0.1), "triangular": (0, 1, 2),
               "weibull": (2, 1)}  # fmt: skip
    medians = {"uniform": 3, "loguniform": 10, "normal": 5, "lognormal": 3, "triangular": 1, "weibull": 2 * np.log(2)}
    assert set(numbers) == set(FAMILIES)
    for name, given in numbers.items():
        assert distribution(name, given).ppf(0.5) == pytest.approx(medians[name])
    assert Truncated(distribution("normal", (0, 1)), 0.0, 9.0).ppf(0.5) == pytest.approx(0.6744898)


def test_runs_one_by_one_in_the_file_and_in_a_table(angles, tmp_path):
    listed = angles(
        f"sample: pendulum\nover:\n  - {{q0.hinge: 0.1, limits: ignore}}\n  - {{q0.hinge: 2e-1, limits: stop}}\n{RUN}{OUTPUTS}"
    )
    (tmp_path / "runs.csv").write_text("q0.hinge; limits\n0.1; ignore\n# far\n2e-1; stop\n", encoding="utf-8")
    table = angles(f"sample: pendulum\ntable: runs.csv\n{RUN}{OUTPUTS}")
    assert listed.sizes == {"run": 2} and listed["limits"].values.astype(str).tolist() == ["ignore", "stop"]
    assert np.array_equal(listed["angle"], table["angle"])


def test_a_model_file_beside_it_and_its_settings_hold_unless_the_study_says_otherwise(angles, tmp_path):
    model = sh.samples.pendulum()
    model.simulation = sh.SimulationSettings(duration=0.1, v0={"hinge": 1.0}, rtol=1e-3)
    model.save(tmp_path / "pendulum.yaml")
    over = "model: pendulum.yaml\nover: {rtol: [1e-6, 1e-9]}\n"
    first, second = angles(over + OUTPUTS), angles(f"{over}run: {{v0: {{hinge: 2}}}}\n{OUTPUTS}")
    for ds, v0 in ((first, 1.0), (second, 2.0)):
        asked = sh.simulate(sh.samples.pendulum(), 0.1, v0={"hinge": v0}, rtol=1e-9)
        assert ds["angle"][1] == pytest.approx(asked.q[-1, 0], rel=1e-11)


def test_events_of_the_runs_are_outputs(angles):
    ds = angles(
        "sample: pendulum\nover: {q0.hinge: [0.1, 3]}\nrun:\n  duration: 0.4\n  events: [{when: q.hinge, name: level}]\n"
        "outputs: {when: time of event level}\n"
    )
    assert 0.0 < ds["when"][0] < 0.4 and np.isnan(ds["when"][1])


def test_the_example_of_the_documentation(command, tmp_path):
    text = (ROOT / "docs" / "studies_file.md").read_text(encoding="utf-8")
    examples = re.findall(r"```yaml\n(.*?)```", text, flags=re.DOTALL)
    assert len(examples) >= 2
    sh.samples.quarter_car().save(tmp_path / "car.yaml")
    (tmp_path / "runs.csv").write_text("mass, damping\n350, 1500\n", encoding="utf-8")
    for k, example in enumerate(examples):
        (tmp_path / f"{k}.yaml").write_text(example, encoding="utf-8")
        code, out, err = command("study", tmp_path / f"{k}.yaml")
        assert (code, err) == (0, "") and "none failed" in out


# --- what is printed and written --------------------------------------------------------------------------------------------
def test_the_second_call_finds_all_in_the_store(study, tmp_path):
    for store in ("results", "results.nc"):
        code, out, err = study(f"{GRID}store: {store}\n")
        assert (code, err) == (0, "") and "study of pendulum: 3 runs (grid of 3), none failed" in out
        assert "a second" in out and f"results: {tmp_path / store}" in out and (tmp_path / store).exists()
        code, out, err = study(f"{GRID}store: {store}\n")
        assert (code, err) == (0, "") and "all runs were in the store already" in out
    code, out, err = study(f"{GRID}store: results\nseed: 1\n", "--store", tmp_path / "other")
    assert not code and f"results: {tmp_path / 'other'}" in out
    code, _, err = study(f"{GRID}store: results\nseed: 1\n")
    assert code == 1 and "results holds another study: its seed is 0, not 1" in err


def test_the_summary_has_ranges_with_their_inputs_and_files_are_written(study, tmp_path):
    files = [tmp_path / name for name in ("a.csv", "a.html", "a.png")]
    code, out, err = study(GRID.replace("0.3", "0.3, -0.2"), "-o", files[0], "--page", files[1], "--plot", files[2])
    assert (code, err) == (0, "")
    assert re.search(r"angle, rad +-\S+ +q0.hinge = -0.2 +\S+ +\S+ +q0.hinge = 0.3", out)
    assert [line for line in out.splitlines() if "written" in line] == [f"written: {file}" for file in files]
    with files[0].open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [float(row["q0.hinge"]) for row in rows] == [0.1, 0.1, 0.3, -0.2] and {row["status"] for row in rows} == {"done"}
    assert "<html" in files[1].read_text(encoding="utf-8") and files[2].read_bytes()[:4] == b"\x89PNG"


def test_a_table_has_a_column_for_every_number_of_a_run_but_no_motions(study, tmp_path):
    text = f"sample: double_pendulum\nover: {{q0.hinge1: [0.1, 0.2]}}\n{RUN}"
    assert study(text, "-o", tmp_path / "a.csv")[0] == 0
    head, *rows = (tmp_path / "a.csv").read_text(encoding="utf-8").splitlines()
    assert head == "run,q0.hinge1,q[hinge1],q[hinge2],v[hinge1],v[hinge2],status,message,t_end"
    assert [row.split(",")[:2] for row in rows] == [["0", "0.1"], ["1", "0.2"]]
    code, _, err = study(f"{text}outputs: {{path: motion of hinge1}}\n", "-o", tmp_path / "a.csv")
    assert not code and "path: too many numbers per run for a table; write a .nc file" in err
    assert (tmp_path / "a.csv").read_text(encoding="utf-8").startswith("run,q0.hinge1,status,")


def test_runs_that_fail_are_counted_with_their_messages_and_only_all_of_them_are_an_error(study, tmp_path):
    text = f"sample: pendulum\nover: {{rtol: [1e-6, -1]}}\n{RUN}{OUTPUTS}"
    code, out, err = study(text)
    assert (code, err) == (0, "") and "2 runs (grid of 2), 1 failed" in out
    assert "1 refused: rtol and atol must not be negative" in out
    code, out, err = study(text.replace("1e-6", "-2"))
    assert (code, out) == (1, "") and "no run can begin: rtol and atol must not be negative" in err
    code, out, err = study(text.replace("rtol: [1e-6, -1]", "bar.mass: [-1, -2]"), "--plot", tmp_path / "a.png")
    assert code == 1 and "all failed" in out and "sharnir: all runs failed\n" in err
    assert "a.png was not written" in err and not (tmp_path / "a.png").exists()


def interrupted(task, jobs, workers, first):
    """Ctrl-C after the first bundle."""
    k, rows = next(jobs)
    yield k, first.compute(rows)
    raise KeyboardInterrupt


@pytest.mark.parametrize("store", ["", "store: results\n"], ids=["in memory", "in a store"])
def test_ctrl_c_is_130_and_says_how_to_go_on(study, monkeypatch, store):
    monkeypatch.setattr("sharnir.studies.study._bundle_size", lambda *args: 1)
    with monkeypatch.context() as during:
        during.setattr(execution, "on_threads", interrupted)
        code, out, err = study(GRID + store)
    assert code == 130 and "1 of 3 runs done (grid of 3), none failed" in out
    assert err.startswith("sharnir: interrupted after 1 of 3 runs; the same command ")
    assert ("goes on where it was" if store else "with a store (--store FOLDER) it would go on") in err
    code, out, _ = study(GRID + store)
    assert not code and ("\n2 runs in " if store else "\n3 runs in ") in out
    assert ("; 1 run was in the store already" in out) == bool(store)


def test_ctrl_c_before_the_first_run_or_after_the_last_is_130_too(study, monkeypatch):
    monkeypatch.setattr("sharnir.cli.study.study", lambda **options: signal.raise_signal(signal.SIGINT))
    code, out, err = study(f"{GRID}store: results\n")
    assert (code, out) == (130, "")
    assert err == "sharnir: interrupted; the same command goes on where it was\n"


def test_a_scheduler_out_of_reach_is_named_and_1(study):
    code, _, err = study(GRID, "--scheduler", "tcp://127.0.0.1:9")
    assert code == 1 and err.startswith("sharnir: --scheduler: no scheduler of Dask answers at tcp://127.0.0.1:9: ")
    assert err.endswith("or leave --scheduler out\n") and err.count("\n") == 1


# --- mistakes ---------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(("old", "new", "says"), [
    ("seed: 1", "seeds: 1", "6: seeds: unknown field; did you mean 'seed'?"),
    ("sample: pendulum", "sample: pendulm", "1: sample: unknown sample 'pendulm'; did you mean 'pendulum'?"),
    ("sample: pendulum", "model: none.yaml", "1: model: there is no file "),
    ("sample: pendulum", "floating: true", "1: a field is missing: `model`, or `sample`"),
    ("sample: pendulum", "sample: pendulum\nmodel: a.yaml", "1: sample: `model` is given too"),
    ("  q0.hinge:", "  q0.hing:", "3: over.q0.hing: nothing is called 'q0.hing'; did you mean 'q0.hinge'?"),
    ("  q0.hinge:", "  rod.mas:", "3: over.rod.mas: no number 'rod.mas' in model 'pendulum'"),
    ("[0.1, 0.2]", "[0.1, steep]", "3: over.q0.hinge[1]: expected a number, got 'steep'"),
    ("[0.1, 0.2]", "[]", "3: over.q0.hinge: the list has no values"),
    ("[0.1, 0.2]", "{normal: [0, 1]}", "3: over.q0.hinge.normal: this is a distribution; say how many runs are drawn"),
    ("[0.1, 0.2]", "{from: 0, to: 1}", "3: over.q0.hinge.points: this field is missing"),
    ("[0.1, 0.2]", "{from: 0, to: 1, points: 3, log: true}", "3: over.q0.hinge: with `log: true` both ends have one sign"),
    ("[0.1, 0.2]", "{nrmal: [0, 1]}", "3: over.q0.hinge.nrmal: unknown field; did you mean 'normal'?"),
    ("[0.1, 0.2]\n", "{normal: [0, -1]}\nruns: 3\n", "3: over.q0.hinge.normal: expected [mean, deviation] with deviation > 0"),
    ("[0.1, 0.2]\n", "{normal: [0, 1], within: [50, 60]}\nruns: 3\n", "3: over.q0.hinge.within: nothing of the distribution"),
    ("seed: 1", "runs: -3", "6: runs: expected a whole number of at least 1, got -3"),
    ("seed: 1", "sampler: sobol", "6: sampler: it says how runs are drawn; give `runs` too"),
    ("seed: 1", "runs: 3\nsampler: sobl", "7: sampler: expected 'random', 'sobol', 'lhs' or 'halton', got 'sobl'"),
    ("duration: 0.1", "rtol: 1e-6", "4: run.duration: this field is missing"),
    ("duration: 0.1", "duration: soon", "4: run.duration: expected a number, got 'soon'"),
    ("duration: 0.1", "duration: 1, q0: {hing: 1}", "4: run.q0.hing: no joint 'hing'; did you mean 'hinge'?"),
    ("duration: 0.1", "duration: 1, parameters: {k: 1}", "4: run.parameters.k: no parameter 'k'"),
    ("final of hinge", "last of hinge", "5: outputs.angle: 'last of hinge' is no reduction"),
    ("final of hinge", "final of hnge", "5: outputs.angle: nothing is called 'hnge'; did you mean 'hinge'?"),
    ("{angle: final of hinge}", "[final of hinge, ma of hinge]", "5: outputs[1]: 'ma of hinge' is no reduction"),
    ("seed: 1", "table: runs.csv", "6: table: `over` is given too"),
    ("seed: 1", "store: !!python/name:os.system a", "6: the tag 'tag:yaml.org,2002:python/name:os.system' is refused"),
], ids=lambda x: str(x)[:40])  # fmt: skip
def test_a_mistake_is_named_by_file_line_and_field(study, tmp_path, monkeypatch, old, new, says):
    text = "sample: pendulum\nover:\n  q0.hinge: [0.1, 0.2]\nrun: {duration: 0.1}\noutputs: {angle: final of hinge}\nseed: 1\n"
    assert old in text
    monkeypatch.setattr("sharnir.cli.study.study", lambda **options: pytest.fail("it ran"))
    code, out, err = study(text.replace(old, new))
    assert (code, out) == (1, "") and f"{tmp_path / 'study.yaml'}:{says}" in err


@pytest.mark.parametrize(("runs", "says"), [
    ("[{q0.hinge: 1}, {q0.hing: 1}]", "2: over[1].q0.hing: the first run does not have it; did you mean 'q0.hinge'?"),
    ("[{q0.hinge: 1, rtol: 1e-6}, {q0.hinge: 1}]", "2: over[1]: the input 'rtol' is missing, which the first run has"),
    ("[{q0.hinge: 1}, {q0.hinge: up}]", "2: over[1].q0.hinge: expected a number, got 'up'"),
    ("[3]", "2: over[0]: expected the inputs of a run"),
    ("[{q0.hinge: 1}]\nruns: 3", "3: runs: a list or a table has as many runs as it has rows"),
])  # fmt: skip
def test_mistakes_in_a_list_of_runs(study, runs, says):
    code, _, err = study(f"sample: pendulum\nover: {runs}\n{RUN}")
    assert code == 1 and f"study.yaml:{says}" in err


@pytest.mark.parametrize(("table", "says"), [
    ("q0.hinge,rtol\n1,1e-6\n2\n", "runs.csv:3: expected 2 values, one for every column of the heading"),
    ("q0.hinge\n1\nup\n", "runs.csv:3: column 'q0.hinge': expected a number, got 'up'"),
    ("1\n2\n", "runs.csv:1: column 1 of the heading: expected the name of an input, got '1'"),
    ("q0.hinge\n", "runs.csv:1: no runs below the heading"),
    ("q0.hing\n1\n", "study.yaml:2: table.q0.hing: nothing is called 'q0.hing'; did you mean 'q0.hinge'?"),
])  # fmt: skip
def test_mistakes_in_a_table_of_runs(study, tmp_path, table, says):
    (tmp_path / "runs.csv").write_text(table, encoding="utf-8")
    code, _, err = study(f"sample: pendulum\ntable: runs.csv\n{RUN}")
    assert code == 1 and says in err


@pytest.mark.parametrize(("arguments", "says"), [
    (["--workers", 0], "--workers: expected at least 1"), (["--runs", -1], "--runs: expected at least 1"),
    (["--seed", "x"], "--seed: expected a whole number"), (["-o", "a.txt"], "--output: cannot write a.txt: unknown suffix"),
    (["--page", "a.png"], "--page: cannot write a.png: unknown suffix"), (["--plot", "a.txt"], "--plot: cannot draw"),
    (["--scheduler", "tcp://a:1", "--workers", 2], "--workers: the cluster of --scheduler has workers of its own"),
    (["--storage", "a"], "no option --storage; did you mean '--store'?"),
], ids=str)  # fmt: skip
def test_an_error_on_the_command_line_is_2(study, tmp_path, monkeypatch, arguments, says):
    monkeypatch.chdir(tmp_path)
    code, out, err = study(GRID, *arguments)
    assert (code, out) == (2, "") and says in err


def test_runs_that_are_listed_are_not_drawn(study):
    code, _, err = study(f"sample: pendulum\nover: [{{q0.hinge: 1}}]\n{RUN}", "--runs", 3)
    assert code == 2 and "--runs: " in err and "lists its runs one by one" in err


def test_a_mistake_in_the_model_has_its_own_line(study, tmp_path):
    (tmp_path / "car.yaml").write_text("name: car\nbody: {}\n", encoding="utf-8")
    code, _, err = study(f"model: car.yaml\nover: {{a: 1}}\n{RUN}")
    assert code == 1 and err.startswith(f"sharnir: {tmp_path / 'car.yaml'}:2: body: unknown field")
