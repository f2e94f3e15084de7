"""The numbers the examples print, and the pictures they draw."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path

import matplotlib as mpl
import pytest

EXAMPLES = Path(__file__).parents[1] / "examples"
pytestmark = pytest.mark.xdist_group("integrators")


@pytest.fixture
def example(monkeypatch, tmp_path, capsys):
    """Run an example by name: its numbers. Its picture is a picture."""
    monkeypatch.setattr(sys, "path", [str(EXAMPLES), *sys.path])
    monkeypatch.setenv("MPLBACKEND", "Agg")

    def run(name: str) -> dict[str, float]:
        with mpl.rc_context():
            numbers = import_module(name).main(tmp_path / "picture.png")
        assert (tmp_path / "picture.png").stat().st_size > 10000
        assert len(capsys.readouterr().out.splitlines()) > 1
        return numbers

    return run


def test_planar_chain(example):
    x = example("planar_chain")
    assert x["drift"] < 1e-11
    assert abs(x["x"] + 0.483094086) < 1e-8 and abs(x["y"] + 0.874473457) < 1e-8
    assert x["worst"] < 5e-3  # the tolerance is 1e-3


def test_double_pendulum(example):
    x = example("double_pendulum")
    assert 1.0 < x["rate"] < 2.5 and x["failed"] == 0.0
    assert 0.58 < x["share"] < 0.59 and x["symmetric"] > 0.98  # the mechanism is its own mirror image


def test_manipulator(example):
    x = example("manipulator_pd")
    assert x["miss"] < 0.03 and 500.0 < x["peak"] <= 1000.0 * (1.0 + 1e-9)
    assert x["defect"] < 1e-6


def test_spinning_top(example):
    x = example("spinning_top")
    assert abs(x["slow"]) < 1e-9 and abs(x["fast"]) < 1e-9
    assert x["slow nutation"] < 1e-8 and x["fast nutation"] < 1e-8 and abs(x["swing"] - 34.64) < 0.01 and x["defect"] < 1e-8


def test_satellite(example):
    x = example("satellite")
    assert x["momentum"] < 1e-7 and x["centre"] < 1e-9 and abs(x["fed"]) < 1e-7
    assert abs(x["z"] + 167.186) < 1e-2


def test_cam(example):
    x = example("cam")
    assert x["error"] < 1e-6
    assert abs(x["limit"] / x["formula"] - 1.0) < 1e-4


def test_crane(example):
    x = example("crane")
    assert 5.0 < x["swing"] < 15.0 and 4905.0 < x["hook"] < 6000.0 and x["defect"] < 1e-5


def test_impacts(example):
    x = example("impacts")
    assert abs(x["rest"] - x["known"]) < 2e-5 and x["still"] < 1e-8
    assert abs(x["height"] - 1.0) < 1e-4 and abs(x["share"] - 1.0) < 1e-9


def test_bowling(example):
    x = example("bowling")
    for friction in (0.04, 0.12, 0.2):
        assert abs(x[f"speed {friction}"] - 1.0) < 1e-3 and abs(x[f"heat {friction}"] - 1.0) < 1e-3
        assert abs(x[f"time {friction}"] - 1.0) < 0.02 and x[f"defect {friction}"] < 1e-5


def test_half_car(example):
    x = example("half_car")
    assert x["worst"] < 5e-3 and x["defect"] < 1e-2  # of 80 kJ
    assert 10.0 < x["lift"] < 20.0 and x["least"] == 0.0  # the wheels leave the ground behind the bump


def test_full_car(example):
    x = example("full_car")
    assert abs(x["gain"]) < 5e-3 and abs(x["braking"]) < 2e-3 and x["defect"] < 1e-3


def test_hydraulic_boom(example):
    x = example("hydraulic_boom")
    assert abs(x["push"] / x["held"] - 1.0) < 1e-6 and x["miss"] < 1e-6
    assert 0.05 < x["worst"] < 0.08 and x["defect"] < 1e-6


def test_all_examples_are_tested():
    elsewhere = {"tour", "loops"}  # test_loop_simulation has the last
    there = {path.stem for path in EXAMPLES.glob("*.py")} - elsewhere
    here = Path(__file__).read_text(encoding="utf-8")
    assert all(f'example("{name}")' in here for name in there)
    assert all(len(path.read_text(encoding="utf-8").splitlines()) <= 100 for path in EXAMPLES.glob("*.py"))


def test_cart_pole(example):
    x = example("cart_pole")
    assert x["root 20 ms"] < 0.9 < 1.1 < x["root 50 ms"]  # what the sampled linear model says, the mechanism does
    assert x["tilt 0 ms"] < 1e-5 and x["tilt 20 ms"] < 1e-5 and 0.1 < x["tilt 50 ms"] < 0.3
    assert x["map"] < 1e-8 and x["defect"] < 1e-8


def test_suspension_study(example):
    x = example("suspension_study")
    assert x["runs"] == 1600.0 and x["failed"] == 0.0
    assert abs(x["best"] - 0.849410) < 1e-5 and x["best"] < x["tried"] < 1.03 * x["best"]  # the grid comes near
    assert abs(x["stiffness"] - 15e3) < 1e-6 and abs(x["damping"] - 1433.83) < 0.1 and abs(x["travel"] - 0.05) < 1e-7
    assert x["searched"] < 15.0
