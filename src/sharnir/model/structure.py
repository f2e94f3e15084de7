"""A model made ready for computing: integers and floats in arrays, the user's functions as expressions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..kernels.joint_stage import GIVEN, Joints, JointValues, joint_stage
from ..kernels.tree import Tree
from ..trace import Expression, Number
from .joints.base import Motion, fixed
from .pose import Pose
from .storage import allocate

if TYPE_CHECKING:
    from .model import PlacedJoint


class Structure:
    """The frozen tree. Row 0 of every array is the base; body i of the model is row i + 1."""

    def __init__(self, model: Any) -> None:
        tree = model.tree
        self.bodies = [model._bodies[k] for k in tree.bodies]
        self.placed: list[PlacedJoint] = [model._joints[k] for k in tree.joints]
        self.nb = len(self.bodies)
        self.body_number = {body.name: i for i, body in enumerate(self.bodies)}
        self.joint_number = {joint.name: i for i, joint in enumerate(self.placed)}
        self.carrier = np.array([0, *(k + 1 for k in tree.carriers)], dtype=np.int64)
        self.gravity = np.array(model.gravity, dtype=float)
        self.drives: list[Expression] = []
        self.given: list[tuple[Expression, slice, slice, int]] = []
        self._n_given = 0
        base = [Motion(GIVEN, given=model._base)] if model._base is not None else []
        sequences = [base, *([*fixed(j.at), *j.motions, *fixed(j.child_at.inverse())] for j in self.placed)]
        self.joints, self.q_first = self._joints([_merged(motions) for motions in sequences], [False, *tree.reversed])
        self.first: np.ndarray = self.joints.first
        self.nv = int(self.first[-1])
        self.nq = int(self.q_first[-1])
        self.tree = self._tree()
        self.sizes = {
            "nb1": self.nb + 1, "nq": self.nq, "nv": self.nv, "nl": 6 * self.nb - self.nv,
            "nd": len(self.drives), "ng": self._n_given,
        }  # fmt: skip

    def _joints(self, sequences: Sequence[Sequence[Motion]], backwards: Sequence[bool]) -> tuple[Joints, np.ndarray]:
        start, first, q_first, rows = [0], [0], [0], []
        nq = nv = 0
        for motions in sequences:
            for m in motions:
                data = -1
                if m.drive is not None:
                    data = len(self.drives)
                    self.drives.append(m.drive)
                if m.given is not None:
                    data = self._n_given
                    self.given.append((m.given, slice(nq, nq + m.nq), slice(nv, nv + m.nv), data))
                    self._n_given += len(m.given.outputs)
                pose = m.placement or Pose()
                cosines = [_snap(x) for x in pose.rotation.T.entries]
                q_at = nq if m.nq or m.kind == GIVEN else -1
                rows.append((m.kind, q_at, nv, data, m.nv, m.nq, pose.position, cosines, m.turn, m.slide))
                nq, nv = nq + m.nq, nv + m.nv
            start.append(len(rows))
            first.append(nv)
            q_first.append(nq)
        columns = list(zip(*rows, strict=True)) or [()] * 10

        def integers(x: Sequence[int]) -> np.ndarray:
            return np.array(x, dtype=np.int64)

        joints = Joints(
            start=integers(start), first=integers(first), reversed=integers(backwards),
            kind=integers(columns[0]), q_at=integers(columns[1]), v_at=integers(columns[2]),
            data_at=integers(columns[3]), axes=integers(columns[4]), coordinates=integers(columns[5]),
            rho=np.array(columns[6], dtype=float).reshape(-1, 3), G=np.array(columns[7], dtype=float).reshape(-1, 9),
            turn=np.array(columns[8], dtype=float), slide=np.array(columns[9], dtype=float),
        )  # fmt: skip
        return joints, integers(q_first)

    def user_functions(self, q: Sequence[Number], v: Sequence[Number], t: Number) -> tuple[Any, Any]:
        """The values of everything the user wrote as functions: driven coordinates and GIVEN motions, on any numbers."""
        drive = [expression(t) for expression in self.drives]
        given: list[Number] = [0.0] * self._n_given
        for expression, of_q, of_v, at in self.given:
            values = expression(*q[of_q], *v[of_v], t)
            given[at : at + len(values)] = values
        return drive, given

    def _tree(self) -> Tree:
        mass = np.array([0.0, *(b.mass for b in self.bodies)])
        com = np.array([(0.0, 0.0, 0.0), *(b.com for b in self.bodies)])
        J = np.array([np.zeros((3, 3)), *(b.inertia_matrix() for b in self.bodies)])
        J += mass[:, None, None] * (np.sum(com**2, axis=1)[:, None, None] * np.eye(3) - com[:, :, None] * com[:, None, :])
        inertia = np.ascontiguousarray(J[:, [0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]])
        owner = np.repeat(np.arange(self.nb + 1), np.diff(self.first))
        above = np.full(self.nv, -1)
        last = np.full(self.nb + 1, -1)  # the axis nearest to body i on its path
        for i in range(1, self.nb + 1):
            last[i] = last[self.carrier[i]]
            for a in range(self.first[i], self.first[i + 1]):
                above[a], last[i] = last[i], a
        mobility = _mobilities(mass, com, J, [b.inertia for b in self.bodies])
        return Tree(self.carrier, self.first, above, owner, mass, mass[:, None] * com, inertia, mobility, self.gravity)

    def joint_values(self, q: np.ndarray, v: np.ndarray, t: float) -> JointValues:
        """The joint stage, interpreted on floats."""
        drive, given = self.user_functions(q.tolist(), v.tolist(), float(t))
        out = allocate(JointValues, self.sizes)
        joint_stage(self.joints, np.array(drive).reshape(-1, 3), np.array(given), q, v, out)
        return out


def _mobilities(mass: np.ndarray, com: np.ndarray, J: np.ndarray, about_com: Sequence[Sequence[float]]) -> np.ndarray:
    """Inverse mass matrices (nb+1, 6, 6) of all bodies; nan for those without mass or without inertia about some axis."""
    out = np.full((len(mass), 6, 6), np.nan)
    xx, yy, zz, xy, xz, yz = np.array(about_com).reshape(-1, 6).T
    moments = np.linalg.eigvalsh(np.stack([xx, xy, xz, xy, yy, yz, xz, yz, zz], axis=1).reshape(-1, 3, 3))
    solid = np.flatnonzero((mass[1:] > 0.0) & (moments[:, 0] > 1e-14 * moments[:, 2])) + 1
    M = np.zeros((len(solid), 6, 6))
    h = mass[solid, None] * com[solid]
    M[:, [0, 1, 2], [0, 1, 2]] = mass[solid, None]
    for row, column, k, sign in ((0, 4, 2, 1), (0, 5, 1, -1), (1, 3, 2, -1), (1, 5, 0, 1), (2, 3, 1, 1), (2, 4, 0, -1)):
        M[:, row, column] = M[:, column, row] = sign * h[:, k]  # −m r̃_c and its transpose
    M[:, 3:, 3:] = J[solid]
    out[solid] = np.linalg.inv(M)
    return out


def _merged(motions: Sequence[Motion]) -> list[Motion]:
    """Constant placements that follow each other, as one."""
    out: list[Motion] = []
    for m in motions:
        if m.placement is not None and out and out[-1].placement is not None:
            out[-1:] = fixed(out[-1].placement @ m.placement)
        else:
            out.append(m)
    return out


def _snap(x: float) -> float:
    """A cosine that is 0 or ±1 but for rounding is made exact: cos(π/2) should cost nothing when compiled."""
    nearest = round(x)
    return float(nearest) if abs(x - nearest) < 1e-15 else x
