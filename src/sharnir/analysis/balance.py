"""The balance of forces at a position: what is left of them along the motions that constraints and held joints allow.

f(q) = h(q, v, t) − τ with constant speeds v is what joint forces and constraints must supply for zero accelerations. Z spans the
speeds of free joints that meet J v = 0; f = Jᵀλ + Z F there, and an equilibrium is where F = 0. Its derivative along Z y is
K y = Zᵀ (∂f/∂q − ∂(Jᵀλ)/∂q) Z y: with forces that have a potential, the Hessian of the energy on the constraints.

All is measured in the metric of the masses, M = Zᵀ M Z = L Lᵀ: forces as L⁻¹F, so that newtons and newton metres can be added.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..dialect.cache import Cache
from ..dynamics import Dynamics
from ..equations.assembly.loop_closure import Closure
from ..equations.motion.retraction import retract
from ..equations.rows.constraint_table import ConstraintTable
from ..errors import SingularError
from ..model.model import Model
from ..model.per_structure import per_structure
from ..solvers.evaluator import At
from ..solvers.tree import TreeSolver
from .bounded_step import RANK, null_space
from .limits import START_CLOSING, STEP_CLOSING
from .tangent_space import rate_matrix


# --- exact derivatives of h(q, v, t) − J(q)ᵀλ with respect to q, in the tangent, and to v
def force_derivatives(d: Dynamics, table: ConstraintTable | None) -> ForceDerivatives:
    """The derivatives of a model, made once: tracing takes longer than many searches."""
    known, store = _force_derivatives(d.model), d.formulation.programs.store
    if store not in known:
        known[store] = ForceDerivatives(d, table)
    return known[store]


@per_structure
def _force_derivatives(model: Model) -> dict[Cache, ForceDerivatives]:
    """Derivatives by the folder of compiled code, not by the `Dynamics` that asked first."""
    return {}


class ForceDerivatives:
    """Derivatives of a model's forces; with constraints, those of its spanning tree and of given multipliers."""

    def __init__(self, d: Dynamics, table: ConstraintTable | None) -> None:
        self.d, self.table = d, table
        self._tree = TreeSolver(d.solver.evaluator)

    def __call__(self, q: np.ndarray, v: np.ndarray, lam: np.ndarray, t: float) -> tuple[np.ndarray, np.ndarray]:
        """(nv, nv) each."""
        found = self._tree.inverse_derivatives(At(q=q, v=v, qdd=np.zeros_like(v), t=t, parameter=None), ("q", "v"))
        assert found.dq is not None and found.dv is not None
        if self.table is None or not len(lam):
            return found.dq, found.dv
        return found.dq - self._of_multipliers(self.table, q, lam, t), found.dv

    def _of_multipliers(self, table: ConstraintTable, q: np.ndarray, lam: np.ndarray, t: float) -> np.ndarray:
        """∂(Jᵀλ)/∂q. The rates of the rows are J v and what depends on time alone: entry (i, j) is the change along speed j of
        λ·rate at v = e_i, less that at rest; all pairs are evaluated at once."""
        n = self.d.model.nv
        i, j = (x.ravel() for x in np.indices((n + 1, n)))
        moving = np.concatenate([np.eye(n), np.zeros((1, n))])
        values = {"q": q.tolist(), "v": list(moving[i].T), "t": [t]}
        values["parameter"] = list(table.structure.parameters.values())
        changes = table.rate_along(values, list(rate_matrix(self.d, q, t)[:, j]))
        total = sum((factor * np.broadcast_to(x, len(i)) for factor, x in zip(lam, changes, strict=True)), np.zeros(len(i)))
        by_pair = total.reshape(n + 1, n)
        return by_pair[:n] - by_pair[n]


# --- balance
NEARBY = 0.5
"""Motions, rad or m, whose forces belong to the size of those at a position."""


