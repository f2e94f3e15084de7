"""The same MJCF file in sharnir and in MuJoCo, and the way from the states of one to those of the other.

States go from one to the other by `sh.to_mujoco`. Of a free joint, MuJoCo has the velocity of the origin in the axes of the
world, we in those of the body:

    V = R v,   V̇ = R(v̇ + ω × v),   forces by virtual power: F = R f.

A joint that follows another has a coordinate in MuJoCo and none in ours: V = C v, f = CᵀF.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import mujoco
import numpy as np

import sharnir as sh
from sharnir.io.mjcf_compile import quiet

OFF = ("CONTACT", "CONSTRAINT", "ACTUATION")


@dataclass
class MujocoPair:
    model: sh.Model
    theirs: Any
    data: Any

    # --- states ---------------------------------------------------------------------------------------------------------
    def qpos(self, q: np.ndarray) -> np.ndarray:
        return sh.to_mujoco(self.model, self.theirs, q)

    def turns(self, q: np.ndarray) -> list[tuple[int, np.ndarray]]:
        """First speed and rotation of every free joint."""
        m, qpos, out = self.theirs, self.qpos(q), []
        for j in np.flatnonzero(m.jnt_type == int(mujoco.mjtJoint.mjJNT_FREE)):
            quaternion = qpos[m.jnt_qposadr[j] + 3 :][:4].tolist()
            out.append((int(m.jnt_dofadr[j]), sh.Rotation.quaternion(*quaternion).matrix))
        return out

    def outward(self, q: np.ndarray) -> np.ndarray:
        """V = T v."""
        return sh.to_mujoco(self.model, self.theirs, q, np.eye(self.model.nv))[1].T

    def acceleration_shift(self, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        """V̇ = T v̇ + this."""
        out = np.zeros(self.theirs.nv)
        for at, R in self.turns(q):
            out[at : at + 3] = R @ np.cross(v[at + 3 : at + 6], v[at : at + 3])
        return out

    # --- questions --------------------------------------------------------------------------------------------------------
    def _set(self, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        T = self.outward(q)
        self.data.qpos[:], self.data.qvel[:] = self.qpos(q), T @ v
        return T

    def forward(self, q: np.ndarray, v: np.ndarray, tau: np.ndarray) -> np.ndarray:
        """v̇ in our terms, from mj_forward (not for couplings: MuJoCo's are soft)."""
        T = self._set(q, v)
        self.data.qfrc_applied[:] = T @ tau  # T is orthogonal
        mujoco.mj_forward(self.theirs, self.data)
        return T.T @ (self.data.qacc - self.acceleration_shift(q, v))

    def inverse(self, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> np.ndarray:
        T = self._set(q, v)
        self.data.qacc[:] = T @ a + self.acceleration_shift(q, v)
        mujoco.mj_inverse(self.theirs, self.data)
        return T.T @ self.data.qfrc_inverse

    def mass_matrix(self, q: np.ndarray) -> np.ndarray:
        T = self._set(q, np.zeros(self.model.nv))
        mujoco.mj_forward(self.theirs, self.data)
        M = np.zeros((self.theirs.nv, self.theirs.nv))
        mujoco.mj_fullM(self.theirs, self.data, M)
        return T.T @ M @ T

    def bodies(self, q: np.ndarray) -> dict[str, tuple[np.ndarray, np.ndarray]]:
        """Position and rotation of every named body."""
        self._set(q, np.zeros(self.model.nv))
        mujoco.mj_kinematics(self.theirs, self.data)
        names = ((i, self.theirs.body(i).name) for i in range(1, self.theirs.nbody))
        return {name: (self.data.xpos[i].copy(), self.data.xmat[i].reshape(3, 3).copy()) for i, name in names if name}


def bare(theirs: Any) -> Any:
    """Switch off what we leave out: contacts, constraints, actuators, fluid, gravity compensation."""
    for name in OFF:
        theirs.opt.disableflags |= int(mujoco.mjtDisableBit.__members__[f"mjDSBL_{name}"])
    theirs.opt.density = theirs.opt.viscosity = 0.0
    theirs.body_gravcomp[:] = 0.0
    return theirs


def load_pair(path: Path, **options: Any) -> MujocoPair:
    with quiet():
        theirs = bare(mujoco.MjModel.from_xml_path(str(path)))
    if options.get("passive") is False:
        for field in ("dof_damping", "jnt_stiffness", "tendon_damping", "tendon_stiffness"):
            getattr(theirs, field)[:] = 0.0
    return MujocoPair(sh.load(path, **{"actuators": False, **options}), theirs, mujoco.MjData(theirs))


def pair_of(folder: Path, text: str, **options: Any) -> MujocoPair:
    return load_pair(write(folder, text), **options)


def write(folder: Path, text: str | bytes, name: str = "model.xml") -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path
