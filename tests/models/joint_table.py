"""Every joint type once, under a name, and ways to look at one joint by itself."""

from __future__ import annotations

from typing import Any

import numpy as np

import sharnir as sh
from sharnir.model.joints.axes import AxisJoint

U, W = (0.36, 0.48, 0.8), (0.6, -0.8, 0.0)
"""Two unit axes, neither parallel nor perpendicular."""
PITCH = 0.13


def wave(k: float):
    """A drive, and its own first two derivatives for comparison."""
    return (
        lambda t: 0.4 * k * sh.sin(1.3 * t + k) + 0.2 * t * t,
        lambda t: 0.52 * k * np.cos(1.3 * t + k) + 0.4 * t,
        lambda t: -0.676 * k * np.sin(1.3 * t + k) + 0.4,
    )


def turn(u: Any, angle: Any) -> sh.Rotation:
    """Rodrigues' formula: cE + (1 − c)uuᵀ + sũ."""
    c, s = sh.cos(angle), sh.sin(angle)
    tilde = ((0.0, -u[2], u[1]), (u[2], 0.0, -u[0]), (-u[1], u[0], 0.0))
    return sh.Rotation([[(i == j) * c + (1 - c) * u[i] * u[j] + s * tilde[i][j] for j in range(3)] for i in range(3)])


def shift(u: Any, x: Any) -> tuple:
    return (u[0] * x, u[1] * x, u[2] * x)


def moving(q: Any, t: Any) -> sh.Pose:
    """A pose without any simplicity."""
    first, second = turn((0.0, 0.0, 1.0), q[0] + 0.3 * q[1] * q[1]), turn((0.0, 1.0, 0.0), 0.5 * sh.sin(q[1]) + 0.3 * t)
    return sh.Pose((0.4 * sh.cos(q[0]), 0.7 * q[1] + 0.1 * t * t, q[0] * q[1]), first @ second)


def on_a_breathing_circle(pose: sh.Pose, t: Any) -> tuple:
    x, y, z = pose.position
    return x * x + y * y - (1.0 + 0.2 * sh.sin(t)), z - 0.2 * x * t, pose.rotation.entries[8]


def euler(t: Any) -> sh.Rotation:
    return sh.Rotation.rpy(wave(1)[0](t), wave(2)[0](t), wave(3)[0](t))


class PolarArm(AxisJoint):
    """A joint of one's own made of steps: here a shift and a screw ride on a turn, which no built-in joint has."""

    coordinates = ("angle", "distance", "screw")

    def steps(self, label: str) -> list:
        return [("angle", W, 1.0, 0.0), ("distance", U, 0.0, 1.0), ("screw", U, 1.0, PITCH)]


def polar_arm(q: Any, t: Any) -> sh.Pose:
    return sh.Pose(rotation=turn(W, q[0])) @ sh.Pose(shift(U, q[1])) @ sh.Pose(shift(U, PITCH * q[2]), turn(U, q[2]))


SHOULDER = sh.Pose((0.1, -0.2, 0.3), sh.Rotation.about(U, 0.7))
"""Where the later parts of a compound sit."""


def compound(q: Any, t: Any) -> sh.Pose:
    return (
        sh.Pose(rotation=turn(U, q[0]))
        @ SHOULDER
        @ sh.Pose(shift(W, q[1]))
        @ sh.Pose((0.0, 0.2, 0.0))
        @ sh.Pose(shift(U, q[2]), turn(U, q[3]))
    )


