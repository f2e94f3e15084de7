"""The papers' matrices of one model in one state, under the papers' names: the oracle everything is tested against."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from ..model.model import Model
from ..model.states import check_model, check_tau, check_wrenches
from ..types import truth
from .blocks import Matrix, assembled, block_diagonal, dense, skew
from .flexible import DeformedBody, deformed_body
from .graph import Graph
from .system import System


def matrices(
    model: Model,
    q: Sequence[float] | Mapping[str, Any] | None = None,
    v: Sequence[float] | Mapping[str, Any] | None = None,
    t: float = 0.0,
    wrenches: Any = None,
    sparse: bool = False,
    parameters: Mapping[str, float] | None = None,
    tau: Sequence[float] | Mapping[str, Any] | None = None,
) -> Matrices:
    """Everything the papers write about a model in one state, with these values of its parameters; `sh.Matrices` lists it.

    `tau`: forces of the joints, which right-hand sides, F^A and λ contain. `sparse=True` gives the large matrices (S, T, A, Z, B,
    M, M*, L, extended, and those of all joints) as SciPy sparse arrays.
    """
    return Matrices(check_model(model, "matrices"), q, v, t, wrenches, truth(sparse, "sparse"), parameters, tau)


class Matrices(Graph):
    """Matrices of a tree of N bodies with n freedoms, and of all m joints of a graph. Equation numbers are those of docs/theory
    and of [I]; motions and forces are (linear; angular) in body axes, at body origins. Body i of the papers is index i − 1 here.
    Everything is computed when it is first read.

    letter   attribute       shape                   it is
    ρ        rho             (N, 3)                  origin of body i in its carrier's axes (2.2)
    G        G               (N, 3, 3)               direction cosines, carrier → body (2.2)
    A_i      A_blocks        N × (6, n_i)            tangent bases of the joints (2.5); `Z_blocks`: orthogonal ones
    C        C               (N, 6, 6)               transfer of velocities from carrier to body (2.13)
    v^r      v_r             (6N,)                   relative velocities (2.5); `phi_r`: their part φ^r due to time alone
    w*       w_star          (6N,)                   ψ^r + w^c (3.4); `psi_r` (2.6), `w_c` (2.14)
    S        S               (6N, 6N)                kinematic structure, Sv = v^r (2.15)
    T        T               (6N, 6N)                S⁻¹ (2.18)
    A        A               (6N, n)                 diag(A_i) (2.19)
    Z        Z               (6N, 6N−n)              diag(Z_i) (3.7)
    B        B               (6N, n)                 TA (2.21)
    v        v               (6N,)                   velocities (2.16); `phi`, φ: their part due to time alone
    ψ        psi             (6N,)                   Tw*: accelerations at q̈ = 0 (2.22)
    M        M               (6N, 6N)                diag(M_i) (3.6); `M_blocks`, `M_inverse`
    F        F               (6N,)                   forces, gyroscopic ones included (3.3)
    D        D               (n, n)                  rotors; `P` (6N, n): momenta per elastic speed (F7), zero for rigid bodies
    τ        tau             (n,)                    joint forces: the given ones, and `load`, those of the model
             extended        (12N+n, 12N+n)          the matrix of (3.6)
    L        L               (6N−n, 6N−n)            ZᵀSM⁻¹SᵀZ (3.10)
    λ        lam             (Σm_i,)                 multipliers of all joints, R = Zλ + A(AᵀA)⁻¹τ (3.7)
    M*       M_star          (6N, 6N)                TᵀMT (D1); its diagonal blocks are the composite bodies
    Q*       Q_star          (6N,)                   Tᵀ(F − Mψ) (D2)
    M_r      M_r             (n, n)                  BᵀMB = AᵀM*A (3.12)
    Q        Q               (n,)                    Bᵀ(F − Mψ) = AᵀQ* (3.12)
    M^A      M_A             (N, 6, 6)               inertias of separate bodies (D3)
    F^A      F_A             (N, 6)                  forces of separate bodies (D3)
    U_i      U               N × (n_i, n_i)          A_iᵀM^A_iA_i (D3)
    J        J               (rows, n)               constraints of all kinds, Jq̈ + γ = 0 (L2)
    γ        gamma           (rows,)                 (L3)
    I        incidence       (N+1, m)                of the graph, base first, cut joints last [B] §1
    S        S_graph         (6m, 6N)                of the graph, rectangular where it has loops [B] §2
    A        A_graph         (6m, n+Σn_c)            of all joints [B] §1
    Z        Z_graph         (6m, Σm_i)              of all joints [B] §1
    w*       w_star_graph    (6m,)                   of all joints [B] §2
    K        K               (Σm_c, n)               Z_cᵀS_cB: what cut joints forbid, Kq̈ = γ_c
    γ_c      gamma_c         (Σm_c,)                 Z_cᵀ(w*_c − S_cψ)

    `system(form)` assembles a form from them.
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
        tau: Any = None,
    ) -> None:
        super().__init__(model, q, v, t, sparse, parameters)
        self.given_tau = check_tau(self.model, tau)
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
    def tau(self) -> np.ndarray:
        """τ (n): joint forces, those that were given and those of the model."""
        return self.given_tau + self.load

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

    # --- reductions -------------------------------------------------------------------------------------------------------
    @cached_property
    def M_star(self) -> Matrix:
        """M* (6N×6N) = TᵀMT: M*_i of composite bodies on the diagonal, M*_iT_ij beside it. [I] §3.3, theory (D1)"""
        from .lagrange2 import composite_blocks

        return assembled(composite_blocks(self), [6] * self.N, [6] * self.N, self.sparse)

    @cached_property
    def Q_star(self) -> np.ndarray:
        """Q* (6N) = Tᵀ(F − Mψ): Q*_i = F_i − M_iψ_i + Σ C_lᵀQ*_l over the children l. [I] §3.3, theory (D2)"""
        return self.inward(self.F - self.M @ self.psi)

    @cached_property
    def _separate(self) -> tuple[list[np.ndarray], list[np.ndarray]]:
        from .separate import articulated_inertias

        self.needs_axes("separate")
        return articulated_inertias(self)

    @property
    def M_A(self) -> np.ndarray:
        """M^A (N×6×6): inertia of body i with all it carries hanging on it, as its joint feels it. [I] §4.1, theory (D3)"""
        return np.array(self._separate[0])

    @property
    def U(self) -> list[np.ndarray]:
        """U_i (n_i×n_i) = A_iᵀM_i^A A_i + D_i. [Y] (12), theory (D3)"""
        return self._separate[1]

    @cached_property
    def F_A(self) -> np.ndarray:
        """F^A (N×6): force on body i from all it carries, under the joint forces τ. [I] §4.1, theory (D3)"""
        from .separate import articulated_forces

        return articulated_forces(self, *self._separate, self.tau)

    @cached_property
    def _rows(self) -> tuple[np.ndarray, np.ndarray]:
        from .constraint_rows import constraint_rows

        return constraint_rows(self)

    @property
    def J(self) -> np.ndarray:
        """J (rows×n): rows of all constraints, cut joints among them; J q̈ + γ = 0. theory (L2)"""
        return self._rows[0]

    @property
    def gamma(self) -> np.ndarray:
        """γ (rows). theory (L3)"""
        return self._rows[1]

    @cached_property
    def lam(self) -> np.ndarray:
        """λ (Σm_i): multipliers of all joints, closing ones last; of least norm where they are not unique. [I] (3.7), (3.10)"""
        from .lagrange1 import joint_multipliers

        return joint_multipliers(self)

    def system(self, form: str = "extended") -> System:
        """The assembled equations of a form: `matrix`, `right`, `unknowns`; `solve()` gives {letter: values}.

        "extended" (3.6), "lagrange1-full" (3.8), "lagrange1" (3.10), "direct" and "composite" (3.12), "maggi", "momentum", and
        "graph", the extended system with S rectangular [B] (1). Constraints add rows, independent ones.
        """
        from . import system_of

        return system_of(self, form)

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
