"""The graph of a mechanism with all its joints: its incidence, the rectangular S, and A, Z and w* of cut joints too.

A cut joint has no coordinates in the tree: they are read off the poses and velocities of its two bodies.
"""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

import numpy as np

from ..errors import MethodError, known
from ..model.body import GROUND
from ..model.model import Model, PlacedJoint
from ..model.per_structure import per_structure
from ..model.pose import Pose, unchecked_rotation
from ..model.quaternions import quaternions_of
from .blocks import Matrix, assembled, block_diagonal, dense, transfer
from .joints import JointMatrices
from .kinematics import Kinematics, carried_acceleration, orthogonal_by_blocks


class CutJoint(NamedTuple):
    """A joint that closes a loop, as the papers write any joint: S_c v̇ = A_c q̈_c + w*_c."""

    q: np.ndarray  # angles but for whole turns
    v: np.ndarray
    A: np.ndarray  # (6, n_c)
    Z: np.ndarray  # (6, m_c)
    w_star: np.ndarray


class Graph(Kinematics):
    """Kinematics of all m joints: those of the tree, then those that close loops."""

    @cached_property
    def S_graph(self) -> Matrix:
        """S (6m×6N) of the whole graph, closing joints last: row j has E at the joint's body and −C_j at its carrier. [B] §2

        Square exactly where the graph is a tree.
        """
        blocks = self._S_blocks()
        for row, (carrier, body) in enumerate(self._closing_ends, start=self.N):
            blocks.append((row, body, np.eye(6)))
            if carrier >= 0:
                blocks.append((row, carrier, -transfer(*self._across(carrier, body))))
        return assembled(blocks, [6] * (self.N + len(self._closing_ends)), [6] * self.N, self.sparse)

    @property
    def incidence(self) -> np.ndarray:
        """I (N+1 × m): −1 where joint j leaves its carrier, +1 where it enters its body.

        Row 0 is the base; columns are the joints of the tree, then the closing ones. [B] §1 counts the other way round
        (see the errata); with this sign S_ji = I_ij E at the body and −C_j at the carrier.
        """
        ends = [*((k, j) for j, k in enumerate(self.k)), *self._closing_ends]
        out = np.zeros((self.N + 1, len(ends)), dtype=int)
        for j, (carrier, body) in enumerate(ends):
            out[carrier + 1, j], out[body + 1, j] = -1, 1
        return out

    @cached_property
    def A_graph(self) -> Matrix:
        """A (6m×(n+Σn_c)) of all joints, closing ones last. [B] §1"""
        return block_diagonal([self.A, *(joint.A for joint in self.cut_joints)], self.sparse)

    @cached_property
    def Z_graph(self) -> Matrix:
        """Z (6m×Σm_i) of all joints, closing ones last. [B] §1"""
        return block_diagonal([*self.Z_blocks, *(joint.Z for joint in self.cut_joints)], self.sparse)

    @cached_property
    def w_star_graph(self) -> np.ndarray:
        """w* (6m) of all joints, closing ones last: S v̇ = A q̈ + w*. [B] §2"""
        return np.concatenate([self.w_star, *(joint.w_star for joint in self.cut_joints)])

    @cached_property
    def K(self) -> np.ndarray:
        """K (Σm_c×n) = Z_cᵀS_cB: what cut joints forbid, in the speeds of the tree; K q̈ = γ_c."""
        return dense(self._forbidden @ self.B)

    @cached_property
    def gamma_c(self) -> np.ndarray:
        """γ_c (Σm_c) = Z_cᵀ(w*_c − S_cψ)."""
        parts = [joint.Z.T @ joint.w_star for joint in self.cut_joints]
        return np.concatenate([np.zeros(0), *parts]) - self._forbidden @ self.psi

    @property
    def _forbidden(self) -> Matrix:
        """Z_cᵀS_c of the cut joints."""
        return block_diagonal([joint.Z.T for joint in self.cut_joints], self.sparse) @ self.S_graph[6 * self.N :]

    @cached_property
    def cut_joints(self) -> list[CutJoint]:
        """The joints that close loops, in their order among the user's joints."""
        flexible = {body.name for body in self.structure.bodies if body.flexible is not None}
        for joint in self.closing_joints:
            if held := flexible.intersection((joint.parent, joint.child)):
                raise MethodError(
                    f"joint {joint.name!r} is cut and holds the flexible body {known(held)}, whose place there moves with its "
                    "deformation: S has no such row; read J and gamma, the rows of the constraint"
                )
        ends = zip(self.closing_joints, _between_two(self.model), self._closing_ends, strict=True)
        return [self._cut_joint(joint, alone, carrier, body) for joint, alone, (carrier, body) in ends]

    def _cut_joint(self, joint: PlacedJoint, alone: JointMatrices, carrier: int, body: int) -> CutJoint:
        G, rho = self._across(carrier, body)
        C, velocities = transfer(G, rho), self.v.reshape(-1, 6)
        u, du = (self.base_velocity, self.base_acceleration) if carrier < 0 else (velocities[carrier], np.zeros(6))
        q = self._measured(joint)
        rest = alone.at(q, np.zeros(len(joint.v_names)), self.t)
        A = rest.A.T
        v = np.linalg.lstsq(A, velocities[body] - C @ u - rest.v_r[1], rcond=None)[0]
        moving = alone.at(q, v, self.t)
        w_c = carried_acceleration(u[3:], rho, G, moving.v_r[1])
        return CutJoint(q, v, A, orthogonal_by_blocks(A), moving.psi_r[1] + w_c + C @ du)

    def _measured(self, joint: PlacedJoint) -> np.ndarray:
        """Coordinates of a cut joint, from the poses of its two frames."""
        number, (R, r) = self.structure.body_number, self.poses
        place = {GROUND: self.base_pose} | {name: (R[i], r[i]) for name, i in number.items()}
        frames = []
        for name, at in ((joint.parent, joint.at), (joint.child, joint.child_at)):
            turn, position = place[name]
            frames.append((turn @ np.reshape(at.rotation.entries, (3, 3)), position + turn @ np.array(at.position)))
        (R1, r1), (R2, r2) = frames
        position, turn = R1.T @ (r2 - r1), R1.T @ R2
        names = joint.q_names
        if not names or not joint.type.quaternions():
            pose = Pose(position.tolist(), unchecked_rotation(turn.ravel().tolist()))
            return np.array(joint.type.measured(pose, joint.name) if names else [], dtype=float)
        return np.concatenate([position, quaternions_of(turn)])[-len(names) :]

    def _across(self, carrier: int, body: int) -> tuple[np.ndarray, np.ndarray]:
        """G and ρ of a body seen from any other, or from the base (−1)."""
        R, r = self.poses
        Rk, rk = (R[carrier], r[carrier]) if carrier >= 0 else self.base_pose
        return R[body].T @ Rk, Rk.T @ (r[body] - rk)

    @cached_property
    def _closing_ends(self) -> list[tuple[int, int]]:
        """Carrier and body of every closing joint, as the user named them; the base (−1) is always the carrier."""
        number = self.structure.body_number
        ends = [(number.get(joint.parent, -1), number.get(joint.child, -1)) for joint in self.closing_joints]
        return [(parent, child) if child >= 0 else (child, parent) for parent, child in ends]


@per_structure
def _between_two(model: Model) -> list[JointMatrices]:
    """Every closing joint in a model of its own, between the ground and one body, where it has coordinates."""
    out = []
    for joint in model.closing_joints:
        parent, child = (GROUND, joint.child) if joint.child != GROUND else (joint.parent, GROUND)
        alone = Model(joint.name)
        alone.add_body(child if child != GROUND else parent)
        alone.add_joint(joint.name, joint.type, parent, child, joint.at, joint.child_at)
        out.append(JointMatrices(alone))
    return out
