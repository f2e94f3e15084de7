"""`sharnir equilibrium`: the summary, the data, and exit codes."""

from __future__ import annotations

import json
import math
from functools import partial

import pytest

import sharnir as sh
from mechanisms import hinged


@pytest.fixture
def equilibrium(command):
    return partial(command, "equilibrium")


@pytest.fixture
def file(tmp_path):
    """A bar on a hinge with a spring, and a body that slides on the bar."""
    m = hinged(stiffness=20.0)
    m.add_body("slider", mass=0.5)
    m.add_joint("slide", sh.Prismatic("x", stiffness=100.0), "bar", "slider")
    m.save(tmp_path / "hinged.yaml")
    return tmp_path / "hinged.yaml"


def test_a_summary(equilibrium, file):
    code, out, err = equilibrium(file)
    assert (code, err) == (0, "") and "stable equilibrium" in out and "hinge" in out


def test_the_data_are_those_of_python(equilibrium, file):
    code, out, _ = equilibrium(file, "--json", "--tau", "hinge=1.5", "--guess", "hinge=-0.2")
    data = json.loads(out)
    found = sh.equilibrium(sh.load(file), {"hinge": -0.2}, tau={"hinge": 1.5})
    assert code == 0 and data["stability"] == "stable" and data["steady"]
    assert data["q"] == pytest.approx(dict(zip(found.model.q_names, found.q, strict=True)))
    assert data["tau"]["hinge"] == 1.5


def test_a_joint_can_be_set_and_another_driven(equilibrium, file):
    code, out, _ = equilibrium(file, "--hold", "hinge=0.3", "--json")
    data = json.loads(out)
    assert code == 0 and data["q"]["hinge"] == 0.3 and data["held"] == ["hinge"]
    assert data["q"]["slide"] == pytest.approx(-0.5 * 9.81 * math.sin(0.3) / 100.0)
    code, out, _ = equilibrium(file, "--speed", "hinge=3", "--hold", "slide=0.1", "--json")
    assert code == 0 and json.loads(out)["v"] == {"hinge": 3.0, "slide": 0.0}


def test_the_kind_can_be_chosen(equilibrium, tmp_path):
    hinged().save(tmp_path / "a.yaml")
    up = ("--guess", f"hinge={math.pi / 2 + 0.1}")
    assert "unstable" in equilibrium(tmp_path / "a.yaml", *up, "--nearest")[1]
    assert ": stable" in equilibrium(tmp_path / "a.yaml", *up, "--stable")[1]


def test_no_equilibrium_is_1_with_the_joint_in_one_line(equilibrium, tmp_path):
    m = sh.Model("falling")
    m.add_body("stone", mass=1.0)
    m.add_joint("drop", sh.Prismatic("z"), "ground", "stone")
    m.save(tmp_path / "falling.yaml")
    code, out, err = equilibrium(tmp_path / "falling.yaml")
    assert code == 1 and not out and "'drop'" in err and err.count("\n") == 1 and "error.result" not in err


@pytest.mark.parametrize(("arguments", "says"), [
    (["--hold", "hing=1"], "hing"), (["--hold", "hinge"], "joint=number"), (["--tau", "hinge=a"], "joint=number"),
    (["--hold", "hinge=1", "--guess", "hinge=2"], "held by --hold"), (["--starts", 0], "--starts"),
    (["--stable", "--nearest"], "--nearest"), (["--fly"], "--fly"), (["--time", "late"], "--time"),
    (["--speed", "slid=1"], "slid"),
], ids=str)  # fmt: skip
def test_an_error_on_the_command_line_is_2(equilibrium, file, arguments, says):
    code, out, err = equilibrium(file, *arguments)
    assert code == 2 and says in err and not out
