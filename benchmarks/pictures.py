"""The pictures of docs/seeing.md: `python -m benchmarks pictures`."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from pathlib import Path

import sharnir as sh

from .harness import results, robot_files

sys.path.insert(0, str(Path(__file__).parents[1] / "examples"))

import crane

SIZE = (896, 504)
LIMIT = 150_000
"""Bytes of a picture in the documents."""


def a_crane(path: Path) -> None:
    crane.simulate().snapshot(path, 6.0, size=SIZE, traces=[("load", (0.0, 0.0, -4.0))], title="crane, path of its load")


def a_slider_crank(path: Path) -> None:
    m = sh.samples.slider_crank()
    m.draw(path, m.assemble({"main": 0.9}, fixed=["main"])[0], size=SIZE)


def the_frames(path: Path) -> None:
    m = sh.samples.slider_crank()
    q = m.assemble({"main": 0.9}, fixed=["main"])[0]
    m.draw(path, q, size=SIZE, show=["bodies", "frames", "mass", "ground"], labels=True)


def a_robot(path: Path) -> None:
    (urdf,) = robot_files("ur_description/urdf/ur5_robot.urdf")
    sh.load(urdf, acting="motion").draw(path, [0.4, -1.2, 1.4, -1.0, -1.5, 0.3], size=SIZE)


def a_mode(path: Path) -> None:
    m = sh.samples.rods(4, 0.5)
    still = sh.equilibrium(m, [-math.pi / 2, 0.0, 0.0, 0.0])
    sh.linearize(m, still.q).modes[1].video(path, fps=15.0, size=(320, 320), view="front", show=["bodies", "joints"])


PICTURES: dict[str, Callable[[Path], None]] = {
    "crane.png": a_crane,
    "slider_crank.png": a_slider_crank,
    "frames.png": the_frames,
    "ur5.png": a_robot,
    "mode.gif": a_mode,
}


def main(quick: bool = False) -> None:
    """Into the folder `seeing` of the results."""
    folder = results() / "seeing"
    folder.mkdir(exist_ok=True)
    for name, draw in PICTURES.items():
        draw(folder / name)
        size = (folder / name).stat().st_size
        print(f"  {name:<18} {size / 1e3:6.0f} kB{'   too large for the documents' if size > LIMIT else ''}", flush=True)
    print(f"written to {folder}")
