"""The same robot for us and for Pinocchio: a sharnir.Model from a pinocchio.Model."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pinocchio as pin

import sharnir as sh

from .harness import robot_files

ROBOTS = {
    "ur5": ("ur_description/urdf/ur5_robot.urdf", False),
    "panda": ("panda_description/urdf/panda.urdf", False),
    "anymal_c": ("anymal_c_simple_description/urdf/anymal.urdf", True),
    "talos": ("talos_data/robots/talos_reduced.urdf", True),
}
"""Where its URDF is, and whether it floats."""

AXES = {"RX": "x", "RY": "y", "RZ": "z", "PX": "x", "PY": "y", "PZ": "z"}


@dataclass(frozen=True)
class Robot:
    name: str
    model: sh.Model
    pin: pin.Model

    def q_to_pin(self, q: np.ndarray) -> np.ndarray:
        """Our coordinates as Pinocchio's."""
        return sh.to_pinocchio(self.model, self.pin, q)


def urdf_of(name: str) -> str:
    """The file of a robot of example-robot-data."""
    (path,) = robot_files(ROBOTS[name][0])
    return str(path)


def load(name: str) -> Robot:
    floating = ROBOTS[name][1]
    model = pin.buildModelFromUrdf(urdf_of(name), *([pin.JointModelFreeFlyer()] if floating else []))
    return Robot(name, convert(model, name), model)


def chain_pair(n: int) -> Robot:
    """sharnir.samples.chain(n) and the same in Pinocchio."""
    ours = sh.samples.chain(n)
    theirs = pin.Model()
    for i, (joint, body) in enumerate(zip(ours.joints, ours.bodies, strict=True)):
        place = pin.SE3(joint.at.rotation.matrix, np.array(joint.at.position))
        index = theirs.addJoint(i, pin.JointModelRZ(), place, joint.name)
        inertia = pin.Inertia(body.mass, np.array(body.com), body.inertia_matrix())
        theirs.appendBodyToJoint(index, inertia, pin.SE3.Identity())
    return Robot(ours.name, ours, theirs)


def convert(p: pin.Model, name: str) -> sh.Model:
    m = sh.Model(name, gravity=p.gravity.linear.tolist())
    for i in range(1, p.njoints):
        I = p.inertias[i]
        m.add_body(p.names[i] + " body", mass=I.mass, com=I.lever.tolist(), inertia=I.inertia)
        parent = "ground" if p.parents[i] == 0 else p.names[p.parents[i]] + " body"
        X = p.jointPlacements[i]
        at = sh.Pose(X.translation.tolist(), sh.Rotation(X.rotation))
        m.add_joint(p.names[i], _joint(p.joints[i]), parent, p.names[i] + " body", at=at)
    return m


def _joint(joint: pin.JointModel) -> sh.Joint:
    kind = joint.shortname().removeprefix("JointModel")
    if kind.startswith("RUB"):
        return sh.Revolute(kind[-1].lower())
    if kind in AXES:
        return (sh.Revolute if kind[0] == "R" else sh.Prismatic)(AXES[kind])
    if kind == "FreeFlyer":
        return sh.Free()
    if kind == "Spherical":
        return sh.Ball()
    if kind == "Translation":
        return sh.Translation()
    if "Unaligned" in kind:
        axis = joint.extract().axis if hasattr(joint, "extract") else joint.axis
        return (sh.Revolute if "Revolute" in kind else sh.Prismatic)(axis.tolist())
    raise ValueError(f"no conversion for joint type {kind}")
