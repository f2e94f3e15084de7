"""The papers' matrices of one model in one state, under the papers' names: the oracle everything is proved against."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from ..errors import MethodError
from ..model.model import Model
from ..model.states import check_state, check_wrenches
from ..model.structure import JointValues
from ..model.topology import children, path
from .bases import orthogonal_by_blocks, orthogonal_by_projector


def skew(x: np.ndarray) -> np.ndarray:
    """x̃: the matrix of the vector product."""
    return np.array([[0.0, -x[2], x[1]], [x[2], 0.0, -x[0]], [-x[1], x[0], 0.0]])


def transfer(G: np.ndarray, rho: np.ndarray) -> np.ndarray:
    """C = [G −Gρ̃; 0 G]: takes velocities from a carrier to a body.                                          [I] (2.13)"""
    C = np.zeros((6, 6))
    C[:3, :3] = C[3:, 3:] = G
    C[:3, 3:] = -G @ skew(rho)
    return C


def matrices(
    model: Model,
    q: Sequence[float] | Mapping[str, Any] | None = None,
    v: Sequence[float] | Mapping[str, Any] | None = None,
    t: float = 0.0,
    wrenches: Any = None,
    sparse: bool = False,
) -> Matrices:
    """Everything the papers write about a model in one state.

    `sparse=True` gives the large matrices (S, T, A, Z, B, M, L, extended) as SciPy sparse arrays.
    """
    return Matrices(model, q, v, t, wrenches, sparse)


class Matrices:
    """Structure matrices of a tree of N bodies with n freedoms. Equation numbers are those of docs/theory and of [I].

    Motions and forces are (linear; angular) in body axes, at body origins. Body i of the papers is index i − 1 here.
    Everything is computed when it is first asked for.
    """

    def __init__(self, model: Model, q: Any, v: Any, t: float, wrenches: Any, sparse: bool) -> None:
        self.model = model
        self.structure = s = model.freeze()
        self.q, self.v_q, self.t = check_state(model, q, v, t)
        self._given = check_wrenches(model, wrenches)
        self.sparse = sparse
        self.N, self.n = s.nb, s.nv
        self.k = model.parents
        self._joint = s.joint_values(self.q, self.v_q, self.t)

    @cached_property
    def _at_rest(self) -> JointValues:
        return self.structure.joint_values(self.q, np.zeros(self.n), self.t)

    @cached_property
    def _forces(self) -> tuple[np.ndarray, np.ndarray]:
        """What the model's own forces do to bodies (N×6) and to joints (n)."""
        if not self.structure.forces:
            return np.zeros((self.N, 6)), np.zeros(self.n)
        R, r = self.poses
        base = self._joint
        motion = {
            "t": np.array([self.t]), "q": self.q, "v": self.v_q,
            "r": np.vstack([base.rho[:1], r]),
            "G": np.vstack([base.G[:1], R.transpose(0, 2, 1).reshape(-1, 9)]),
            "velocity": np.vstack([base.vr[:1], self.v.reshape(-1, 6)]),
        }  # fmt: skip
        wrenches, load = self.structure.forces.dense(motion, self.N + 1, self.n)
        return wrenches[1:], load

    @property
    def wrenches(self) -> np.ndarray:
        """Given wrenches and those of the model's own forces (N×6)."""
        return self._given + self._forces[0]

    @property
    def load(self) -> np.ndarray:
        """Joint forces of the model's own force elements (n)."""
        return self._forces[1]

    # --- one joint --------------------------------------------------------------------------------------------------------
    @property
    def rho(self) -> np.ndarray:
        """ρ_i (N×3): origin of body i in its carrier's axes. [I] (2.2)"""
        return self._joint.rho[1:]

    @property
    def G(self) -> np.ndarray:
        """G_i (N×3×3): direction cosines, carrier → body. [I] (2.2)"""
        return self._joint.G[1:].reshape(-1, 3, 3)

    @cached_property
    def A_blocks(self) -> list[np.ndarray]:
        """A_i (6×n_i): tangent basis, v^r = A_i q̇_i + φ^r. [I] (2.5)"""
        return [self._joint.A[self.axes(i)].T for i in range(self.N)]

    @cached_property
    def A_rates(self) -> list[np.ndarray]:
        """Ȧ_i (6×n_i): d/dt of the tangent basis in body axes."""
        return [self._joint.dA[self.axes(i)].T for i in range(self.N)]

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
        return self._joint.vr[1:].ravel()

    @property
    def phi_r(self) -> np.ndarray:
        """φ^r (6N): the part of v^r due to time alone. [I] (2.5)"""
        return self._at_rest.vr[1:].ravel()

    @property
    def psi_r(self) -> np.ndarray:
        """ψ^r (6N): the part of the relative accelerations free of q̈. [I] (2.6)"""
        return self._joint.psi[1:].ravel()

    @property
    def q_rate(self) -> np.ndarray:
        """q̇ (n_q): rates of the coordinates; equal to the speeds but for quaternions. theory (J8)"""
        return self._joint.rate

    # --- the base -----------------------------------------------------------------------------------------------------------
    @property
    def base_velocity(self) -> np.ndarray:
        """v_0 (6): given velocity of the base, in its own axes."""
        return self._joint.vr[0]

    @property
    def base_acceleration(self) -> np.ndarray:
        """v̇_0 (6): given acceleration of the base, in its own axes."""
        return self._joint.psi[0]

    def from_base(self, x: np.ndarray) -> np.ndarray:
        """C_i x for the bodies on the base, zero for all others."""
        return np.concatenate([self.C[i] @ x if self.k[i] < 0 else np.zeros(6) for i in range(self.N)])

    # --- the whole system: kinematics -----------------------------------------------------------------------------------
    @cached_property
    def C(self) -> list[np.ndarray]:
        """C_i (6×6): transfer of velocities from carrier to body. [I] (2.13)"""
        return [transfer(G, rho) for G, rho in zip(self.G, self.rho, strict=True)]

    @cached_property
    def S(self) -> Any:
        """S (6N×6N): kinematic structure matrix, S v = v^r. [I] (2.15)"""
        blocks = [(i, i, np.eye(6)) for i in range(self.N)]
        blocks += [(i, k, -self.C[i]) for i, k in enumerate(self.k) if k >= 0]
        return self._assemble(blocks, [6] * self.N, [6] * self.N)

    @cached_property
    def S_graph(self) -> Any:
        """S (6m×6N) of the whole graph, a row of blocks per joint, closing joints last. [B] §2

        Row j has E at the joint's body and −C_j at its carrier. Square exactly where the graph is a tree.
        """
        blocks = [(i, i, np.eye(6)) for i in range(self.N)]
        blocks += [(i, k, -self.C[i]) for i, k in enumerate(self.k) if k >= 0]
        R, r = self.poses
        for row, (carrier, body) in enumerate(self._closing_ends(), start=self.N):
            Rk, rk = (R[carrier], r[carrier]) if carrier >= 0 else (self._joint.G[0].reshape(3, 3).T, self._joint.rho[0])
            blocks.append((row, body, np.eye(6)))
            if carrier >= 0:
                blocks.append((row, carrier, -transfer(R[body].T @ Rk, Rk.T @ (r[body] - rk))))
        rows = self.N + len(self.model.closing_joints)
        return self._assemble(blocks, [6] * rows, [6] * self.N)

    @property
    def incidence(self) -> np.ndarray:
        """I (N+1 × m): incidence matrix of the graph, −1 where joint j leaves its carrier, +1 where it enters its body.

        Row 0 is the base; columns are the joints of the tree, then the closing ones. [B] §1 counts the other way round
        (see the errata); with this sign S_ji = I_ij E at the body and −C_j at the carrier.
        """
        ends = [*((k, j) for j, k in enumerate(self.k)), *self._closing_ends()]
        out = np.zeros((self.N + 1, len(ends)), dtype=int)
        for j, (carrier, body) in enumerate(ends):
            out[carrier + 1, j], out[body + 1, j] = -1, 1
        return out

    def _closing_ends(self) -> list[tuple[int, int]]:
        """Carrier and body of every closing joint, as the user named them; the base (−1) is always the carrier."""
        out = []
        for joint in self.model.closing_joints:
            parent, child = (-1 if b == "ground" else self.model.body_index(b) for b in (joint.parent, joint.child))
            out.append((parent, child) if child >= 0 else (child, parent))
        return out

    @cached_property
    def T(self) -> Any:
        """T (6N×6N) = S⁻¹: T_ij = C_i T_kj on the path, unit lower block triangular. [I] (2.18)"""
        blocks: dict[tuple[int, int], np.ndarray] = {}
        for i in range(self.N):
            for j in path(self.k, i)[:-1]:
                blocks[i, j] = self.C[i] @ blocks[self.k[i], j]
            blocks[i, i] = np.eye(6)
        return self._assemble([(i, j, b) for (i, j), b in blocks.items()], [6] * self.N, [6] * self.N)

    @cached_property
    def A(self) -> Any:
        """A (6N×n): block diagonal of the tangent bases; columns of axes that move with one speed added up. [I] (2.19)"""
        A = self._diagonal(self.A_blocks)
        return A @ self._fold if self.structure.coupled else A

    @property
    def _fold(self) -> Any:
        """(axes × n): which speed moves which axis."""
        s = self.structure
        return self._assemble([(i, k, np.ones((1, 1))) for i, k in enumerate(s.tree.speed)], [1] * s.na, [1] * s.nv)

    @cached_property
    def rotors(self) -> np.ndarray:
        """D (n): inertias of the rotors as the speeds feel them; AᵀR = τ − D q̈."""
        return np.bincount(self.structure.tree.speed, self.structure.tree.rotor, self.n)

    @property
    def rotor_blocks(self) -> list[np.ndarray]:
        """D_i (n_i): rotors of the axes of joint i."""
        return [self.structure.tree.rotor[self.axes(i)] for i in range(self.N)]

    def folded(self, M: np.ndarray) -> np.ndarray:
        """A matrix of axes (na×na) as one of speeds (n×n)."""
        return dense(self._fold.T @ M @ self._fold) if self.structure.coupled else M

    def needs_axes(self, form: str) -> None:
        """Refuse a form that works joint by joint where joints share speeds."""
        if self.structure.coupled:
            raise MethodError(f"the form {form!r} goes joint by joint: it has no place for coupled coordinates")

    @cached_property
    def Z(self) -> Any:
        """Z (6N×(6N−n)): block diagonal of the orthogonal bases. [I] (3.7)"""
        return self._diagonal(self.Z_blocks)

    @cached_property
    def B(self) -> Any:
        """B (6N×n) = TA: tangent basis of the system, v = B q̇ + φ. [I] (2.21)"""
        return self.T @ self.A

    @cached_property
    def v(self) -> np.ndarray:
        """v (6N): absolute velocities, v = T(v^r + C_0 v_0). [I] (2.16)"""
        return self.T @ (self.v_r + self.from_base(self.base_velocity))

    @cached_property
    def phi(self) -> np.ndarray:
        """φ (6N): the part of v due to time alone. [I] (2.21)"""
        return self.T @ (self.phi_r + self.from_base(self.base_velocity))

    @cached_property
    def w_c(self) -> np.ndarray:
        """w^c (6N): centripetal and Coriolis accelerations of the transfer. [I] (2.14)"""
        out = []
        v, vr = self.v.reshape(-1, 6), self.v_r.reshape(-1, 6)
        for i, k in enumerate(self.k):
            omega = v[k, 3:] if k >= 0 else self.base_velocity[3:]
            W, G = skew(omega), self.G[i]
            linear = G @ W @ W @ self.rho[i] + 2 * G @ W @ G.T @ vr[i, :3]
            out += [linear, G @ W @ G.T @ vr[i, 3:]]
        return np.concatenate(out)

    @cached_property
    def w_star(self) -> np.ndarray:
        """w* (6N) = ψ^r + w^c, and C_i v̇_0 where body i stands on the base: S v̇ = A q̈ + w*. [I] (3.4)"""
        return self.psi_r + self.w_c + self.from_base(self.base_acceleration)

    @cached_property
    def psi(self) -> np.ndarray:
        """ψ (6N) = T w*: accelerations at q̈ = 0. [I] (2.22)"""
        return self.T @ self.w_star

    @cached_property
    def poses(self) -> tuple[np.ndarray, np.ndarray]:
        """Rotation (N×3×3, body → world) and position (N×3) of every body in the world. [I] (2.7), (2.8)"""
        R, r = np.empty((self.N, 3, 3)), np.empty((self.N, 3))
        for i, k in enumerate(self.k):
            Rk, rk = (R[k], r[k]) if k >= 0 else (self._joint.G[0].reshape(3, 3).T, self._joint.rho[0])
            R[i], r[i] = Rk @ self.G[i].T, rk + Rk @ self.rho[i]
        return R, r

    # --- the whole system: dynamics ---------------------------------------------------------------------------------------
    @cached_property
    def M_blocks(self) -> list[np.ndarray]:
        """M_i (6×6) = [mE −m r̃_c; m r̃_c J_O]. [I] (3.3)"""
        return [body.mass_matrix() for body in self.model.bodies]

    @cached_property
    def M(self) -> Any:
        """M (6N×6N): block diagonal of the masses. [I] (3.6)"""
        return self._diagonal(self.M_blocks)

    @cached_property
    def F_external(self) -> np.ndarray:
        """External wrenches (6N): gravity and `wrenches`, without gyroscopic terms."""
        s, R = self.structure, self.poses[0]
        out = np.zeros((self.N, 6))
        for i in range(self.N):
            weight = s.bodies[i].mass * (R[i].T @ s.gravity)
            out[i] = np.concatenate([weight, np.cross(s.bodies[i].com, weight)])
        return (out + self.wrenches).ravel()

    @cached_property
    def F(self) -> np.ndarray:
        """F (6N) = (f − mω̃²r_c ; m_O − ω̃J_Oω). [I] (3.3)"""
        out = self.F_external.reshape(-1, 6).copy()
        for i, (body, v) in enumerate(zip(self.model.bodies, self.v.reshape(-1, 6), strict=True)):
            W = skew(v[3:])
            out[i, :3] -= body.mass * W @ W @ body.com
            out[i, 3:] -= W @ body.inertia_at_origin() @ v[3:]
        return out.ravel()

    @cached_property
    def L(self) -> Any:
        """L ((6N−n)²) = ZᵀSM⁻¹SᵀZ: the matrix of the multipliers. [I] (3.10)"""
        ZS = self.Z.T @ self.S
        return ZS @ self.M_inverse @ ZS.T

    @cached_property
    def M_inverse(self) -> Any:
        """M⁻¹ (6N×6N), block by block; every body must have mass and inertia."""
        from .lagrange1 import invert_masses

        return self._diagonal(invert_masses(self))

    @cached_property
    def M_r(self) -> np.ndarray:
        """M_r (n×n) = BᵀMB: the inertia matrix in generalised coordinates. [I] (3.12)"""
        return dense(self.B.T @ self.M @ self.B) + np.diag(self.rotors)

    @cached_property
    def Q(self) -> np.ndarray:
        """Q (n) = Bᵀ(F − Mψ): generalised forces, joint forces τ not included. [I] (3.12)"""
        return self.B.T @ (self.F - self.M @ self.psi)

    @cached_property
    def extended(self) -> Any:
        """The matrix of the extended system (12N+n): [M −Sᵀ 0; −S 0 A; 0 Aᵀ D], symmetric; D: rotors. [I] (3.6)"""
        if self.sparse:
            from scipy import sparse as sp

            rotors = sp.diags_array(self.rotors) if self.rotors.any() else None
            return sp.block_array([[self.M, -self.S.T, None], [-self.S, None, self.A], [None, self.A.T, rotors]], format="csc")
        z = np.zeros
        N6, n = 6 * self.N, self.n
        D = np.diag(self.rotors)
        return np.block([[self.M, -self.S.T, z((N6, n))], [-self.S, z((N6, N6)), self.A], [z((n, N6)), self.A.T, D]])

    # --- sets of the graph ------------------------------------------------------------------------------------------------
    def axes(self, i: int) -> slice:
        """Where the speeds of joint i stand in v."""
        return slice(self.structure.first[i + 1], self.structure.first[i + 2])

    def path(self, i: int) -> list[int]:
        """P_i: joints from the base to body i."""
        return path(self.k, i)

    def children(self, i: int) -> list[int]:
        """S_i: joints carried by body i."""
        return children(self.k, i)

    # --- inside -----------------------------------------------------------------------------------------------------------
    def _diagonal(self, blocks: Sequence[np.ndarray]) -> Any:
        sizes = zip(*(b.shape for b in blocks), strict=True)
        rows, columns = (list(x) for x in sizes)
        return self._assemble([(i, i, b) for i, b in enumerate(blocks)], rows, columns)

    def _assemble(self, blocks: Iterable[tuple[int, int, np.ndarray]], rows: list[int], columns: list[int]) -> Any:
        """A block matrix from (row, column, block), dense or sparse."""
        r, c = np.concatenate([[0], np.cumsum(rows)]), np.concatenate([[0], np.cumsum(columns)])
        if not self.sparse:
            out = np.zeros((r[-1], c[-1]))
            for i, j, block in blocks:
                out[r[i] : r[i + 1], c[j] : c[j + 1]] = block
            return out
        from scipy import sparse as sp  # here: whoever only checks inertias needs no SciPy

        I, J, X = [], [], []
        for i, j, block in blocks:
            di, dj = np.indices(block.shape)
            I.append((r[i] + di).ravel())
            J.append((c[j] + dj).ravel())
            X.append(block.ravel())
        entries = np.concatenate(X) if X else np.zeros(0)
        where = (np.concatenate(I), np.concatenate(J)) if X else (np.zeros(0, int), np.zeros(0, int))
        return sp.csr_array((entries, where), shape=(int(r[-1]), int(c[-1])))


def dense(x: Any) -> np.ndarray:
    """A NumPy array of what may be sparse."""
    return x.toarray() if hasattr(x, "toarray") else np.asarray(x)


def solve_definite(matrix: np.ndarray, right: np.ndarray) -> np.ndarray:
    """By Cholesky's method."""
    from scipy.linalg import cho_factor, cho_solve

    return cho_solve(cho_factor(matrix), right)


def factorised(matrix: Any) -> Any:
    """A sparse matrix, by SuperLU, ready to `solve`."""
    from scipy.sparse.linalg import splu

    return splu(matrix.tocsc())
