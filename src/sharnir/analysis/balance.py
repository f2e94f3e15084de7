"""The balance of forces at a position: what is left of them along the motions that constraints and held joints allow.

f(q) = h(q, v, t) − τ with constant speeds v is what joint forces and constraints must supply for zero accelerations. Z spans the
speeds of free joints that meet J v = 0; f = Jᵀλ + Z F there, and an equilibrium is where F = 0. Its derivative along Z y is
K y = Zᵀ (∂f/∂q − ∂(Jᵀλ)/∂q) Z y: with forces that have a potential, the Hessian of the energy on the constraints.

All is measured in the metric of the masses, M = Zᵀ M Z = L Lᵀ: forces as L⁻¹F, so that newtons and newton metres can be added.

The search for it:
`nearest`    Levenberg–Marquardt on what is left of the forces: it ends at equilibria of any kind near the start.
`downhill`   Newton steps with the sizes of the curvatures in place of the curvatures, each of which the forces must favour by
             their work: with a potential this is its minimisation, without one a motion of great damping. It leaves saddles, and
             ends only where no motion is favoured.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..dialect.cache import Cache
from ..dynamics import Dynamics
from ..equations.assembly.least_motion import ACCEPTED, Step, damped_newton
from ..equations.assembly.loop_closure import Closure
from ..equations.motion.retraction import retract
from ..equations.rows.constraint_table import ConstraintTable
from ..errors import SingularError
from ..model.model import Model
from ..model.per_structure import per_structure
from ..solvers.evaluator import At
from ..solvers.tree import TreeSolver
from .limits import RANK, START_CLOSING, STEP_CLOSING, null_space
from .tangent_space import rate_matrix


# --- exact derivatives of h(q, v, t) − J(q)ᵀλ with respect to q, in the tangent, and to v
def force_derivatives(d: Dynamics, table: ConstraintTable | None) -> ForceDerivatives:
    """The derivatives of a model, made once: tracing takes longer than many searches."""
    known, store = _known(d.model), d.formulation.programs.store
    if store not in known:
        known[store] = ForceDerivatives(d, table)
    return known[store]


@per_structure
def _known(model: Model) -> dict[Cache, ForceDerivatives]:
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
        try:
            f = self.d.bias(q, self.v, self.t) - self.tau
        except SingularError:
            return None
        if not np.isfinite(f).all():
            return None
        n, free = self.model.nv, self.free
        J = np.zeros((0, n)) if self.table is None else self.table.finite(q, self.v, self.t)["J"]
        basis = null_space(J[:, free])
        Z = np.zeros((n, basis.shape[1]))
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


MAX_ITERATIONS = 200
BALANCED = 1e-12
"""Forces left below this share of `scale` are rounding."""
SETTLED = 1e-7
"""Forces left below this share of `scale` are balanced where the next step is short."""
SHORT = 1e-10
"""A step, rad or m, relative to the coordinates where these are large."""
FIRST_REACH = 0.5
"""The largest motion of a joint in the first step, rad or m; doubled by steps that go well."""
FLAT = 1e-9
"""Curvatures below this share of the largest give no length of a step."""
KICK = 0.05


class BalancingSearch:
    """The search for a balance; `iterations` counts all that were made."""

    def __init__(self, problem: Balance) -> None:
        self.problem, self.iterations = problem, 0

    def is_settled(self, now: Position, step: np.ndarray | None = None) -> bool:
        """Whether the forces are balanced, `step` being what would balance them better."""
        if now.worst <= BALANCED * now.scale:
            return True
        step = now.motions @ (-_solved(now.K, now.F)) if step is None else step
        length = float(np.abs(step).max(initial=0.0))
        return now.worst <= SETTLED * now.scale and length <= SHORT * (1.0 + float(np.abs(now.q).max(initial=0.0)))

    # --- the nearest --------------------------------------------------------------------------------------------------------
    def nearest(self, now: Position) -> tuple[Position, bool]:
        """The last position, and whether it is an equilibrium."""
        reach, is_settled = FIRST_REACH, False

        def step(now: Position, damping: float, gain: float) -> Step | None:
            nonlocal reach, is_settled
            reach = 2.0 * reach if gain > 0.5 else max(0.5 * reach, 1e-8) if gain <= ACCEPTED else reach
            K, F = now.K, now.F
            mu = damping * float((K**2).sum(axis=0).max(initial=0.0))
            y = -np.linalg.lstsq(K.T @ K + mu * np.eye(len(F)), K.T @ F, rcond=1e-15)[0] if mu else -_solved(K, F)
            motion = now.motions @ y
            is_settled = self.is_settled(now, motion)
            if is_settled:
                return None
            self.iterations += 1
            share = min(1.0, reach / max(float(np.abs(motion).max(initial=0.0)), 1e-300))
            promised = now.cost - float(((F + share * (K @ y)) ** 2).sum())
            return Step(share * motion, promised) if promised > 1e-12 * now.cost else None  # else a least, not zero

        end = damped_newton(now, step, lambda now, motion: self.problem.step(now.q, motion), MAX_ITERATIONS)
        return (self.polished(end), True) if is_settled else (end, False)

    # --- downhill -----------------------------------------------------------------------------------------------------------
    def downhill(self, now: Position) -> tuple[Position, bool]:
        reach, kicks = FIRST_REACH, 0
        far = 1e4 * (1.0 + float(np.abs(now.q).max(initial=0.0)))
        for _ in range(MAX_ITERATIONS):
            w, U = np.linalg.eigh(0.5 * (now.K + now.K.T))
            least = max(FLAT * float(np.abs(w).max(initial=0.0)), 1e-12 * float(np.abs(now.F).max(initial=0.0)), 1e-300)
            sizes = np.maximum(np.abs(w), least)
            y = -U @ ((U.T @ now.F) / sizes)
            step = now.motions @ y
            if self.is_settled(now, step):
                kick = self._kicked(now, w, U) if kicks < 3 else None
                if kick is None:
                    return self.polished(now), True
                now, kicks, reach = kick, kicks + 1, FIRST_REACH
                continue
            self.iterations += 1
            share = min(1.0, reach / max(float(np.abs(step).max(initial=0.0)), 1e-300))
            favoured = -share * float(now.F @ y)
            after = self.problem.step(now.q, share * step)
            work = -1.0 if after is None else -0.5 * share * float((now.left + after.left) @ step)
            if after is not None and work > 0.05 * favoured:
                now, reach = after, 2.0 * reach if work > 0.45 * favoured or share == 1.0 else reach
                if np.abs(now.q).max(initial=0.0) > far:
                    return now, False
            else:
                reach = 0.25 * min(reach, share * float(np.abs(step).max(initial=0.0)))
                if reach < 1e-14:
                    return now, False
        return now, False

    def _kicked(self, now: Position, w: np.ndarray, U: np.ndarray) -> Position | None:
        """A position beside an equilibrium at which the forces favour some motion; None where they favour none."""
        if not len(w) or w[0] >= -1e-6 * max(float(np.abs(w).max()), 1e-300):
            return None
        motion = now.motions @ U[:, 0]
        return self.problem.step(now.q, motion * KICK / max(float(np.abs(motion).max()), 1e-300))

    def polished(self, now: Position) -> Position:
        """A few full steps of Newton's method, while they help."""
        for _ in range(3):
            after = self.problem.step(now.q, now.motions @ (-_solved(now.K, now.F)))
            if after is None or not after.worst < 0.5 * now.worst:
                break
            now = after
        return now


def _solved(K: np.ndarray, F: np.ndarray) -> np.ndarray:
    """K⁻¹F, of least norm where K is singular."""
    return np.linalg.lstsq(K, F, rcond=1e-11)[0] if K.size else F
