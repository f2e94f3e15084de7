"""The joints of a model in one state: ρ, G, A, Ȧ, v^r, ψ^r of every joint from the matrices of its motions.

A joint is a product of 4×4 matrices, H = H_at H_1 … H_m H_child⁻¹, one per motion; everything the forms need is read from
H, Ḣ, Ḧ and ∂Ḣ/∂q̇. Joint types are restated from their definitions (`motions.py`) and differentiated by Leibniz's
rule: the oracle shares neither code nor formulas with the joint stage of the kernels.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..model.model import Model, PlacedJoint
from ..model.pose import Pose
from ..model.structure import Structure
from .jets import carried_by, carried_on, column, identities, inverse, inverse_column, inverse_jet, jet, product, vee
from .motions import AxisMotion, General, MotionPart, PlaceMotion, PoseMotion, about_axes, matrix_of, parts, with_parameters


@dataclass(frozen=True)
class JointMotions:
    """Kinematic quantities of all joints in one state. Row 0 is the base in the world."""

    rho: np.ndarray
    G: np.ndarray
    A: np.ndarray
    """(na, 6): the columns of A, one per row."""
    A_rate: np.ndarray
    v_r: np.ndarray
    psi_r: np.ndarray
    q_rate: np.ndarray
    q_second: np.ndarray
    """Second derivatives of the coordinates at constant speeds."""
    q_slopes: list[tuple[slice, slice, np.ndarray]]
    """∂q̇/∂v in blocks (coordinates, speeds, block) where coordinates have no speed each."""


class _GeneralPart(NamedTuple):
    number: int
    motion: General
    q: slice
    v: slice
    axes: slice


class _AxisPart(NamedTuple):
    """One turn or shift: its number, where its coordinate, speed and axis are (−1 where it is driven), and its coupling."""

    number: int
    motion: AxisMotion
    q_at: int
    v_at: int
    axis_at: int
    ratio: float = 1.0
    offset: float = 0.0


class JointMatrices:
    """The joints of a model as products of motions, listed once; `at` evaluates all of them in a state."""

    def __init__(self, model: Model) -> None:
        s = model.structure
        self._parameters = s.parameters
        self._n, self._na, self._nq, self._nv = s.nb + 1, s.na, s.nq, s.nv
        self._owner = np.repeat(np.arange(self._n), np.diff(s.first))
        self._level = np.zeros(s.na, dtype=int)
        """For every axis, the number of its motion within the joint."""
        self._levels: list[list[tuple[int, int]]] = []
        """(joint, number of the motion) of all joints that have a first, a second … motion."""
        self._placements: list[tuple[int, np.ndarray]] = []
        self._general: list[_GeneralPart] = []
        self._axis_parts: list[_AxisPart] = []
        self._count = 0
        self._parts_of_type: dict[int, list[MotionPart]] = {}
        for i, joint in enumerate(s.placed, start=1):
            self._list_joint(s, i, joint)
        if s.base is not None:
            self._levels = self._levels or [[]]
            self._levels[0].append((0, self._count))
            base = PoseMotion(s.base).with_parameters(self._parameters)
            self._general.append(_GeneralPart(self._count, base, slice(0), slice(0), slice(0)))
            self._count += 1
        self._at = np.array([np.eye(4), *(matrix_of(j.at) for j in s.placed)])
        self._child_back = inverse(np.array([np.eye(4), *(matrix_of(j.child_at) for j in s.placed)]))
        self._reversed = np.array([False, *model.tree.reversed])
        for i in s.held_by:  # the place where it hangs moves, and is a motion of the joint
            (self._child_back if self._reversed[i] else self._at)[i] = np.eye(4)
        self._pack_axes()

    def at(self, q: np.ndarray, v: np.ndarray, t: float) -> JointMotions:
        q_rate, q_second, q_slopes = np.zeros(self._nq), np.zeros(self._nq), []
        jets, columns = identities(self._count), np.zeros((self._na, 2, 4, 4))
        for number, H in self._placements:
            jets[number, 0] = H
        for part in self._general:
            found = part.motion(q[part.q], v[part.v], t)
            jets[part.number], columns[part.axes] = found.jet, found.columns
            q_rate[part.q], q_second[part.q] = found.q_rate, found.q_second
            q_slopes.append((part.q, part.v, found.q_slopes.T))
        self._turn_and_shift(q, v, t, jets, columns, q_rate)
        X, columns = self._multiplied(jets, columns)
        rho, G, A, A_rate, v_r, psi_r = self._read(X, columns)
        return JointMotions(rho, G, A, A_rate, v_r, psi_r, q_rate, q_second, q_slopes)

    def rate_matrix(self, motions: JointMotions) -> np.ndarray:
        """N (nq×n) of q̇ = N v.                                                                                          (J8)"""
        N = np.zeros((self._nq, self._nv))
        N[self._q_at[self._free], self._v_at[self._free]] = 1.0
        for q, v, block in motions.q_slopes:
            N[q, v] = block
        return N

    # --- listing the motions ----------------------------------------------------------------------------------------------
    def _parts(self, joint: PlacedJoint) -> list[MotionPart]:
        key = id(joint.type)
        if key not in self._parts_of_type:
            found = parts(joint.type, f"joint {joint.name!r}")
            self._parts_of_type[key] = [with_parameters(part, self._parameters) for part in found]
        return self._parts_of_type[key]

    def _list_joint(self, s: Structure, i: int, joint: PlacedJoint) -> None:
        q_at, v_at, axis_at = int(s.q_first[i]), int(s.v_first[i]), int(s.first[i])
        all_parts = self._parts(joint)
        if (held := s.held_by.get(i)) is not None:
            back = s.reversed[i - 1]
            place = PlaceMotion(held.shapes, joint.child_at if back else joint.at, back)
            all_parts = [*all_parts, place] if back else [place, *all_parts]
        for level, part in enumerate(all_parts):
            if level == len(self._levels):
                self._levels.append([])
            self._levels[level].append((i, self._count))
            nq, nv, axes = 0, 0, 0
            if isinstance(part, Pose):
                self._placements.append((self._count, matrix_of(part)))
            elif isinstance(part, PlaceMotion):
                assert held is not None
                axes = part.nv
                places = s.q_slice(held.row), s.v_slice(held.row), slice(axis_at, axis_at + axes)
                self._general.append(_GeneralPart(self._count, part, *places))
            elif isinstance(part, AxisMotion) and joint.follows is not None and part.drive is None:
                axes = self._list_follower(s, joint, part, axis_at)
            elif isinstance(part, AxisMotion):
                nq = nv = axes = int(part.drive is None)
                where = (q_at, v_at, axis_at) if axes else (-1, -1, -1)
                self._axis_parts.append(_AxisPart(self._count, part, *where))
            else:
                nq, nv, axes = part.nq, part.nv, part.nv
                places = slice(q_at, q_at + nq), slice(v_at, v_at + nv), slice(axis_at, axis_at + nv)
                self._general.append(_GeneralPart(self._count, part, *places))
            self._level[axis_at : axis_at + axes] = level
            q_at, v_at, axis_at, self._count = q_at + nq, v_at + nv, axis_at + axes, self._count + 1

    def _list_follower(self, s: Structure, joint: PlacedJoint, part: AxisMotion, axis_at: int) -> int:
        """A coordinate that is ratio·x + offset of another joint's x; returns how many axes it has: none where x is driven."""
        coupling = joint.follows
        assert coupling is not None
        leader = s.joint_number[coupling.leader]
        drive = next((p.drive for p in self._parts(s.placed[leader]) if isinstance(p, AxisMotion) and p.drive), None)
        where = (int(s.q_first[leader + 1]), int(s.v_first[leader + 1]), axis_at) if drive is None else (-1, -1, -1)
        self._axis_parts.append(_AxisPart(self._count, part._replace(drive=drive), *where, coupling.ratio, coupling.offset))
        return int(drive is None)

    def _pack_axes(self) -> None:
        """The turns and shifts of all joints as arrays."""
        rows = self._axis_parts
        self._number = np.array([r.number for r in rows], dtype=int)
        self._q_at, self._v_at, self._axis_at = (
            np.array([r[k] for r in rows], dtype=int) for k in (_AxisPart._fields.index(f) for f in ("q_at", "v_at", "axis_at"))
        )
        self._free = self._q_at >= 0
        self._ratio, self._offset = np.array([r.ratio for r in rows]), np.array([r.offset for r in rows])
        self._axis = np.array([r.motion.axis for r in rows], dtype=float).reshape(-1, 3)
        self._turn = np.array([r.motion.turn for r in rows], dtype=float)
        self._slide = np.array([r.motion.slide for r in rows], dtype=float)
        self._twist = np.concatenate([self._slide[:, None] * self._axis, self._turn[:, None] * self._axis], axis=1)
        self._driven = [(k, r.motion.drive) for k, r in enumerate(rows) if r.motion.drive is not None]

    # --- evaluating them --------------------------------------------------------------------------------------------------
    def _turn_and_shift(
        self, q: np.ndarray, v: np.ndarray, t: float, jets: np.ndarray, columns: np.ndarray, q_rate: np.ndarray
    ) -> None:
        if not len(self._number):
            return
        free = self._free
        x = np.zeros((3, len(self._number)))
        x[0, free], x[1, free] = q[self._q_at[free]], v[self._v_at[free]]
        q_rate[self._q_at[free]] = x[1, free]
        for k, drive in self._driven:
            x[:, k] = drive(float(t))
        x *= self._ratio
        x[0] += self._offset
        H = about_axes(self._axis, self._turn, self._slide, x[0])
        V = self._twist * x[1][:, None]
        jets[self._number] = jet(H, V, self._twist * x[2][:, None])
        per_speed = (self._twist * self._ratio[:, None])[free]
        columns[self._axis_at[free]] = column(H[free], V[free], per_speed, np.zeros_like(per_speed))

    def _multiplied(self, jets: np.ndarray, columns: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Motions multiplied to joints: the first of all joints, then the second of those that have one …"""
        X = identities(self._n)
        for level, pairs in enumerate(self._levels):
            joints, numbers = np.array(pairs).T
            next_of = np.full(self._n, -1)
            next_of[joints] = numbers
            earlier = (self._level < level) & (next_of[self._owner] >= 0)
            columns[earlier] = carried_on(columns[earlier], jets[next_of[self._owner[earlier]]])
            own = self._level == level
            if level:
                columns[own] = carried_by(X[self._owner[own]], columns[own])
            X[joints] = product(X[joints], jets[numbers]) if level else jets[numbers]
        X = self._at[:, None] @ X @ self._child_back[:, None]
        columns = self._at[self._owner, None] @ columns @ self._child_back[self._owner, None]
        back = self._reversed
        back_axes = back[self._owner]
        columns[back_axes] = inverse_column(X[self._owner[back_axes]], columns[back_axes])
        X[back] = inverse_jet(X[back])
        return X, columns

    def _read(self, X: np.ndarray, columns: np.ndarray) -> tuple[np.ndarray, ...]:
        """ρ, G, A, Ȧ, v^r = (Rᵀṗ; RᵀṘ), ψ^r = (Rᵀp̈; RᵀR̈), components in body axes, the rotational ones by their vectors."""
        G = X[:, 0, :3, :3].transpose(0, 2, 1)
        back, back_rate = _lifted(G), _lifted(X[:, 1, :3, :3].transpose(0, 2, 1))
        D, D_rate = columns[:, 0], columns[:, 1]
        A_rate = vee(back_rate[self._owner] @ D + back[self._owner] @ D_rate)
        return X[:, 0, :3, 3], G, vee(back[self._owner] @ D), A_rate, vee(back @ X[:, 1]), vee(back @ X[:, 2])


def _lifted(G: np.ndarray) -> np.ndarray:
    """(n, 4, 4): takes the first three rows of a matrix into body axes."""
    out = np.zeros((len(G), 4, 4))
    out[:, :3, :3] = G
    return out
