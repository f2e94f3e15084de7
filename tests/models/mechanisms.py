"""Mechanisms of the tests of simulation: published ones with their parameters, and small ones that contain what can go wrong."""

from __future__ import annotations

import math

import numpy as np

import sharnir as sh

A01 = {1.0: (0.986291751132, -0.165010853126), 10.0: (-0.275087462577, -0.961419205099)}
"""IFToMM benchmark A01, planar pendulum: where the mass is."""
RODS = {2: (-1.2077162382, -0.8143910231), 3: (-0.2353469023, -0.7771528565, -0.9093720656)}
"""n uniform rods of 1 m and 1 kg, let go when horizontal: angles from the downward vertical after 1 s."""
GOVERNOR = {"slide": 0.501420922, "right": 0.521833302}
"""IFToMM benchmark A05 with springs: height of the slider and angle of the rods after 1 s."""
GOVERNOR_SPEED = 6.271125742


def governor() -> sh.Model:
    """The stiff flyball governor of IFToMM, A05: hard springs between the rods and a slider on a spinning shaft."""
    density, rod = 3000.0, sh.Box((1.0, 0.01, 0.01), at=sh.Pose((0.5, 0.0, 0.0)))
    m = sh.Model("governor", gravity=(0.0, 0.0, -9.81))
    m.add_body("shaft", mass=density * 1e-4, shape=sh.Box((0.01, 0.01, 1.0), at=sh.Pose((0.0, 0.0, 0.5))))
    m.add_body("slider", mass=density * 1e-3, shape=sh.Box((0.1, 0.1, 0.1)))
    m.add_joint("spin", sh.Revolute("z"), "ground", "shaft")
    m.add_joint("slide", sh.Prismatic("z"), "shaft", "slider")
    for side, sign, turn in (("right", 1.0, 0.0), ("left", -1.0, math.pi)):
        m.add_body(f"{side} rod", mass=density * 1e-4, shape=rod)
        m.add_body(f"{side} ball", mass=5.0)
        m.add_joint(side, sh.Revolute("y"), "shaft", f"{side} rod", at=sh.Pose((0.05 * sign, 0, 1), sh.Rotation.about("z", turn)))
        m.add_joint(f"{side} end", sh.Weld(), f"{side} rod", f"{side} ball", at=sh.Pose((1.0, 0.0, 0.0)))
        spring = sh.SpringDamper(
            f"{side} rod",
            "slider",
            (0.5, 0, 0),
            (0.05 * sign, 0, 0),
            stiffness=8e5,
            damping=4e4,
            length=0.5,
            name=f"{side} spring",
        )
        m.add_force(spring)
    return m


GOVERNOR_START = {
    "q0": {"slide": 0.5, "right": math.pi / 6, "left": math.pi / 6},
    "v0": {"spin": 2.0 * math.pi},
}


def floating(name: str = "floating arm") -> sh.Model:
    """A free body, an arm on a ball joint, a hand on a hinge."""
    m = sh.Model(name, gravity=(0.0, 0.0, -9.81))
    m.add_body("base", mass=3.0, com=(0.1, 0.0, 0.05), inertia=(0.2, 0.3, 0.25))
    m.add_body("arm", mass=1.0, com=(0.2, 0.0, 0.05), inertia=(0.02, 0.03, 0.035))
    m.add_body("hand", mass=0.5, com=(0.1, 0.02, 0.0), inertia=(0.01, 0.012, 0.015))
    m.add_joint("float", sh.Free(), "ground", "base")
    m.add_joint("shoulder", sh.Ball(), "base", "arm", at=sh.Pose((0.3, 0.0, 0.0)))
    m.add_joint("elbow", sh.Revolute("y"), "arm", "hand", at=sh.Pose((0.4, 0.0, 0.0)))
    return m


def floating_start(seed: int = 1) -> dict[str, np.ndarray]:
    m, rng = floating(), np.random.default_rng(seed)
    return {"q0": m.random_q(rng), "v0": rng.normal(size=m.nv)}


def powered() -> sh.Model:
    """Everything that feeds or takes energy: a drive, a moving base, damping, friction, a motor, drag; and a spring."""

    def shake(t):
        return sh.Pose((0.1 * sh.sin(3.0 * t), 0.0, 0.05 * sh.cos(2.0 * t)), sh.Rotation.about("x", 0.1 * sh.sin(t)))

    m = sh.Model("powered", gravity=(0.0, 0.0, -9.81), base_motion=shake)
    m.add_body("crank", mass=2.0, com=(0.1, 0.0, 0.0), inertia=(0.01, 0.02, 0.02))
    m.add_body("arm", mass=1.0, com=(0.2, 0.0, 0.0), inertia=(0.01, 0.02, 0.02))
    m.add_body("tip", mass=0.5, com=(0.1, 0.0, 0.0), inertia=(0.004, 0.005, 0.005))
    m.add_body("bob", mass=0.3, com=(0.0, 0.0, -0.2), inertia=(0.001, 0.001, 0.001))
    m.add_joint("drive", sh.Revolute("z", motion=lambda t: 0.4 * sh.sin(2.0 * t)), "ground", "crank")
    m.add_joint("hinge", sh.Revolute("y", damping=0.3), "crank", "arm", at=sh.Pose((0.2, 0.0, 0.0)))
    m.add_joint("wrist", sh.Revolute("x"), "arm", "tip", at=sh.Pose((0.4, 0.0, 0.0)))
    m.add_joint("ball", sh.Ball(), "tip", "bob", at=sh.Pose((0.2, 0.0, 0.0)))
    m.add_force(sh.JointFriction("wrist", coulomb=0.05, static=0.08, slip=0.05))
    m.add_force(sh.Motor("hinge", kp=20.0, kd=1.0, target=lambda t: 0.5 * sh.sin(t)))
    m.add_force(sh.Drag("bob", linear=0.1, quadratic=0.2))
    m.add_force(sh.SpringDamper("crank", "tip", (0, 0, 1), stiffness=30.0, damping=0.5, length=0.8))
    return m


def hinged(force=None, **options) -> sh.Model:
    """A point mass on a bar with limits, friction … of its joint as given, and a force."""
    m = sh.Model("hinged", gravity=(0.0, -9.81, 0.0))
    m.add_body("bar", mass=1.0, com=(1.0, 0.0, 0.0))
    m.add_joint("hinge", sh.Revolute("z", **options), "ground", "bar")
    if force is not None:
        m.add_force(force)
    return m
