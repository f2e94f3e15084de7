"""A model made ready for computing: integers and floats in arrays, the user's functions as expressions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..dialect.storage import allocate
from ..errors import known
from ..kernels.joint_stage import GIVEN, Joints, JointValues, joint_stage
from ..kernels.tree import Tree
from ..trace import Expression, Number
from .forces.table import ForceTable
from .joints.base import Motion, fixed
from .pose import Pose, Rotation

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
        self._cut = {model._joints[k].name for k in tree.closing}
        self.carrier = np.array([0, *(k + 1 for k in tree.carriers)], dtype=np.int64)
        self.gravity = np.array(model.gravity, dtype=float)
        self.kept: dict[Any, Any] = {}
        """What others have worked out about this structure, for as long as it lives."""
        self.drives: list[Expression] = []
        self.given: list[tuple[Expression, slice, slice, int]] = []
        self._n_given = 0
        base = [Motion(GIVEN, given=model._base)] if model._base is not None else []
        sequences = [base, *([*fixed(j.at), *self.motions_of(j), *fixed(j.child_at.inverse())] for j in self.placed)]
        self.joints = self._joints([_merged(motions) for motions in sequences], [False, *tree.reversed])
        self.first: np.ndarray = self.joints.first
        self.na = int(self.first[-1])
        self.nv = int(self.v_first[-1])
        self.nq = int(self.q_first[-1])
        self.coupled = self.na > self.nv
        self.tree = self._tree()
        self.parameters: dict[str, float] = model.parameters
        self.forces = ForceTable(self, model.forces)
        self.sizes = {
            "nb1": self.nb + 1, "nq": self.nq, "na": self.na, "nda": self.na, "nv": self.nv, "nl": 6 * self.nb - self.na,
            "nr": len(self.tree.geared), "nd": len(self.drives), "ng": self._n_given, "nf": self.nv if self.forces else 0,
            "ne": len(self.forces),
        }  # fmt: skip

    def where_is(self, joint: str) -> str:
        """Why a joint has no coordinates in the tree: the end of a sentence."""
        if joint in self._cut:
            return f"it closes a loop and is cut; to give it coordinates cut another joint, or split: model.split({joint!r})"
        return f"its joints are {known(self.joint_number)}"

    def motions_of(self, joint: PlacedJoint) -> list[Motion]:
        """The motions of a joint; where it follows another, with the leader's coordinate in place of its own."""
        if joint.follows is None:
            return joint.motions
        leader = self.placed[self.joint_number[joint.follows.leader]]
        drive = next((m.drive for m in leader.motions if m.drive is not None), None)
        out: list[Motion] = []
        for m in joint.motions:
            if m.nq:
                ratio, x = joint.follows.ratio, joint.follows.offset
                out += fixed(Pose((0.0, 0.0, m.slide * x), Rotation.about("z", m.turn * x)))
                out.append(Motion(m.kind, turn=m.turn * ratio, slide=m.slide * ratio, drive=drive, leader=drive is None))
            else:
                out.append(m)
        return out

    def _joints(self, sequences: Sequence[Sequence[Motion]], backwards: Sequence[bool]) -> Joints:
        start, first, q_first, v_first = [0], [0], [0], [0]
        rows: list[tuple[Any, ...]] = []
        led: dict[int, int] = {}  # row of a follower's motion -> its joint
        nq = nv = na = 0
        for i, motions in enumerate(sequences):
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
                axes = 1 if m.leader else m.nv
                if m.leader:
                    led[len(rows)] = i
                rows.append((m.kind, q_at, nv, data, axes, m.nq, pose.position, cosines, m.turn, m.slide))
                nq, nv, na = nq + m.nq, nv + m.nv, na + axes
            start.append(len(rows))
            first.append(na)
            q_first.append(nq)
            v_first.append(nv)
        columns = list(zip(*rows, strict=True)) or [()] * 10

        def integers(x: Sequence[int]) -> np.ndarray:
            return np.array(x, dtype=np.int64)

        self.q_first, self.v_first = integers(q_first), integers(v_first)
        self.motion_of: np.ndarray = np.repeat(np.arange(len(rows)), integers(columns[5]))
        """The motion every coordinate belongs to."""
        joints = Joints(
            start=integers(start), first=integers(first), reversed=integers(backwards),
            kind=integers(columns[0]), q_at=integers(columns[1]), v_at=integers(columns[2]),
            data_at=integers(columns[3]), axes=integers(columns[4]), coordinates=integers(columns[5]),
            rho=np.array(columns[6], dtype=float).reshape(-1, 3), G=np.array(columns[7], dtype=float).reshape(-1, 9),
            turn=np.array(columns[8], dtype=float), slide=np.array(columns[9], dtype=float),
        )  # fmt: skip
        for row, i in led.items():
            leader = self._leader(i)
            joints.q_at[row], joints.v_at[row] = q_first[leader], v_first[leader]
        return joints

    def _leader(self, i: int) -> int:
        """The row of the joint whose coordinate moves joint i, itself where it follows none."""
        follows = self.placed[i - 1].follows
        return i if follows is None else self.joint_number[follows.leader] + 1

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
        above = np.full(self.na, -1)
        last = np.full(self.nb + 1, -1)  # the axis nearest to body i on its path
        for i in range(1, self.nb + 1):
            last[i] = last[self.carrier[i]]
            for a in range(self.first[i], self.first[i + 1]):
                above[a], last[i] = last[i], a
        mobility = _mobilities(mass, com, J, [b.inertia for b in self.bodies])
        speed, rotor = self._speeds_and_rotors()
        geared = np.flatnonzero(rotor)
        return Tree(
            self.carrier, last_children(self.carrier), self.first, above, stretches(above), owner, speed, geared, rotor,
            mass, mass[:, None] * com, inertia, mobility, self.gravity,
        )  # fmt: skip

    def _speeds_and_rotors(self) -> tuple[np.ndarray, np.ndarray]:
        """For every axis the speed that moves it, and the inertia of its rotor per unit of that speed."""
        speed, rotor = np.zeros(self.na, dtype=np.int64), np.zeros(self.na)
        for i, joint in enumerate(self.placed, start=1):
            axes = slice(int(self.first[i]), int(self.first[i + 1]))
            n, leader = axes.stop - axes.start, self._leader(i)
            speed[axes] = self.v_first[leader] + np.arange(n)
            ratio = joint.follows.ratio if joint.follows else 1.0
            rotor[axes] = np.array(joint.type.per_speed("armature", n, f"joint {joint.name!r}")) * ratio**2
        return speed, rotor

    def joint_values(self, q: np.ndarray, v: np.ndarray, t: float) -> JointValues:
        """The joint stage, interpreted on floats."""
        drive, given = self.user_functions(q.tolist(), v.tolist(), float(t))
        out = allocate(JointValues, self.sizes)
        joint_stage(self.joints, np.array(drive).reshape(-1, 3), np.array(given), q, v, out)
        return out


def stretches(above: np.ndarray) -> np.ndarray:
    """For every axis the first of the unbroken row of numbers that ends with it: above[a] = a - 1 all along."""
    starts = np.flatnonzero(above != np.arange(-1, len(above) - 1)) if len(above) else np.zeros(0, dtype=np.int64)
    if len(above) and above[0] == -1 and (not len(starts) or starts[0] != 0):
        starts = np.concatenate([[0], starts])
    return starts[np.searchsorted(starts, np.arange(len(above)), side="right") - 1].astype(np.int64)


def last_children(carrier: np.ndarray) -> np.ndarray:
    """For every body the last of those it carries, 0 where it carries none."""
    out = np.zeros(len(carrier), dtype=np.int64)
    out[carrier[1:]] = np.arange(1, len(carrier))  # of several, the last one stays
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
    try:
        out[solid] = np.linalg.inv(M)
    except np.linalg.LinAlgError:  # a centre of mass so far away that its body has no inertia but for rounding
        for i, matrix in zip(solid, M, strict=True):
            if np.linalg.cond(matrix) < 1e15:
                out[i] = np.linalg.inv(matrix)
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
