"""The papers' matrices of one model in one state, under the papers' names: the oracle everything is tested against."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from ..model.model import Model
from ..model.states import check_model, check_wrenches
from ..types import truth
from .blocks import Matrix, assembled, block_diagonal, dense, skew, transfer
from .flexible import DeformedBody, deformed_body
from .kinematics import Kinematics


def matrices(
    model: Model,
    q: Sequence[float] | Mapping[str, Any] | None = None,
    v: Sequence[float] | Mapping[str, Any] | None = None,
    t: float = 0.0,
    wrenches: Any = None,
    sparse: bool = False,
    parameters: Mapping[str, float] | None = None,
) -> Matrices:
    """Everything the papers write about a model in one state, with these values of its parameters.

    `sparse=True` gives the large matrices (S, T, A, Z, B, M, L, extended) as SciPy sparse arrays.
    """
    return Matrices(check_model(model, "matrices"), q, v, t, wrenches, truth(sparse, "sparse"), parameters)


class Matrices(Kinematics):
    """Structure matrices of a tree of N bodies with n freedoms. Equation numbers are those of docs/theory and of [I].

    Motions and forces are (linear; angular) in body axes, at body origins. Body i of the papers is index i − 1 here.
    Everything is computed when it is first read.
    """

    def __init__(
        self,
        model: Model,
        q: Any,
        v: Any,
        t: float,
        wrenches: Any,
        sparse: bool,
        parameters: Mapping[str, float] | None = None,
    ) -> None:
        super().__init__(model, q, v, t, sparse, parameters)
        self._prescribed = check_wrenches(model, wrenches)

    def __repr__(self) -> str:
        return f"Matrices({self.model.name!r}, t={self.t:g}: {self.N} bodies, {self.n} freedoms)"

    # --- forces -----------------------------------------------------------------------------------------------------------
    @cached_property
    def _forces(self) -> tuple[np.ndarray, np.ndarray]:
        """Loads of the model's own forces on bodies (N×6) and joints (n)."""
        if not self.structure.forces:
            return np.zeros((self.N, 6)), np.zeros(self.n)
        wrenches, load = self.structure.forces.dense(self.motion, self.N + 1, self.n)
        return wrenches[1:], load

    @property
    def motion(self) -> dict[str, np.ndarray]:
        """Quantities that forces and constraints read: time, coordinates, speeds, poses and velocities; row 0 is the base."""
        R, r = self.poses
        return {
            "t": np.array([self.t]), "q": self.q, "v": self.v_q,
            "r": np.vstack([self.base_pose[1], r]),
            "G": np.vstack([self._joint.G[:1].reshape(1, 9), R.transpose(0, 2, 1).reshape(-1, 9)]),
            "velocity": np.vstack([self.base_velocity, self.v.reshape(-1, 6)]),
        }  # fmt: skip

    @property
    def wrenches(self) -> np.ndarray:
        """Wrenches given by the caller and those of the model's own forces (N×6)."""
        return self._prescribed + self._forces[0]

    @property
    def load(self) -> np.ndarray:
        """Joint forces of the model's own force elements, and loads of motion and weight on elastic coordinates (n)."""
        out = self._forces[1].copy()
        for i, body in self.deformed.items():
            weight = self.poses[0][i].T @ self.structure.gravity
            out[self.elastic(i)] += body.Q + body.P[:3].T @ weight
        return out

    @cached_property
    def rotors(self) -> np.ndarray:
        """D (n): inertias of the rotors as the speeds feel them; AᵀR = τ − D q̈."""
        return np.bincount(self.structure.tree.speed, self.structure.tree.rotor, self.n)

    # --- flexible bodies --------------------------------------------------------------------------------------------------
    @cached_property
    def deformed(self) -> dict[int, DeformedBody]:
        """Contributions of deformations to their flexible bodies, by the index of the deformation."""
        s, out = self.structure, {}
        for d in s.deformations.values():
            e, rates = self.q[s.q_slice(d.row)], self.v_q[s.v_slice(d.row)]
            out[d.row - 1] = deformed_body(d, e, rates, self.v.reshape(-1, 6)[d.row - 1, 3:])
        return out

    def elastic(self, i: int) -> slice:
        """The elastic speeds of deformation i among those in v."""
        return self.structure.v_slice(i + 1)

    @cached_property
    def P(self) -> Matrix:
        """P (6N×n): momenta of the bodies per unit of the elastic speeds; zero for rigid ones. theory (F7)"""
        blocks = {i: np.zeros((6, self.n)) for i in self.deformed}
        for i, body in self.deformed.items():
            blocks[i][:, self.elastic(i)] = body.P
        return assembled([(i, 0, block) for i, block in blocks.items()], [6] * self.N, [self.n], self.sparse)

    @cached_property
    def D(self) -> Matrix:
        """D (n×n): rotors on the diagonal, mass matrices of elastic coordinates; AᵀR + Pᵀv̇ + D q̈ = τ."""
        sizes = [1] * self.n
        blocks = [(a, a, np.array([[x]])) for a, x in enumerate(self.rotors) if x]
        for i, body in self.deformed.items():
            first = self.elastic(i).start
            blocks += [(first + a, first + b, body.E[a : a + 1, b : b + 1]) for a, b in np.ndindex(body.E.shape)]
        return assembled(blocks, sizes, sizes, self.sparse)

    @property
    def rotor_blocks(self) -> list[np.ndarray]:
        """D_i (n_i): rotors of the axes of joint i."""
        return [self.structure.tree.rotor[self.axes(i)] for i in range(self.N)]

    # --- the graph --------------------------------------------------------------------------------------------------------
    @cached_property
    def S_graph(self) -> Matrix:
        """S (6m×6N) of the whole graph, closing joints last: row j has E at the joint's body and −C_j at its carrier. [B] §2

        Square exactly where the graph is a tree.
        """
        blocks, (R, r) = self._S_blocks(), self.poses
        for row, (carrier, body) in enumerate(self._closing_ends, start=self.N):
            blocks.append((row, body, np.eye(6)))
            if carrier >= 0:
                blocks.append((row, carrier, -transfer(R[body].T @ R[carrier], R[carrier].T @ (r[body] - r[carrier]))))
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
    def _closing_ends(self) -> list[tuple[int, int]]:
        """Carrier and body of every closing joint, as the user named them; the base (−1) is always the carrier."""
        number = self.structure.body_number
        ends = [(number.get(joint.parent, -1), number.get(joint.child, -1)) for joint in self.closing_joints]
        return [(parent, child) if child >= 0 else (child, parent) for parent, child in ends]

    # --- dynamics ---------------------------------------------------------------------------------------------------------
    @cached_property
    def M_blocks(self) -> list[np.ndarray]:
        """M_i (6×6) = [mE −m r̃_c; m r̃_c J_O]. [I] (3.3)"""
        out = [body.mass_matrix() for body in self.structure.bodies]
        for i, body in self.deformed.items():
            out[i] = out[i] + body.M
        return out

    @cached_property
    def M(self) -> Matrix:
        """M (6N×6N): block diagonal of the masses. [I] (3.6)"""
        return block_diagonal(self.M_blocks, self.sparse)

    @cached_property
    def F_external(self) -> np.ndarray:
        """External wrenches (6N): gravity and `wrenches`, without gyroscopic terms."""
        s, R = self.structure, self.poses[0]
        out = np.zeros((self.N, 6))
        for i in range(self.N):
            weight = s.bodies[i].mass * (R[i].T @ s.gravity)
            out[i] = np.concatenate([weight, np.cross(s.bodies[i].com, weight)])
            if i in self.deformed:
                out[i, 3:] += np.cross(self.deformed[i].moment, R[i].T @ s.gravity)
        return (out + self.wrenches).ravel()

    @cached_property
    def F(self) -> np.ndarray:
        """F (6N) = (f − mω̃²r_c ; m_O − ω̃J_Oω). [I] (3.3)"""
        out = self.F_external.reshape(-1, 6).copy()
        for i, (body, v) in enumerate(zip(self.structure.bodies, self.v.reshape(-1, 6), strict=True)):
            W = skew(v[3:])
            out[i, :3] -= body.mass * W @ W @ body.com
            out[i, 3:] -= W @ body.inertia_at_origin() @ v[3:]
        for i, deformed in self.deformed.items():
            out[i] += deformed.F
        return out.ravel()

    @cached_property
    def L(self) -> Matrix:
        """L ((6N−n)²) = ZᵀSM⁻¹SᵀZ: the matrix of the multipliers. [I] (3.10)"""
        ZS = self.Z.T @ self.S
        return ZS @ self.M_inverse @ ZS.T

    @cached_property
    def M_inverse(self) -> Matrix:
        """M⁻¹ (6N×6N), block by block; every body must have mass and inertia."""
        from .lagrange1 import invert_masses

        return block_diagonal(invert_masses(self), self.sparse)

    @cached_property
    def M_r(self) -> np.ndarray:
        """M_r (n×n) = BᵀMB: the inertia matrix in generalised coordinates. [I] (3.12)"""
        elastic = dense(self.B.T @ self.P) if self.deformed else np.zeros((self.n, self.n))
        return dense(self.B.T @ self.M @ self.B) + elastic + elastic.T + dense(self.D)

    @cached_property
    def Q(self) -> np.ndarray:
        """Q (n) = Bᵀ(F − Mψ): generalised forces, joint forces τ not included. [I] (3.12)"""
        return self.B.T @ (self.F - self.M @ self.psi) - self.P.T @ self.psi

    def inertial_forces(self, vdot: np.ndarray, qdd: np.ndarray) -> np.ndarray:
        """Mv̇ + Pq̈ − F (6N): the forces that the joints must provide."""
        out: np.ndarray = self.M @ vdot.ravel() + self.P @ qdd - self.F
        return out

    @cached_property
    def extended(self) -> Matrix:
        """The matrix of the extended system (12N+n): [M −Sᵀ P; −S 0 A; Pᵀ Aᵀ D], symmetric; D: rotors; P and the rest
        of D: flexible bodies. [I] (3.6), theory (F9)"""
        if self.sparse:
            from scipy import sparse as sp

            rows = [[self.M, -self.S.T, self.P], [-self.S, None, self.A], [self.P.T, self.A.T, self.D]]
            return sp.block_array(rows, format="csc")
        N6, P = 6 * self.N, dense(self.P)
        return np.block([[self.M, -self.S.T, P], [-self.S, np.zeros((N6, N6)), self.A], [P.T, self.A.T, dense(self.D)]])
