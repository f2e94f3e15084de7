"""Mechanisms without loops: textbook ones, the papers' own, and random ones that contain every joint."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from ..errors import ModelError
from ..model.joints import Ball, Joint, Revolute, Universal
from ..model.large_models import no_collection
from ..model.model import Model
from ..model.pose import Pose, Rotation
from ..model.shapes import Rod
from ..reporting.formats import plural
from . import random_parts as parts
from .arguments import checked

ANGULAR: dict[int, Callable[[], Joint]] = {1: lambda: Revolute("z"), 2: lambda: Universal("z", "x"), 3: lambda: Ball()}


@checked
def pendulum(length: float = 1.0, mass: float = 1.0) -> Model:
    """A point mass on a massless bar in the xy plane, gravity along −y; the angle is zero when the bar points along x."""
    m = Model("pendulum", gravity=(0.0, -9.81, 0.0))
    m.add_body("bar", mass=mass, com=(length, 0.0, 0.0))
    m.add_joint("hinge", Revolute("z"), "ground", "bar")
    return m


@checked
def rods(n: int, length: float = 1.0, mass: float = 1.0, name: str = "rods") -> Model:
    """n equal thin rods hinged one after another in the xy plane, gravity along −y, straight along x at zero."""
    m = Model(name, gravity=(0.0, -9.81, 0.0))
    carrier, at = "ground", Pose()
    for i in range(1, n + 1):
        m.add_body(f"rod{i}", mass=mass, shape=Rod((0.0, 0.0, 0.0), (length, 0.0, 0.0)))
        m.add_joint(f"hinge{i}", Revolute("z"), carrier, f"rod{i}", at=at)
        carrier, at = f"rod{i}", Pose((length, 0.0, 0.0))
    return m


def double_pendulum() -> Model:
    """Two rods of 1 m and 1 kg."""
    return rods(2, name="double pendulum")


@checked
def planar_chain(n: int = 10) -> Model:
    """The chain of [Y]: n equal rods, 1 m and 10 kg together."""
    return rods(n, length=1.0 / n, mass=10.0 / n, name="planar chain")


@checked
@no_collection()
def chain(n: int, dof: int = 1) -> Model:
    """n equal links with joints of `dof` = 1, 2 or 3 rotations, each link rotated against the last: the chains of [I] Fig. 1."""
    if dof not in ANGULAR:
        raise ModelError(f"chain: dof must be 1, 2 or 3, got {dof}")
    m, joint = Model(f"chain of {n}, {plural(dof, 'degree')} of freedom each"), ANGULAR[dof]()
    carrier, at, beyond = "ground", Pose(), Pose((0.3, 0.0, 0.0), Rotation.about("x", math.pi / 2))
    for i in range(1, n + 1):
        link = f"link{i}"
        m.add_body(link, mass=1.0, com=(0.15, 0.01, 0.0), inertia=(0.001, 0.008, 0.0085))
        m.add_joint(f"joint{i}", joint, carrier, link, at=at)
        carrier, at = link, beyond
    return m


@checked
@no_collection()
def tree(n: int, branching: float = 2.0, dof: int | None = None, seed: int = 0) -> Model:
    """n bodies with random joints, masses and placements. Body (i−1) // branching carries body i (1: a chain);
    `dof` restricts the joints to those with that many degrees of freedom."""
    if not branching >= 1.0:
        raise ModelError(f"tree: branching must be at least 1, got {branching:g}")
    rng = np.random.default_rng(seed)
    kinds = [kind for kind in parts.random_joints(rng) if dof is None or len(kind.v_names()) == dof]
    if not kinds:
        raise ModelError(f"tree: no joint has {dof} degrees of freedom")
    m = Model(f"tree of {n}")
    for i in range(n):
        parts.random_body(m, f"body{i + 1}", rng)
        carrier = "ground" if i == 0 else f"body{int((i - 1) // branching) + 1}"
        joint = parts.random_joints(rng, dof)[rng.integers(len(kinds))]
        m.add_joint(f"joint{i + 1}", joint, carrier, f"body{i + 1}", at=parts.random_pose(rng), child_at=parts.random_pose(rng))
    return m


@checked
def all_joints(seed: int = 0, driven: bool = True, moving_base: bool = True) -> Model:
    """A random tree with every joint type at least once, some joints named the other way round, in random order;
    `driven` adds driven joints, `moving_base` a base that moves in time."""
    rng = np.random.default_rng(seed)
    joints = [*parts.random_joints(rng), parts.random_custom(rng), parts.random_constraint(), parts.random_compound(rng)]
    if driven:
        joints += parts.random_driven(rng)
    joints = [joints[k] for k in rng.permutation(len(joints))]
    gravity = (rng.normal(size=3) * 5.0).tolist()
    m = Model(f"all joints, seed {seed}", gravity, parts.random_drive_pose(rng) if moving_base else None)
    on_ground = rng.random(len(joints)) < 0.15
    carriers = ["ground" if g or i == 0 else f"body{rng.integers(max(0, i - 4), i)}" for i, g in enumerate(on_ground)]
    for i in range(len(joints)):
        parts.random_body(m, f"body{i}", rng)
    for i in rng.permutation(len(joints)):
        parent, child = carriers[i], f"body{i}"
        if rng.random() < 0.3:
            parent, child = child, parent
        m.add_joint(f"joint{i}", joints[i], parent, child, at=parts.random_pose(rng), child_at=parts.random_pose(rng))
    return m


def manipulator() -> Model:
    """Seven revolute axes in the order of the space station's arm SSRMS: roll, yaw, pitch, pitch, pitch, yaw, roll.

    Two booms of 7.1 m between short joint housings; sizes and masses are round figures of that order.
    """
    m = Model("manipulator", gravity=(0.0, 0.0, 0.0))
    axes = ("x", "z", "y", "y", "y", "z", "x")
    lengths = (0.38, 0.38, 7.11, 7.11, 0.38, 0.38, 0.5)
    masses = (105.0, 105.0, 314.0, 279.0, 105.0, 105.0, 243.0)
    carrier, at = "ground", Pose()
    for i, (axis, length, mass) in enumerate(zip(axes, lengths, masses, strict=True), start=1):
        m.add_body(f"link{i}", mass=mass, shape=Rod((0.0, 0.0, 0.0), (length, 0.0, 0.0), radius=0.18))
        m.add_joint(f"joint{i}", Revolute(axis), carrier, f"link{i}", at=at)
        carrier, at = f"link{i}", Pose((length, 0.0, 0.0))
    return m