@dataclass(frozen=True)
class Position:
    """The balance at one position."""

    problem: Balance
    q: np.ndarray
    f: np.ndarray
    Z: np.ndarray
    lam: np.ndarray
    left: np.ndarray
    """(nv,): the force that nothing balances, zero at held joints."""

    @property
    def worst(self) -> float:
        return float(np.abs(self.left).max(initial=0.0))

    @cached_property
    def scale(self) -> float:
        """The size of the forces here, which what is left of them is compared with: those that others balance, and those of
        motions nearby by their slopes here. What a force does elsewhere says nothing."""
        p, slopes = self.problem, np.abs(self._slopes[0])
        weight = float(p.d.structure.tree.mass.sum()) * float(np.linalg.norm(p.d.structure.gravity))
        nearby = NEARBY * float(slopes[np.isfinite(slopes)].max(initial=0.0))
        return max(float(np.abs(p.tau).max(initial=0.0)), float(np.abs(self.f).max(initial=0.0)), 1e-6 * weight, nearby, 1e-300)

    @cached_property
    def motions(self) -> np.ndarray:
        """P = Z L⁻ᵀ (nv, k): motions of unit mass."""
        M = self.Z.T @ self.problem.d.mass_matrix(self.q, self.problem.t) @ self.Z
        if not M.size:
            return self.Z
        try:
            L = np.linalg.cholesky(M + 1e-14 * float(np.trace(M)) / len(M) * np.eye(len(M)))
        except np.linalg.LinAlgError:  # a motion of no mass: all motions count alike
            return self.Z
        return np.linalg.solve(L, self.Z.T).T

    @cached_property
    def F(self) -> np.ndarray:
        """L⁻¹ F."""
        return self.motions.T @ self.left

    @property
    def cost(self) -> float:
        return float(self.F @ self.F)

    @cached_property
    def _slopes(self) -> tuple[np.ndarray, np.ndarray]:
        p = self.problem
        return p.derivatives(self.q, p.v, self.lam, p.t)

    @cached_property
    def K(self) -> np.ndarray:
        """L⁻¹ K L⁻ᵀ."""
        return self.motions.T @ self._slopes[0] @ self.motions

    @property
    def C(self) -> np.ndarray:
        """The same of the damping, ∂f/∂v."""
        return self.motions.T @ self._slopes[1] @ self.motions

    def motion(self, y: np.ndarray) -> np.ndarray:
        """(nv,): the speeds P y."""
        return self.motions @ y


class Balance:
    """The balance of one model at one time, under joint forces tau at speeds v; the speeds in `free` may move."""

    def __init__(
        self, d: Dynamics, table: ConstraintTable | None, v: np.ndarray, tau: np.ndarray, free: np.ndarray, t: float
    ) -> None:
        self.d, self.model, self.table, self.v, self.tau, self.free, self.t = d, d.model, table, v, tau, free, t
        self.derivatives = force_derivatives(d, table)

    def allowed(self, q: np.ndarray, free: np.ndarray | None = None, iterations: int = START_CLOSING) -> np.ndarray | None:
        """The nearest closed position; None where none is found."""
        if self.table is None:
            return q
        return Closure(self.model, self.table, self.t, self.free if free is None else free).closed(q, iterations)

    def at(self, q: np.ndarray) -> Position | None:
        """None where a force is not defined."""
        f = self._forces(q)
        if f is None:
            return None
        n, free = self.model.nv, self.free
        J = np.zeros((0, n)) if self.table is None else self.table.finite(q, self.v, self.t)["J"]
        Z = np.zeros((n, 0)) if not free.any() else np.zeros((n, (basis := null_space(J[:, free])).shape[1]))
        if free.any():
            Z[free] = basis
        lam = np.linalg.lstsq(J[:, free].T, f[free], rcond=RANK)[0] if len(J) and free.any() else np.zeros(len(J))
        return Position(self, q, f, Z, lam, Z @ (Z.T @ f))

    def step(self, q: np.ndarray, delta: np.ndarray) -> Position | None:
        """The balance after a motion δ and the return to the constraints."""
        after = self.allowed(retract(self.model, q, delta, self.t), iterations=STEP_CLOSING)
        return None if after is None or not np.isfinite(after).all() else self.at(after)

    def held_forces(self, now: Position) -> np.ndarray:
        """(nv,): what drives and locks of held joints must supply beside tau."""
        carried = 0.0 if self.table is None else now.lam @ self.table.evaluate(now.q, self.v, self.t)["J"]
        return np.where(self.free, 0.0, now.f - carried)

    def _forces(self, q: np.ndarray) -> np.ndarray | None:
        try:
            f = self.d.bias(q, self.v, self.t) - self.tau
        except SingularError:
            return None
        return f if np.isfinite(f).all() else None
