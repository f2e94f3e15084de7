"""The papers' kinematic matrices of a tree in one state: S, T, A, Z, B and the velocities and accelerations they carry."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any

import numpy as np

from ..errors import MethodError
from ..model.model import Model
from ..model.per_structure import per_structure
from ..model.states import check_state
from ..model.substitution import numeric
from ..model.topology import children, path
from .blocks import Matrix, assembled, block_diagonal, dense, transfer
from .joints import JointMatrices, JointMotions


class Kinematics:
    """How the bodies of a tree move. Everything is computed when it is first read, and then cached."""

    def __init__(
        self, model: Model, q: Any, v: Any, t: float, sparse: bool, parameters: Mapping[str, float] | None = None
    ) -> None:
        self.model = model = numeric(model, parameters)
        self.structure = s = model.structure
        self.q, self.v_q, self.t = check_state(model, q, v, t)
        self.sparse = sparse
        self.N, self.n, self.k = s.nb, s.nv, model.parents
        self.closing_joints = model.closing_joints
        self._joints = _joints(model)
        self._joint = self._joints.at(self.q, self.v_q, self.t)

    @cached_property
    def _at_rest(self) -> JointMotions:
        return self._joints.at(self.q, np.zeros(self.n), self.t)

    # --- one joint --------------------------------------------------------------------------------------------------------
    @property
    def rho(self) -> np.ndarray:
        """ρ_i (N×3): origin of body i in its carrier's axes. [I] (2.2)"""
        return self._joint.rho[1:]

    @property
    def G(self) -> np.ndarray:
        """G_i (N×3×3): direction cosines, carrier → body. [I] (2.2)"""
        return self._joint.G[1:]

    @cached_property
    def A_blocks(self) -> list[np.ndarray]:
        """A_i (6×n_i): tangent basis, v^r = A_i q̇_i + φ^r. [I] (2.5)"""
        return [self._joint.A[self.axes(i)].T for i in range(self.N)]

    @cached_property
    def A_rates(self) -> list[np.ndarray]:
        """Ȧ_i (6×n_i): d/dt of the tangent basis in body axes."""
        return [self._joint.A_rate[self.axes(i)].T for i in range(self.N)]

    @cached_property
    def Z_blocks(self) -> list[np.ndarray]:
        """Z_i (6×m_i): orthogonal basis, by blocks. [I] §2.1, theory (J7)"""
        return [orthogonal_by_blocks(A) for A in self.A_blocks]

    @cached_property
    def Z_projected(self) -> list[np.ndarray]:
        """Z_i (6×m_i): orthogonal basis, by the projector. [I] §2.1, theory (J6)"""
        return [orthogonal_by_projector(A) for A in self.A_blocks]

    @property
    def v_r(self) -> np.ndarray:
        """v^r (6N): relative velocities. [I] (2.5)"""
        return self._joint.v_r[1:].ravel()

    @property
    def phi_r(self) -> np.ndarray:
        """φ^r (6N): the part of v^r due to time alone. [I] (2.5)"""
        return self._at_rest.v_r[1:].ravel()

    @property
    def psi_r(self) -> np.ndarray:
        """ψ^r (6N): the part of the relative accelerations free of q̈. [I] (2.6)"""
        return self._joint.psi_r[1:].ravel()

    @property
    def q_rate(self) -> np.ndarray:
        """q̇ (n_q): rates of the coordinates; equal to the speeds but for quaternions. theory (J8)"""
        return self._joint.q_rate

    @property
    def coordinate_rates(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """q̇ (n_q), q̈ at constant speeds (n_q), and N (n_q×n) of q̇ = N v. theory (J8)"""
        return self._joint.q_rate, self._joint.q_second, self._joints.rate_matrix(self._joint)

    # --- the base -----------------------------------------------------------------------------------------------------------
    @property
    def base_pose(self) -> tuple[np.ndarray, np.ndarray]:
        """Rotation (3×3, base → world) and position (3) of the base."""
        return self._joint.G[0].T, self._joint.rho[0]

    @property
    def base_velocity(self) -> np.ndarray:
        """v_0 (6): prescribed velocity of the base, in its own axes."""
        return self._joint.v_r[0]

    @property
    def base_acceleration(self) -> np.ndarray:
        """v̇_0 (6): prescribed acceleration of the base, in its own axes."""
        return self._joint.psi_r[0]

    def from_base(self, x: np.ndarray) -> np.ndarray:
        """C_i x for the bodies on the base, zero for all others."""
        out = np.zeros((self.N, 6))
        on_base = np.array(self.k) < 0
        out[on_base] = self.C[on_base] @ x
        return out.ravel()

    # --- the whole system -----------------------------------------------------------------------------------------------------
    @cached_property
    def C(self) -> np.ndarray:
        """C_i (N×6×6): transfer of velocities from carrier to body. [I] (2.13)"""
        return np.array([transfer(G, rho) for G, rho in zip(self.G, self.rho, strict=True)])

    @cached_property
    def S(self) -> Matrix:
        """S (6N×6N): kinematic structure matrix, S v = v^r. [I] (2.15)"""
        return assembled(self._S_blocks(), [6] * self.N, [6] * self.N, self.sparse)

    def _S_blocks(self) -> list[tuple[int, int, np.ndarray]]:
        blocks = [(i, i, np.eye(6)) for i in range(self.N)]
        return blocks + [(i, k, -self.C[i]) for i, k in enumerate(self.k) if k >= 0]

    @cached_property
    def T(self) -> Matrix:
        """T (6N×6N) = S⁻¹: T_ij = C_i T_kj on the path, unit lower block triangular. [I] (2.18)"""
        blocks: dict[tuple[int, int], np.ndarray] = {}
        for i in range(self.N):
            for j in path(self.k, i)[:-1]:
                blocks[i, j] = self.C[i] @ blocks[self.k[i], j]
            blocks[i, i] = np.eye(6)
        return assembled([(i, j, b) for (i, j), b in blocks.items()], [6] * self.N, [6] * self.N, self.sparse)

    def outward(self, x: np.ndarray) -> np.ndarray:
        """T x (6N) without T, from the base to the leaves: y_i = C_i y_k + x_i."""
        y = x.reshape(-1, 6).copy()
        for i, k in enumerate(self.k):
            if k >= 0:
                y[i] += self.C[i] @ y[k]
        return y.ravel()

    def inward(self, x: np.ndarray) -> np.ndarray:
        """Tᵀx (6N) without T, from the leaves to the base: y_k = x_k + Σ C_iᵀ y_i over the children i."""
        y = x.reshape(-1, 6).copy()
        for i in range(self.N - 1, -1, -1):
            if self.k[i] >= 0:
                y[self.k[i]] += self.C[i].T @ y[i]
        return y.ravel()

    @cached_property
    def A(self) -> Matrix:
        """A (6N×n): block diagonal of the tangent bases; columns of axes that move with one speed added up. [I] (2.19)"""
        A = block_diagonal(self.A_blocks, self.sparse)
        return A @ self._fold if self.structure.coupled else A

    @property
    def _fold(self) -> Matrix:
        """(axes × n): which speed moves which axis."""
        s = self.structure
        ones = [(i, k, np.ones((1, 1))) for i, k in enumerate(s.tree.speed)]
        return assembled(ones, [1] * s.na, [1] * s.nv, self.sparse)

    def folded(self, M: np.ndarray) -> np.ndarray:
        """A matrix of axes (na×na) as one of speeds (n×n)."""
        return dense(self._fold.T @ M @ self._fold) if self.structure.coupled else M

    def needs_axes(self, form: str) -> None:
        """Refuse a form that works joint by joint where joints share speeds."""
        if self.structure.coupled:
            flexible = [f"body {body.name!r} is flexible" for body in self.structure.bodies if body.flexible is not None]
            follows = [f"joint {joint.name!r} follows another" for joint in self.model.joints if joint.follows]
            why = [*flexible, *follows, "joints share speeds"][0]
            raise MethodError(
                f"the form {form!r} works joint by joint, but {why}: coupled coordinates need 'extended' or 'composite'"
            )

    @cached_property
    def Z(self) -> Matrix:
        """Z (6N×(6N−n)): block diagonal of the orthogonal bases. [I] (3.7)"""
        return block_diagonal(self.Z_blocks, self.sparse)

    @cached_property
    def B(self) -> Matrix:
        """B (6N×n) = TA: tangent basis of the system, v = B q̇ + φ. [I] (2.21)"""
        return self.T @ self.A

    @cached_property
    def v(self) -> np.ndarray:
        """v (6N): absolute velocities, v = T(v^r + C_0 v_0). [I] (2.16)"""
        return self.outward(self.v_r + self.from_base(self.base_velocity))

    @cached_property
    def phi(self) -> np.ndarray:
        """φ (6N): the part of v due to time alone. [I] (2.21)"""
        return self.outward(self.phi_r + self.from_base(self.base_velocity))

    @cached_property
    def w_c(self) -> np.ndarray:
        """w^c (6N): centripetal and Coriolis accelerations of the transfer. [I] (2.14)"""
        spins = np.vstack([self.v.reshape(-1, 6)[:, 3:], self.base_velocity[3:]])  # row −1: the base
        return carried_acceleration(spins[np.array(self.k, dtype=int)], self.rho, self.G, self.v_r.reshape(-1, 6)).ravel()

    @cached_property
    def w_star(self) -> np.ndarray:
        """w* (6N) = ψ^r + w^c, and C_i v̇_0 where body i stands on the base: S v̇ = A q̈ + w*. [I] (3.4)"""
        return self.psi_r + self.w_c + self.from_base(self.base_acceleration)

    @cached_property
    def psi(self) -> np.ndarray:
        """ψ (6N) = T w*: accelerations at q̈ = 0. [I] (2.22)"""
        return self.outward(self.w_star)

    def joint_accelerations(self, vdot: np.ndarray) -> np.ndarray:
        """q̈ (n) = (AᵀA)⁻¹Aᵀ(S v̇ − w*), joint by joint. [I] (3.4)"""
        relative = (self.S @ vdot - self.w_star).reshape(-1, 6)
        return np.concatenate([np.linalg.solve(A.T @ A, A.T @ w) for A, w in zip(self.A_blocks, relative, strict=True)])

    @cached_property
    def poses(self) -> tuple[np.ndarray, np.ndarray]:
        """Rotation (N×3×3, body → world) and position (N×3) of every body in the world. [I] (2.7), (2.8)"""
        R, r = np.empty((self.N, 3, 3)), np.empty((self.N, 3))
        for i, k in enumerate(self.k):
            Rk, rk = (R[k], r[k]) if k >= 0 else self.base_pose
            R[i], r[i] = Rk @ self.G[i].T, rk + Rk @ self.rho[i]
        return R, r

    # --- sets of the graph ------------------------------------------------------------------------------------------------
    def axes(self, i: int) -> slice:
        """The axes of joint i among those of all joints."""
        return slice(self.structure.first[i + 1], self.structure.first[i + 2])

    def path(self, i: int) -> list[int]:
        """P_i: joints from the base to body i."""
        return path(self.k, i)

    def children(self, i: int) -> list[int]:
        """S_i: joints carried by body i."""
        return children(self.k, i)


def carried_acceleration(omega: np.ndarray, rho: np.ndarray, G: np.ndarray, v_r: np.ndarray) -> np.ndarray:
    """w^c (…, 6) of bodies on carriers that turn with ω (…, 3): centripetal, and Coriolis. [I] (2.14)"""
    carried = [(np.swapaxes(G, -1, -2) @ x[..., None])[..., 0] for x in (v_r[..., :3], v_r[..., 3:])]
    linear = np.cross(omega, np.cross(omega, rho)) + 2 * np.cross(omega, carried[0])
    parts = [(G @ x[..., None])[..., 0] for x in (linear, np.cross(omega, carried[1]))]
    return np.concatenate(parts, axis=-1)


# --- the two bases of a joint from one another (theory J6, J7): A spans its motions, Z its reactions, ZᵀA = 0 -----------------
def orthogonal_by_projector(A: np.ndarray) -> np.ndarray:
    """Z (6×m): independent columns of E − A(AᵀA)⁻¹Aᵀ."""
    n = A.shape[1]
    projector = np.eye(6) - A @ np.linalg.solve(A.T @ A, A.T) if n else np.eye(6)
    return projector[:, _independent(projector, 6 - n)]


def orthogonal_by_blocks(A: np.ndarray) -> np.ndarray:
    """Z (6×m): with A split by rows into an invertible block A_н and the rest A_з, Z = (−(A_н⁻¹)ᵀA_зᵀ ; E)."""
    n = A.shape[1]
    chosen = _independent(A.T, n)
    rest = np.setdiff1d(np.arange(6), chosen)
    Z = np.zeros((6, 6 - n))
    Z[rest] = np.eye(6 - n)
    if n:
        Z[chosen] = -np.linalg.solve(A[chosen].T, A[rest].T)
    return Z


def _independent(x: np.ndarray, n: int) -> np.ndarray:
    """Which n columns of x are the most independent, in order."""
    from scipy.linalg import qr

    return np.sort(qr(x, mode="r", pivoting=True)[1][:n])


@per_structure
def _joints(model: Model) -> JointMatrices:
    return JointMatrices(model)
