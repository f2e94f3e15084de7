"""Flexible bodies as files describe them: one of every type and section, on a tree with nodes, frames, forces and settings."""

from __future__ import annotations

import numpy as np

import sharnir as sh
from flexible_models import random_modal

SECTIONS = {
    "rectangle": sh.Rectangle(0.02, 0.01),
    "circle": sh.Circle(0.01),
    "tube": sh.Tube(0.01, 0.008),
    "i-section": sh.ISection(0.04, 0.05, 0.004, 0.005),
    "section": sh.OwnSection(2e-4, 1 / 6e8, 3e-9, 1e-9),
}
METAL = {"length": 1.0, "E": 7e10, "G": 2.6e10, "density": 2700.0, "section": SECTIONS["rectangle"]}
LUMPED = random_modal(np.random.default_rng(0))
SMALL = {
    "mass": 2.0, "centre": (0.5, 0.0, 0.0), "inertia": (0.1, 0.6, 0.6, 0.0, 0.0, 0.0),
    "nodes": {"root": (0.0, 0.0, 0.0), "tip": (1.0, 0.0, 0.0)},
    "modes": {"root": [[0.0], [0.0], [0.0]], "tip": [[0.0], [0.0], [1.0], [0.0], [-1.5], [0.0]]},
    "frequencies": (1 / 3e-2,), "node_mass": {"root": 1.0, "tip": 1.0},
}  # fmt: skip
FLEXIBLE = {
    "beam": sh.FlexibleBeam(**METAL),
    "beam of families": sh.FlexibleBeam(
        **METAL,
        modes={"bend_z": 2, "twist": 1},
        ends="pinned",
        damping=(0.01, 0.02, 1 / 3),
        rayleigh=(0.1, 1e-6),
        stiffening=False,
    ),
    "lumped modal": LUMPED,
    "modal of one mode": sh.ModalBody(**SMALL, damping=0.01),
    "modal with masses of modes": sh.ModalBody(**SMALL, modal_mass=(2.5,)),
} | {f"beam of {name}": sh.FlexibleBeam(**METAL | {"section": x}, modes=2) for name, x in SECTIONS.items()}


def place(flexible: sh.FlexibleBeam | sh.ModalBody, last: bool) -> sh.Pose:
    """The first or last place that something can be attached to."""
    if isinstance(flexible, sh.FlexibleBeam):
        return sh.Pose((flexible.length if last else 0.0, 0.0, 0.0))
    return sh.Pose(list(flexible.nodes.values())[-1 if last else 0])


def arm(flexible: sh.FlexibleBeam | sh.ModalBody, name: str = "arm") -> sh.Model:
    """A hub, the flexible body, a hand at its other end, a node, and a force that reads an elastic coordinate."""
    m = sh.Model(name)
    m.add_body("hub", 0.3, inertia=(1e-3, 1e-3, 1e-3))
    m.add_joint("shoulder", sh.Revolute("y", damping=0.1), "ground", "hub")
    m.add_body("arm", flexible=flexible)
    m.add_body("hand", 0.2, (0.1, 0.0, 0.0), (1e-3, 2e-3, 2e-3))
    m.add_frame("tip", "arm", place(flexible, True))
    m.add_joint("wrist", sh.Revolute("y", stiffness=3.0), "hand", "arm", child_at="tip")
    m.add_joint("root", sh.Weld(), "hub", "arm", child_at=place(flexible, False))
    m.add_node("node", "arm", "tip")
    first = flexible.coordinates[0]
    m.add_force(sh.Wrench("hand", sh.VectorFormula("t", 0, f"-5*q['arm elastic'].{first}")), "push")
    m.simulation = sh.SimulationSettings(
        duration=0.02, q0={"arm elastic": (0.01,) * len(flexible.coordinates)}, v0={f"arm elastic.{first}": 0.1}, output=0.01
    )
    return m
