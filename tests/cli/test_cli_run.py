"""`sharnir run`: exit codes, files, and a partial result where the motion ends early."""

from __future__ import annotations

import os
import pty
import signal
import subprocess
import sys
import threading
from functools import partial
from pathlib import Path

import numpy as np
import pytest

import sharnir as sh
from mechanisms import hinged
from urdf_files import arm, write

pytestmark = pytest.mark.xdist_group("integrators")


@pytest.fixture
def run(command):
    return partial(command, "run")


@pytest.fixture
def file(tmp_path):
    return write(tmp_path, *arm())


@pytest.fixture
def instead(monkeypatch):
    """The file holds another model."""
    return lambda model: monkeypatch.setattr("sharnir.io.load.load", lambda *args, **options: model)


def test_a_motion_with_summary_numbers_and_picture(run, file, tmp_path):
    joint = sh.load(file).joints[0].name
    code, out, err = run(
        file, "--acting", "motion", "--duration", 0.5, "--q0", f"{joint}=0.3", "--v0", f"{joint}=1", "--tau", f"{joint}=0.1",
        "--rtol", 1e-9, "--interval", 0.1, "-o", tmp_path / "a.nc", "--plot", tmp_path / "a.png",
    )  # fmt: skip
    assert (code, err) == (0, "") and "done, reached t = 0.5" in out and "written:" in out
    r = sh.Result.load(tmp_path / "a.nc", sh.load(file))
    assert len(r) == 6 and r.q[0, 0] == 0.3 and r.v[0, 0] == 1.0 and r.tau[0] == 0.1
    assert (tmp_path / "a.png").read_bytes()[:4] == b"\x89PNG"


def test_a_line_says_what_of_a_robot_does_not_act(run, file):
    short = ("--duration", 0.01, "--backend", "python")
    assert run(file, *short)[2] == "sharnir: limits of 2 joints do not act (--acting all lets them)\n"
    assert run(file, *short, "-q")[2] == run(file, *short, "--acting", "all")[2] == ""


def test_options_of_method_and_integrator(run, file, tmp_path):
    code, out, _ = run(
        file,
        "--duration",
        "-1e-1",
        "--method",
        "composite",
        "--integrator",
        "rk4",
        "--step",
        0.01,
        "-q",
        "-o",
        tmp_path / "a.csv",
    )
    assert (code, out) == (0, "") and len((tmp_path / "a.csv").read_text().splitlines()) == 12


@pytest.mark.parametrize(("arguments", "says"), [
    ([], "--duration"), (["--duration", "soon"], "--duration"), (["--duration", 1, "--q0", "0.3"], "joint=number"),
    (["--duration", 1, "--q0", "nothere=1"], "no joint 'nothere'"),
    (["--duration", 1, "--integrator", "rk5"], "unknown 'rk5'"),
    (["--duration", 1, "-o", "/no/folder/a.nc"], "no folder"), (["--duration", 1, "--plot", "/"], "folder"), (["--fly"], "--fly"),
    (["--duration", 1, "--tau", "nothere=1"], "no joint 'nothere'"),
], ids=str)  # fmt: skip
def test_an_error_on_the_command_line_is_2(run, file, arguments, says):
    code, out, err = run(file, *arguments)
    assert code == 2 and says in err and not out


@pytest.mark.parametrize(("option", "value", "remedy"), [
    ("--duration", "0", "other than zero, got 0; a negative one runs backward in time"), ("--duration", "nan", "finite number"),
    ("--rtol", "abc", "expected a number, got 'abc'"), ("--rtol", "-1", "at least 0"), ("--atol", "inf", "finite number"),
    ("--step", "0", "positive number"), ("--step", "0.1", "'auto' is adaptive: give --rtol, --atol or --max-step"),
    ("--max-step", "-1", "positive number"), ("--interval", "0", "positive number"), ("--interval", "1e-12", "take a longer one"),
    ("--t0", "inf", "finite number"), ("--decay", "0", "positive number"), ("--decay", "3", "--stabilisation baumgarte or ggl"),
    ("--method", "nonsense", "the choices are 'auto', 'separate'"), ("--backend", "cuda", "the choices are 'auto', 'llvm'"),
    ("--integrator", "rk5", "choices are 'auto'"), ("--integrator", "rk4", "give --step SECONDS"),
    ("--limits", "break", "choices are 'act', 'ignore', 'stop', 'error'"),
    ("--stabilisation", "glue", "choices are 'projection'"),
    ("--stabilisation", "ggl", "no closed loops and no constraints; leave it out"), ("--q0", "shoulder=nan", "joint=number"),
    ("--plot", "a.foo", "unknown suffix '.foo'; end the name with .png, .svg, .pdf or .html"), ("--plot", "a", "no suffix"),
    ("--output", "a.foo", "unknown suffix '.foo'; end the name with .nc or .csv"), ("--output", "a", "no suffix"),
], ids=str)  # fmt: skip
def test_a_bad_value_is_refused_before_the_run_in_one_line_with_the_option_and_a_remedy(
    run, file, tmp_path, monkeypatch, option, value, remedy
):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sharnir.cli.run.simulate", lambda *args, **options: pytest.fail("it ran"))
    code, out, err = run(file, *(() if option == "--duration" else ("--duration", 1)), option, value)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert err.startswith(f"sharnir run: argument {option}: ") and remedy in err
    assert {path.name for path in tmp_path.iterdir()} == {file.name}


