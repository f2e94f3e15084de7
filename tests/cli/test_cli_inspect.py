"""`sharnir inspect`: a model on one screen; faults on stderr, without a traceback."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

import sharnir as sh
from urdf_files import arm, joint, link, write

TIME_HELP = """
import resource, subprocess, sys
subprocess.run([sys.executable, "-m", "sharnir", "--help"], check=True, stdout=subprocess.DEVNULL)
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(used.ru_utime + used.ru_stime)
"""


@pytest.fixture
def run(command):
    return command


@pytest.fixture
def file(tmp_path):
    mimic = '<axis xyz="0 0 1"/><mimic joint="elbow" multiplier="2" offset="1"/>'
    return write(
        tmp_path,
        *arm(),
        link("hand"),
        joint("wrist", "revolute", "tool", "hand", mimic),
        "<gazebo/>",
        link("x", ""),
        joint("end", "prismatic", "hand", "x"),
    )


def test_a_tree_with_masses_freedoms_frames_couplings_and_the_report(run, file):
    code, out, err = run("inspect", file)
    assert code == 0 and not err
    for words in (
        "test: ground", "upper 1.5 kg", "lower 3 kg", "shoulder: revolute (0.333 0.667 -0.667) in [-1, 2]", "frames: tool",
        "wrist: revolute (0 0 1), follows elbow: 2 × it + 1", "x no mass",
        "4 bodies, 3 degrees of freedom, 6 kg, 2 frames, couplings: 1",
        "1 × <gazebo>", "limits of 4 joints do not act (--acting all lets them)", "4 × limits of a joint  it acts with",
    ):  # fmt: skip
        assert words in out, words
    out = run("inspect", file, "--acting", "all")[1]
    assert "do not act" not in out and "4 × limits of a joint" in out.partition("kept (")[0]
    assert "9 degrees of freedom (10 coordinates)" in run("inspect", "--floating", file)[1]


def test_json_holds_the_same(run, file):
    code, out, _ = run("inspect", file, "--json")
    data = json.loads(out)
    assert code == 0
    assert (data["nq"], data["nv"], data["mass"]) == (3, 3, 6.0)
    assert [b["name"] for b in data["bodies"]] == ["upper", "lower", "hand", "x"]
    assert data["joints"][2]["follows"] == {"joint": "elbow", "ratio": 2.0, "offset": 1.0}
    assert data["frames"].keys() == {"base", "tool"} and data["fixed_joints"] == {"mount": {"parent": "lower", "child": "tool"}}
    assert data["report"]["entries"]


def test_cut_joints_are_shown_with_the_reason(run, tmp_path):
    sh.samples.slider_crank().save(tmp_path / "crank.yaml")
    reason = "joint 'wristpin' is cut, of the 4 joints of its loop: marked cut=True"
    code, out, _ = run("inspect", tmp_path / "crank.yaml")
    assert code == 0 and f"  {reason}" in out.splitlines()
    data = json.loads(run("inspect", tmp_path / "crank.yaml", "--json")[1])
    assert data["loops"] == ["wristpin"] and data["cuts"] == [reason]


def test_a_robot_that_cannot_move_is_shown_too(run, tmp_path):
    path = write(tmp_path, link("only"))
    assert "nothing moves" in run("inspect", path)[1]
    assert json.loads(run("inspect", path, "--json")[1])["nv"] == 0


def test_infinite_limits_are_still_json(run, tmp_path):
    path = write(tmp_path, *arm(inside='<limit lower="-inf" upper="1" effort="inf" velocity="1"/>'))
    assert json.loads(run("inspect", path, "--json")[1])["joints"][0]["limits"] == ["-inf", 1.0]


def test_warnings_stand_out(run, tmp_path):
    odd = '<inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="0.1" iyz="0" izz="0.1"/></inertial>'
    path = write(tmp_path, link("a"), link("b", odd), joint("j", "revolute", "a", "b"))
    assert "warning: inertia that no body has: inertia of link 'b', line 3: it breaks the triangle" in run("inspect", path)[1]


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["inspect", "nothing.urdf"], 1, "sharnir: nothing.urdf: there is no such file"),
        (["inspect", "robot.sdf"], 1, "what can be read"),
        (["inspect"], 2, "required: FILE"),
        (["inspect", "a.urdf", "--nonsense"], 2, "--nonsense"),
        (["dance"], 2, "dance"),
    ],
)
def test_errors_are_reported_on_stderr_with_their_exit_code(run, arguments, code, words):
    found, out, err = run(*arguments)
    assert found == code and not out
    assert words in err and "Traceback" not in err


def test_the_version(run):
    import sharnir

    assert run("--version") == (0, f"sharnir {sharnir.__version__}\n", "")


def test_strict_refuses(run, file):
    code, _, err = run("inspect", file, "--strict")
    assert code == 1 and "<gazebo> would be ignored" in err


def test_the_command_runs_as_a_program(file):
    done = subprocess.run([sys.executable, "-m", "sharnir.cli.main", "inspect", str(file)], capture_output=True, text=True)
    assert done.returncode == 0 and "4 bodies" in done.stdout


def test_help_takes_less_than_three_tenths_of_a_second():
    """Processor time of a whole process, as in test_import."""
    times = [
        float(subprocess.run([sys.executable, "-c", TIME_HELP], capture_output=True, text=True, check=True).stdout)
        for _ in range(5)
    ]
    assert min(times) < 0.3
