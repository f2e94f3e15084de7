"""Random trees that mix rigid and flexible bodies, with every joint type, held and hanging anywhere on the bodies."""

from __future__ import annotations

from typing import Any

import numpy as np

import sharnir as sh
from sharnir.samples.random_parts import random_compound, random_constraint, random_custom, random_driven, random_joints
from states import random_mass, random_pose


def random_beam(rng: np.random.Generator, **options: Any) -> sh.FlexibleBeam:
    counts = {name: int(rng.integers(0, 3)) for name in ("bend_y", "bend_z", "twist", "stretch")}
    counts["bend_z"] += 1
    ends = ("clamped-free", "pinned", "free", "polynomial")[rng.integers(4)]
    given = {"length": rng.uniform(0.5, 1.5), "E": 2e8, "G": 8e7, "density": 3000.0, "section": sh.Rectangle(0.04, 0.03)}
    return sh.FlexibleBeam(**{**given, "modes": counts, "ends": ends, "damping": 0.01, **options})


def random_modal(rng: np.random.Generator) -> sh.ModalBody:
    """A cloud of four heavy nodes with two modes."""
    names = [f"n{k}" for k in range(4)]
    nodes = {name: tuple(rng.uniform(-0.4, 0.4, 3).tolist()) for name in names}
    masses = dict(zip(names, rng.uniform(0.2, 1.0, 4).tolist(), strict=True))
    x, w = np.array(list(nodes.values())), np.array(list(masses.values()))
    com = w @ x / w.sum()
    J = sum(m * (r @ r * np.eye(3) - np.outer(r, r)) for m, r in zip(w, x - com, strict=True))
    modes = {name: rng.uniform(-0.5, 0.5, (6, 2)) for name in names}
    modal_mass = sum(masses[name] * modes[name][:3].T @ modes[name][:3] for name in names)
    return sh.ModalBody(
        mass=float(w.sum()), centre=com.tolist(), inertia=[J[0, 0], J[1, 1], J[2, 2], J[0, 1], J[0, 2], J[1, 2]], nodes=nodes,
        modes={name: x.tolist() for name, x in modes.items()}, node_mass=masses, K=[[3000.0, 200.0], [200.0, 5000.0]],
        modal_mass=modal_mass.tolist(), rayleigh=(0.1, 1e-4),
    )  # fmt: skip


def place_on(flexible: Any, rng: np.random.Generator) -> sh.Pose:
    """A random frame on a body: anywhere on a rigid one, at a station of a beam, at a node."""
    pose = random_pose(rng)
    if isinstance(flexible, sh.FlexibleBeam):
        x = flexible.length * (0.0, 1.0, float(rng.uniform(0.0, 1.0)))[rng.integers(3)]
        return sh.Pose((x, *rng.uniform(-0.05, 0.05, 2).tolist()), pose.rotation)
    if isinstance(flexible, sh.ModalBody):
        return sh.Pose(list(flexible.nodes.values())[rng.integers(4)], pose.rotation)
    return pose


def flexible_tree(seed: int, n: int = 7, flexible: float = 0.5, special: bool = True, moving_base: bool = True) -> sh.Model:
    """n bodies on random joints; `special` adds a custom joint, one given by constraints, a compound and driven ones."""
    rng = np.random.default_rng((seed, 3))
    joints = random_joints(rng)
    if special:
        joints += [random_custom(rng), random_constraint(), random_compound(rng), *random_driven(rng)]
    base = (lambda t: sh.Pose((0.1 * sh.sin(t), 0.0, 0.2 * t * t), sh.Rotation.about("x", 0.3 * t))) if moving_base else None
    m = sh.Model(f"flexible tree {seed}", gravity=(rng.normal(size=3) * 5.0).tolist(), base_motion=base)
    kinds: list[Any] = []
    for i in range(n):
        draw = rng.random()
        kinds.append(None if draw > flexible else random_modal(rng) if draw < 0.25 * flexible else random_beam(rng))
        if kinds[i] is None:
            m.add_body(f"body{i}", **random_mass(rng))
        else:
            m.add_body(f"body{i}", flexible=kinds[i])
    for i in rng.permutation(n).tolist():
        k = int(rng.integers(max(0, i - 3), i)) if i else -1
        carrier = ("ground", random_pose(rng)) if k < 0 else (f"body{k}", place_on(kinds[k], rng))
        ends = [carrier, (f"body{i}", place_on(kinds[i], rng))]
        if rng.random() < 0.3:
            ends.reverse()
        (parent, at), (child, child_at) = ends
        m.add_joint(f"joint{i}", joints[rng.integers(len(joints))], parent, child, at=at, child_at=child_at)
    return m