RESTATED = {
    "revolute": (sh.Revolute(U), 1, lambda q, t: sh.Pose(rotation=turn(U, q[0]))),
    "revolute x": (sh.Revolute("x"), 1, lambda q, t: sh.Pose(rotation=turn((1, 0, 0), q[0]))),
    "revolute -y": (sh.Revolute("-y"), 1, lambda q, t: sh.Pose(rotation=turn((0, -1, 0), q[0]))),
    "prismatic": (sh.Prismatic(U), 1, lambda q, t: sh.Pose(shift(U, q[0]))),
    "screw": (sh.Screw(W, pitch=PITCH), 1, lambda q, t: sh.Pose(shift(W, PITCH * q[0]), turn(W, q[0]))),
    "cylindrical": (sh.Cylindrical(U), 2, lambda q, t: sh.Pose(shift(U, q[0]), turn(U, q[1]))),
    "universal": (sh.Universal(U, W), 2, lambda q, t: sh.Pose(rotation=turn(U, q[0]) @ turn(W, q[1]))),
    "planar": (sh.Planar(), 3, lambda q, t: sh.Pose((q[0], q[1], 0.0), turn((0, 0, 1), q[2]))),
    "translation": (sh.Translation(), 3, lambda q, t: sh.Pose((q[0], q[1], q[2]))),
    "polar arm": (PolarArm(), 3, polar_arm),
    "compound": (
        sh.Compound(
            {
                "turn": sh.Revolute(U),
                "shift": (sh.Prismatic(W), SHOULDER),
                "rod": (sh.Cylindrical(U), sh.Pose((0.0, 0.2, 0.0))),
            }
        ),
        4,
        compound,
    ),
    "weld": (sh.Weld(), 0, lambda q, t: sh.Pose()),
}
"""name: a joint, its freedoms, and its pose written out."""

JOINTS = {name: joint for name, (joint, _, _) in RESTATED.items()} | {
    "ball": sh.Ball(),
    "free": sh.Free(),
    "custom": sh.CustomJoint(2, moving),
    "constraint": sh.ConstraintJoint(on_a_breathing_circle, sh.Pose((1.0, 0.0, 0.0), sh.Rotation.about("x", np.pi / 2))),
    "compound with a ball": sh.Compound(
        {"slide": sh.Prismatic(U), "ball": (sh.Ball(), SHOULDER), "hinge": (sh.Revolute(W), SHOULDER)}
    ),
    "compound of the user's own": sh.Compound({"own": sh.CustomJoint(2, moving), "hinge": (sh.Revolute(U), SHOULDER)}),
    "driven revolute": sh.Revolute(U, motion=wave(1)[0]),
    "driven screw": sh.Screw(U, pitch=PITCH, motion=wave(1)[0]),
    "half driven planar": sh.Planar(motion={"y": wave(2)[0]}),
    "half driven universal": sh.Universal(W, U, motion={"first": wave(3)[0]}),
    "half driven custom": sh.CustomJoint(2, moving, motion={"q2": wave(1)[0]}),
    "half driven compound": sh.Compound(
        {"slide": sh.Prismatic(U), "ball": (sh.Ball(), SHOULDER), "arm": (sh.Universal(W, U), SHOULDER)},
        motion={"ball": euler, "arm.first": wave(2)[0]},
    ),
    "driven ball": sh.Ball(motion=euler),
    "driven free": sh.Free(motion=lambda t: sh.Pose((wave(4)[0](t), t, 0.1), euler(t))),
}
"""Every joint type, free and driven."""


def alone(joint: sh.Joint, swapped: bool = False, at: sh.Pose | None = None, child_at: sh.Pose | None = None) -> sh.Model:
    """One body on the ground; swapped: the joint is named from the body to the ground."""
    m = sh.Model("one joint")
    m.add_body("body", mass=1.0, com=(0.1, 0.2, 0.3), inertia=(0.1, 0.11, 0.12))
    ends = ("body", "ground") if swapped else ("ground", "body")
    m.add_joint("joint", joint, *ends, at=at, child_at=child_at)
    return m


def seen(model: sh.Model, q: Any, v: Any, t: float) -> dict[str, np.ndarray]:
    """Everything the joint stage says about the one joint of a model."""
    m = sh.matrices(model, q, v, t)
    names = {"rho": m.rho[0], "G": m.G[0], "A": m.A_blocks[0], "dA": m.A_rates[0]}
    return names | {"v_r": m.v_r, "phi": m.phi_r, "psi": m.psi_r, "rate": m.q_rate}
