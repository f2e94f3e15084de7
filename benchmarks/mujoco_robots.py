"""The same robot in MuJoCo: built body by body, links that are fixed to each other being one body already.

MuJoCo's own URDF reader adds damping and friction and refuses links without physical inertia (a camera of
ANYmal); built from the model that ours and Pinocchio's calculations use, it solves the same problem.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import mujoco
import numpy as np

import sharnir as sh

from .robots import Robot

KINDS = {
    sh.Revolute: mujoco.mjtJoint.mjJNT_HINGE,
    sh.Prismatic: mujoco.mjtJoint.mjJNT_SLIDE,
    sh.Free: mujoco.mjtJoint.mjJNT_FREE,
}

AXES = {"x": [1.0, 0.0, 0.0], "y": [0.0, 1.0, 0.0], "z": [0.0, 0.0, 1.0]}


@dataclass(frozen=True)
class MujocoRobot:
    robot: Robot
    model: Any
    data: Any

    def set_state(self, q: np.ndarray, v: np.ndarray, tau: np.ndarray) -> None:
        """Of a free joint, MuJoCo has velocity and force in the axes of the world."""
        self.data.qpos[:], self.data.qvel[:] = sh.to_mujoco(self.robot.model, self.model, q, v)
        self.data.qfrc_applied[:] = sh.to_mujoco(self.robot.model, self.model, q, tau)[1]

    def acceleration(self, q: np.ndarray, v: np.ndarray, tau: np.ndarray) -> np.ndarray:
        """v̇ in our terms: a free body's velocity in its own axes."""
        self.set_state(q, v, tau)
        self.forward()
        a = self.data.qacc.copy()
        if self.floats:
            a[:3] = self._rotation(q).T @ a[:3] - np.cross(v[3:6], v[:3])
        return a

    @property
    def forward(self) -> Callable[[], None]:
        model, data = self.model, self.data
        return lambda: mujoco.mj_forward(model, data)

    @property
    def floats(self) -> bool:
        return isinstance(self.robot.model.joints[0].type, sh.Free)

    @staticmethod
    def _rotation(q: np.ndarray) -> np.ndarray:
        return np.array(sh.Rotation.quaternion(*q[3:7].tolist()).matrix)


def to_mujoco(robot: Robot, equip: Callable[[Any, dict[str, Any]], None] | None = None) -> MujocoRobot:
    """Without contacts, limits, damping, armature or friction: bare rigid-body dynamics. `equip` is given the specification and
    its bodies by name before they are compiled; contacts act then."""
    spec = mujoco.MjSpec()
    spec.option.gravity = list(robot.model.gravity)
    for flag in (mujoco.mjtDisableBit.mjDSBL_CONTACT, mujoco.mjtDisableBit.mjDSBL_CONSTRAINT) if equip is None else ():
        spec.option.disableflags |= int(flag)
    placed = {"ground": spec.worldbody}
    for joint, body in zip(robot.model.joints, robot.model.bodies, strict=True):
        new = placed[joint.parent].add_body(
            name=body.name, pos=joint.at.position, quat=_quaternion(joint.at.rotation.matrix),
            mass=body.mass, ipos=body.com, fullinertia=_six(body.inertia_matrix()), explicitinertial=True,
        )  # fmt: skip
        kind = type(joint.type)
        if kind is sh.Free:
            new.add_freejoint(name=joint.name)
        else:
            new.add_joint(name=joint.name, type=KINDS[kind], axis=_axis(joint.type.axis))
        placed[joint.child] = new
    if equip is not None:
        equip(spec, placed)
    model = spec.compile()
    return MujocoRobot(robot, model, mujoco.MjData(model))


def _axis(axis: Any) -> list[float]:
    return AXES[axis] if isinstance(axis, str) else list(axis)


def _quaternion(matrix: Any) -> np.ndarray:
    out = np.zeros(4)
    mujoco.mju_mat2Quat(out, np.asarray(matrix, dtype=float).ravel())
    return out


def _six(J: np.ndarray) -> list[float]:
    return [J[0, 0], J[1, 1], J[2, 2], J[0, 1], J[0, 2], J[1, 2]]
