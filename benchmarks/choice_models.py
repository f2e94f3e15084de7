"""Sixty models to try method="auto" on: chains, trees, robots, loops, of one to a thousand bodies. None calibrates with them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import sharnir as sh

from .harness import robot_files

ROBOTS = {
    "double_pendulum_description/urdf/double_pendulum.urdf": False,
    "ur_description/urdf/ur5_robot.urdf": False,
    "kinova_description/robots/kinova.urdf": False,
    "panda_description/urdf/panda.urdf": False,
    "solo_description/robots/solo12.urdf": True,
    "anymal_c_simple_description/urdf/anymal.urdf": True,
    "icub_description/robots/icub_reduced.urdf": True,
    "talos_data/robots/talos_reduced.urdf": True,
}
"""Files of example-robot-data, and whether the robot floats."""

Make = Callable[[], sh.Model]


def models() -> Iterator[tuple[str, str, Make]]:
    """Kind, name, and how it is made."""
    s = sh.samples
    for n in (1, 4, 6, 7, 10, 12, 17, 33, 64, 128, 256, 512, 1000):
        yield "chain", f"chain of {n}", partial(s.chain, n)
    for n in (3, 5, 9, 20, 50):
        yield "chain", f"chain of {n}, 2 axes", partial(s.chain, n, dof=2)
    for n in (1, 4, 7, 12, 30, 100, 333):
        yield "chain", f"chain of {n}, 3 axes", partial(s.chain, n, dof=3)
    for n in (3, 7, 15, 40, 400):
        yield "chain", f"planar chain of {n}", partial(s.planar_chain, n)
    for n, dof in ((5, 1), (9, 1), (17, 1), (31, 1), (63, 1), (255, 1), (1000, 1), (12, 2), (8, 3), (40, 3)):
        yield "tree", f"binary tree of {n}, {dof} axes", partial(s.tree, n, 2, dof, seed=100 + n)
    for n, dof in ((10, 1), (31, 1), (100, 1), (1000, 1), (20, 3)):
        yield "tree", f"star of {n}, {dof} axes", partial(s.tree, n, n, dof, seed=200 + n)
    for path, floating in ROBOTS.items():
        yield "robot", path.rsplit("/", 1)[1].removesuffix(".urdf"), partial(robot, path, floating)
    yield "loop", "four-bar", s.four_bar
    yield "loop", "slider-crank", s.slider_crank
    for n in (2, 6):
        yield "loop", f"{n}-four-bar", partial(s.n_four_bar, n)
    yield "loop", "Andrews' squeezer", s.andrews
    yield "loop", "Bricard", s.bricard
    yield "loop", "Stewart platform", s.stewart


def robot(path: str, floating: bool) -> sh.Model:
    (place,) = robot_files(path)
    return sh.load(place, floating=floating, acting="motion")
