"""Models built with numbers or with parameters in their place: the same text makes both."""

from __future__ import annotations

from typing import Any

import numpy as np

import sharnir as sh

VALUES = {"L": 0.8, "k": 2.5}
"""Other than the defaults of the parameters."""
DEFAULTS = {"L": 0.5, "k": 3.0}


def arm(L: Any = None, k: Any = None) -> sh.Model:
    """A tree with parameters everywhere: masses, centres, inertias, shapes, places, options of joints, a custom joint, a
    drive, a coupling, forces of the library and of the user's own, gravity. Numbers where they are given."""
    m = sh.Model("parametric arm")
    if L is None:
        L, k = (m.add_parameter(name, value) for name, value in DEFAULTS.items())
    m.gravity = (0.0, 0.5 * L, -9.81)
    m.add_body("upper", mass=2 * L, shape=sh.Rod((0, 0, 0), (L, 0, 0), radius=0.02))
    m.add_body("fore", mass=1.0, com=(L / 2, 0, 0), inertia=(0.01, 0.02, 0.03 - 0.01 * L))
    m.add_body("slide", mass=k, com=(0.1, 0, 0), inertia=(0.01, 0.02, 0.03))
    m.add_body("wheel", shape=sh.Cylinder(0.2 * L, 0.1, hole=0.05 * L), density=100.0)
    m.add_body("disc", mass=0.5, inertia=(0.1, 0.1, 0.2))
    m.add_body("box", density=50.0, shape=sh.Box((L, 0.2, 0.3), at=sh.Pose((0, L, 0), sh.Rotation.about("z", L))))
    m.add_body("ball", density=30.0, shape=sh.Sphere(0.1 * k))
    m.add_joint("shoulder", sh.Revolute("y", damping=0.1 * k, stiffness=L, rest=0.1 * L), "ground", "upper")
    m.add_joint("elbow", sh.Revolute("z", armature=L), "upper", "fore", at=sh.Pose((L, 0, 0), sh.Rotation.about("x", 0.3 * L)))
    wave = sh.CustomJoint(1, lambda q, t: sh.Pose((q[0] * L, sh.cos(q[0]), k * sh.sin(t))))
    m.add_joint("wave", wave, "fore", "slide", at=sh.Pose((L, 0, 0)))
    m.add_joint("drive", sh.Revolute("x", motion=lambda t: L * sh.sin(k * t)), "slide", "wheel", child_at=sh.Pose((0, 0, L)))
    m.add_joint("follower", sh.Revolute("y"), "upper", "disc", at=sh.Pose((0, 0, 0.1)))
    m.couple("follower", "elbow", ratio=L, offset=0.1 * k)
    m.add_joint("screw", sh.Screw("z", pitch=0.1 * L), "disc", "box", at=sh.Pose((0.2, 0, 0)))
    m.add_joint("swivel", sh.Ball(), "box", "ball", at=sh.Pose((0, 0, L)))
    m.add_force(sh.SpringDamper("upper", "fore", at_a=(L / 3, 0, 0.1), stiffness=k, length=L, damping=0.1 * L))
    m.add_force(sh.Bushing("ground", "ball", sh.Pose((L, 0, 0)), stiffness=k, damping=(L, 1, 1, 0.1, 0.1, 0.1)), "bushing")
    m.add_force(sh.JointFriction("screw", coulomb=0.1 * k, slip=0.1 * L))
    m.add_force(sh.JointStop("elbow", low=-L, high=L, stiffness=100 * k))
    m.add_force(sh.Motor("shoulder", kp=k, kd=L, target=lambda t: L * sh.sin(t)))
    m.add_force(lambda on: on.torque("elbow", -k * on.q("elbow") * on.mass("slide")), "user")
    m.add_frame("tip", "fore", sh.Pose((L, 0, 0)))
    return m


def linkage(L: Any = None, k: Any = None) -> sh.Model:
    """A four-bar whose coupler has a parameter for its length, with a spring, a distance and a driven base."""
    m = sh.Model("parametric linkage")
    if L is None:
        L, k = m.add_parameter("L", 1.0), m.add_parameter("k", 3.0)
    for name, length, mass in (("crank", 0.5, 1.0), ("coupler", L, 2 * L), ("rocker", 0.8, 1.0)):
        m.add_body(name, mass=mass, shape=sh.Rod((0, 0, 0), (length, 0, 0)))
    m.add_body("bob", mass=0.2 * k, inertia=(0.01, 0.01, 0.01))
    m.add_joint("A", sh.Revolute("y", damping=0.01 * k), "ground", "crank")
    m.add_joint("B", sh.Revolute("y"), "crank", "coupler", at=sh.Pose((0.5, 0, 0)))
    m.add_joint("C", sh.Revolute("y"), "coupler", "rocker", at=sh.Pose((L, 0, 0)))
    m.add_joint("D", sh.Revolute("y"), "rocker", "ground", at=sh.Pose((0.8, 0, 0)), child_at=sh.Pose((0.9, 0, 0)), cut=True)
    m.add_joint("bob", sh.Translation(), "ground", "bob")
    m.add_constraint(sh.Distance("coupler", "bob", at_a=(L / 2, 0, 0), length=0.3 * k), "rope")
    m.add_force(sh.SpringDamper("coupler", "ground", at_a=(L / 2, 0, 0), at_b=(0, 0, 1), stiffness=10 * k, length=0.5 * L))
    return m


LINKAGE_START = {"A": -1.0, "B": 0.8, "C": 1.2, "bob": (0.4, 0.3, 0.5)}
LINKAGE_VALUES = {"L": 1.1, "k": 2.5}


def numbers_of(x: Any) -> np.ndarray:
    """Whatever a question answers, as one row of numbers."""
    if isinstance(x, dict):
        return np.concatenate([numbers_of(y) for y in x.values()]) if x else np.zeros(0)
    if hasattr(x, "vdot"):
        return np.concatenate([np.ravel(y) for y in (x.qdd, x.vdot, x.R)])
    if isinstance(x, tuple):
        return np.concatenate([numbers_of(y) for y in x])
    return np.ravel(np.asarray(x, dtype=float))
