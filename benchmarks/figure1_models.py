"""The mechanisms of Figure 1 of [I] and beyond: chains, binary trees and stars of the same links, and a motion of each."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

import sharnir as sh
from sharnir.equations.motion.retraction import normalize
from sharnir.samples.trees import ANGULAR

AXES = {1: "one-axis joints", 2: "two-axis joints", 3: "three-axis joints"}
BEND, SPEED = 0.5, 0.5
"""Every joint starts bent by up to so many radians and turning by up to so many radians a second, at random."""


@dataclass(frozen=True)
class Subject:
    """A family of mechanisms by number of bodies."""

    shape: str
    axes: int
    build: Callable[[int], sh.Model]
    paper: int = 0
    """The largest N of the paper's panel, where it has one."""

    @property
    def title(self) -> str:
        return f"{self.shape}, {AXES[self.axes]}"


def binary_tree(n: int, axes: int) -> sh.Model:
    """The links of samples.chain; body i hangs on body i // 2, two on the end of each."""
    model = sh.Model(f"binary tree of {n}, {axes} freedoms each")
    for i in range(1, n + 1):
        fork = sh.Rotation.about("z", 0.4 if i % 2 else -0.4) @ sh.Rotation.about("x", math.pi / 2)
        add_link(model, i, i // 2, axes, sh.Pose((0.3, 0.0, 0.0), fork) if i > 1 else sh.Pose())
    return model


def star(n: int, axes: int) -> sh.Model:
    """The links of samples.chain; one on the ground, all others around its end."""
    model = sh.Model(f"star of {n}, {axes} freedoms each")
    for i in range(1, n + 1):
        ray = sh.Rotation.about("y", 2.0 * math.pi * i / n)
        add_link(model, i, min(i - 1, 1), axes, sh.Pose((0.3, 0.0, 0.0), ray) if i > 1 else sh.Pose())
    return model


def add_link(model: sh.Model, i: int, carrier: int, axes: int, at: sh.Pose) -> None:
    model.add_body(f"link{i}", mass=1.0, com=(0.15, 0.01, 0.0), inertia=(0.001, 0.008, 0.0085))
    model.add_joint(f"joint{i}", ANGULAR[axes](), f"link{carrier}" if carrier else "ground", f"link{i}", at=at)


def chain_of(axes: int) -> Callable[[int], sh.Model]:
    return lambda n: sh.samples.chain(n, axes)


def binary_tree_of(axes: int) -> Callable[[int], sh.Model]:
    return lambda n: binary_tree(n, axes)


def star_of(axes: int) -> Callable[[int], sh.Model]:
    return lambda n: star(n, axes)


CHAINS = [Subject("chain", axes, chain_of(axes), paper) for axes, paper in ((1, 50), (2, 30), (3, 30))]
TREES = [
    Subject(shape, axes, build(axes))
    for axes in (1, 3)
    for shape, build in (("binary tree", binary_tree_of), ("star", star_of))
]  # fmt: skip


def start(model: sh.Model) -> tuple[np.ndarray, np.ndarray]:
    """Bent and moving everywhere: coordinates and speeds."""
    rng = np.random.default_rng(0)
    bend, v = rng.uniform(-BEND, BEND, model.nv), rng.uniform(-SPEED, SPEED, model.nv)
    q = model.neutral()
    ahead = q + sh.Dynamics(model, "separate", backend="python").rates(q, bend)
    return np.array(normalize(model, ahead.tolist(), 0.0), dtype=float), v