def test_an_error_in_the_file_is_1(run, tmp_path):
    for name, says in (("none.urdf", "none.urdf"), ("a.txt", "suffix")):
        code, _, err = run(tmp_path / name, "--duration", 1)
        assert code == 1 and err.startswith("sharnir: ") and says in err and "Traceback" not in err


def test_a_motion_that_fails_is_1_and_its_beginning_is_written(run, instead, file, tmp_path):
    model = hinged(lambda on: on.torque("hinge", sh.sqrt(1.0 + on.q("hinge"))))
    instead(model)
    code, out, err = run(file, "--duration", 2, "-o", tmp_path / "a.nc", "--plot", tmp_path / "a.png")
    assert code == 1 and "not finite just after t = 0.48" in err and "not_finite" in out
    assert 0.48 < sh.Result.load(tmp_path / "a.nc", model).t[-1] < 0.49 and (tmp_path / "a.png").exists()


def test_a_motion_that_cannot_be_written_is_1_and_its_summary_is_shown(run, file, tmp_path, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("sharnir.simulation.results.storage.Writer", full)
    code, out, err = run(file, "--duration", 0.1, "-o", tmp_path / "a.nc")
    assert code == 1 and "integrator  auto" in out and "written" not in out
    assert err.endswith(f"cannot write {tmp_path / 'a.nc'}: [Errno 28] No space left on device\n") and err.count("\n") == 1


def test_limits_are_an_error_where_asked_for(run, instead, file):
    instead(hinged(limits=(-1.0, 1.0)))
    assert run(file, "--duration", 2, "--limits", "error")[0] == 1
    assert run(file, "--duration", 2, "--limits", "stop")[0] == 0


def test_what_the_file_says_holds_unless_the_command_line_says_otherwise(run, instead, file, tmp_path):
    model = hinged()
    model.simulation = sh.SimulationSettings(duration=0.2, q0={"hinge": 0.5}, integrator="rk4", step=0.01, output=0.1)
    instead(model)
    for extra, times, start, integrator in (
        ([], 3, 0.5, "rk4"), (["--duration", 0.3, "--q0", "hinge=0.1"], 4, 0.1, "rk4"),
        (["--integrator", "dop853"], 3, 0.5, "dop853"),
    ):  # fmt: skip
        assert run(file, *extra, "-o", tmp_path / "a.nc")[0] == 0
        r = sh.Result.load(tmp_path / "a.nc", model)
        assert (len(r), r.q[0, 0], r.cost.integrator) == (times, start, integrator)


NATIVE = """
sharnir: 1
name: door
bodies:
  leaf: {mass: 20, com: [0.45, 0, 0], inertia: [0.1, 1.4, 1.4]}
joints:
  hinge: {type: revolute, axis: z, parent: ground, child: leaf, damping: 5}
forces:
  closer: {type: motor, joint: hinge, torque: "-8*x"}
simulation:
  duration: 0.5
  q0: {hinge: 1.2}
  output: 0.1
"""


def test_a_native_file_says_how_it_is_simulated_and_its_result_holds_the_model(run, tmp_path):
    (tmp_path / "door.yaml").write_text(NATIVE)
    code, out, err = run(tmp_path / "door.yaml", "-o", tmp_path / "a.nc")
    assert (code, err) == (0, "") and "supplied by closer" in out
    r = sh.Result.load(tmp_path / "a.nc")
    assert len(r) == 6 and r.q[0, 0] == 1.2 and r.model.name == "door"
    assert np.isfinite(r.energy.defect).all()


def test_states_start_as_the_file_or_the_option_says(run, tmp_path):
    path = tmp_path / "door.yaml"
    more = 'states: {sum: {initial: 0.1, rate: "0*t"}, rest: {initial: 0.2, rate: "0*t"}}\nsimulation:\n  states: {sum: 0.5}'
    path.write_text(NATIVE.replace("simulation:", more).replace("duration: 0.5", "duration: 0.1"))
    model = sh.load(path)
    assert sh.loads(sh.dumps(model)).simulation == model.simulation
    assert run(path, "-q", "--backend", "python", "--state", "rest=0.7", "-o", tmp_path / "a.nc")[0] == 0
    r = sh.Result.load(tmp_path / "a.nc")
    assert (r.state("sum")[0], r.state("rest")[0]) == (0.5, 0.7)
    for word, says in (("rst=1", "no state 'rst'; did you mean 'rest'"), ("rest", "expected name=number")):
        code, _, err = run(path, "--state", word)
        assert code == 2 and "--state" in err and says in err
    path.write_text(path.read_text().replace("states: {sum: 0.5}", "states: {summ: 0.5}"))
    with pytest.raises(sh.FormatError, match=r"yaml:12: simulation.states.summ: no state 'summ'; did you mean 'sum'"):
        sh.load(path)


# --- Ctrl-C -----------------------------------------------------------------------------------------------------------------
def test_ctrl_c_is_130_and_what_was_computed_is_written(file, tmp_path):
    """The bar on the terminal says that the run has begun, however long compiling takes."""
    out = tmp_path / "a.nc"
    command = [sys.executable, "-m", "sharnir.cli.main", "run", file, "--duration", "1e9", "--interval", "1e9", "-o", out]
    environment = {**os.environ, "PYTHONPATH": str(Path(sh.__file__).parents[1]), "TERM": "xterm", "COLUMNS": "120"}
    ours, theirs = pty.openpty()
    with subprocess.Popen([*map(str, command)], env=environment, stderr=theirs, stdout=subprocess.DEVNULL) as process:
        os.close(theirs)
        patience = threading.Timer(300.0, process.kill)
        patience.start()
        shown = seen(ours, until=b", t = ")
        process.send_signal(signal.SIGINT)
        shown += seen(ours)
        patience.cancel()
    os.close(ours)
    assert process.returncode == 130 and b"sharnir: interrupted at t = " in shown and b"the motion up to there is in" in shown
    r = sh.Result.load(out, sh.load(file))
    assert r.status == "interrupted" and np.isfinite(r.q).all()


def seen(terminal: int, until: bytes | None = None) -> bytes:
    """What a program writes to a terminal until these bytes, or until it ends."""
    shown = b""
    while until is None or until not in shown:
        try:
            part = os.read(terminal, 4096)
        except OSError:  # how Linux says that nobody writes any more
            part = b""
        if not part:
            break
        shown += part
    return shown


@pytest.mark.parametrize(
    ("where", "doing"), [("io.load.load", "reading the model"), ("simulation.run.preparation.motion_system", "compiling")]
)
def test_ctrl_c_before_the_run_is_130_and_says_what_it_was_doing(run, file, tmp_path, monkeypatch, where, doing):
    monkeypatch.setenv("SHARNIR_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(f"sharnir.{where}", lambda *args, **options: signal.raise_signal(signal.SIGINT))
    code, out, err = run(file, "--duration", 1, "-o", tmp_path / "a.nc")
    assert (code, out) == (130, "") and not (tmp_path / "a.nc").exists()
    assert err == f"sharnir: interrupted while {doing}; nothing was computed, nothing written\n"


def test_ctrl_c_while_the_command_is_imported_is_said_too():
    code = (
        "import signal, sys\n"
        "from sharnir.cli.main import main\n"
        "class Slow:\n"
        "    def find_spec(self, name, *rest):\n"
        "        if name == 'sharnir.cli.run': signal.raise_signal(signal.SIGINT)\n"
        "sys.meta_path.insert(0, Slow())\n"
        "sys.argv = ['sharnir', 'run', 'a.urdf']\n"
        "main()"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "sharnir: interrupted\n")


def test_ctrl_c_in_python_is_a_keyboard_interrupt(monkeypatch):
    place = "sharnir.simulation.run.preparation.motion_system"
    monkeypatch.setattr(place, lambda *args, **options: signal.raise_signal(signal.SIGINT))
    with pytest.raises(KeyboardInterrupt):
        sh.simulate(hinged(), 1.0)
