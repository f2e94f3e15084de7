"""`sharnir modes`: the table of modes of a file, at a position, at rest, in steady motion; data, a picture, mistakes."""

from __future__ import annotations

import json
import math

import pytest

import sharnir as sh


@pytest.fixture
def pendulum(tmp_path):
    file = tmp_path / "pendulum.yaml"
    sh.samples.double_pendulum().save(file)
    return file


def test_frequencies_damping_ratios_and_what_moves(command, pendulum):
    code, out, err = command("modes", pendulum, "--at", f"hinge1={-math.pi / 2}")
    assert not code and not err
    lines = out.splitlines()
    assert lines[0] == "double pendulum: equilibrium; 4 states, 0 of 4 eigenvalues zero, no mode grows"
    assert lines[2].split()[:5] == ["1", "0", "±", "2.68011i", "0.426553"] and "hinge1 1, hinge2 0.43" in lines[2]


def test_where_it_is_not_at_rest_a_warning_says_so_and_equilibrium_helps(command, pendulum):
    code, out, err = command("modes", pendulum)
    assert not code and "frozen" in out and err.startswith("sharnir: warning: A is that of the instant t = 0")
    code, out, err = command("modes", pendulum, "--equilibrium")
    assert not code and not err and "0.426553" in out and "no mode grows" in out


def test_data_and_a_picture(command, pendulum, tmp_path):
    picture = tmp_path / "modes.png"
    code, out, err = command("modes", pendulum, "--at", f"hinge1={-math.pi / 2}", "--json", "--plot", str(picture))
    assert not code and err == f"written: {picture}\n" and picture.stat().st_size > 1000
    data = json.loads(out)
    assert data["steadiness"] == "equilibrium" and len(data["eigenvalues"]) == 4
    assert data["modes"][0]["frequency"] == pytest.approx(0.426553, rel=1e-5)


def test_steady_motion_of_a_bicycle(command, tmp_path):
    file = tmp_path / "bicycle.yaml"
    sh.samples.bicycle().save(file)
    code, out, err = command("modes", file, "--speed", f"rear hub={5.0 / 0.3}")
    assert not code and not err and "steady motion; 10 states, 6 of 10 eigenvalues zero, no mode grows" in out
    assert "-0.775342 ± 4.46487i" in out and "-14.0784" in out


@pytest.mark.parametrize(("words", "message"), [
    (["--at", "hinge3=1"], "argument --at: no joint 'hinge3' in the tree"),
    (["--at", "hinge1"], "argument --at: expected joint=number"),
    (["--time", "now"], "argument --time: expected a number"),
    (["--plot", "modes.txt"], "argument --plot: cannot draw"),
])  # fmt: skip
def test_mistakes_on_the_command_line_are_named(command, pendulum, words, message):
    code, _, err = command("modes", pendulum, *words)
    assert code == 2 and message in err
