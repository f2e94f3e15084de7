"""Models with constraints: motion from forces, and forces from motion.

One state or a batch goes through straight-line code where there is any (`constrained_code.py`); a matrix form, a large model
and the interpreted kernels go state by state. Redundant constraints: the multipliers of least norm (docs/theory/loops.md).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, NoReturn

import numpy as np

from ..backends.counting import Count, count_compiled
from ..backends.fast_path import FastPath, fast_path
from ..backends.runner import Runner
from ..equations.assembly.loop_closure import off_by
from ..errors import MethodError, StateError
from ..forms.solution import Solution
from .actuation import actuated_speeds, check_produced, forces_of, least_multipliers, multipliers_of, without_carried
from .constrained_code import ConstrainedCode
from .constrained_derivatives import ConstrainedDerivatives
from .derivatives import Derivatives, JacobianCode, Wrt, check_wrt, reaction_derivatives, statics_code
from .evaluator import Actions, At, Evaluator, Rows, each_state, unbatch

RANK_TOLERANCE = 1e-6
"""Squared sine of the angle between a row and the others below which the rank is determined by an SVD."""
OPEN = 1e-6
"""Residuals, relative to the sizes of their terms, from which on loops are open."""
CONSISTENCY_TOLERANCE = 1e-6
"""Accelerations satisfy the constraints if |J a + γ| is below this, relative to the largest term of the sum."""


class ConstrainedSolver:
    """Solver for models with constraints: questions of callers, answered by `code` where it can, else state by state."""

    def __init__(self, evaluator: Evaluator) -> None:
        assert evaluator.formulation.constrained is not None
        self.evaluator, self.model, self.equations = evaluator, evaluator.model, evaluator.formulation.constrained
        self.code = ConstrainedCode(self.equations)
        self._memory = self.equations.memory(evaluator.formulation.programs.tolerance)

    @property
    def backend(self) -> str:
        return "dense" if self.equations.form else self.equations.backend

    @cached_property
    def fast_forward(self) -> FastPath:
        return fast_path(self._runner(("qdd",)), self.evaluator.threads)

    def _runner(self, outputs: tuple[str, ...], wrenches: bool = False) -> Runner | None:
        """Code that answers whole questions: straight lines where there are any, elimination where the model is large and the
        method has it; else None."""
        if self.code.solves:
            return self.code.solution(*outputs, wrenches=wrenches)
        return self.equations.sparse.runner(outputs, wrenches) if self.equations.sparse and self.equations.is_sparse else None

    @cached_property
    def fast_inverse(self) -> FastPath:
        return fast_path(None)  # constraints carry part of the load

    # --- motion from forces -------------------------------------------------------------------------------------------------
    def forward(self, at: At, out: np.ndarray | None = None) -> np.ndarray:
        rows, n, single = self._states(at)
        if single and out is None and "wrench" not in rows and (done := self.fast_forward.row(rows)) is not None:
            return np.asarray(done)
        runner = self._runner(("qdd",), "wrench" in rows)
        qdd = self.evaluator.run(runner, rows, n)["qdd"] if runner else self.state_by_state(rows, n)[0]
        self.check_finite(qdd, rows, single)
        return unbatch(qdd, single, out)

    def multipliers(self, at: At) -> np.ndarray:
        _, _, single, lam = self._multipliers(at)
        return unbatch(lam, single, None)

    def solve(self, at: At) -> Solution:
        """Accelerations by the constraints, then kinetostatics with what the constraints do to the bodies."""
        rows, n, single = self._states(at)
        qdd, lam = self.solved(rows, n)
        self.check_finite(qdd, rows, single)
        vdot, R = self._statics(rows, n, qdd, lam)
        return Solution(*(unbatch(x, single, None) for x in (qdd, vdot, R)))

    def closing_reactions(self, at: At) -> Actions:
        rows, n, single, lam = self._multipliers(at)
        return self._by_name(rows, n, lam, single)

    def _multipliers(self, at: At) -> tuple[Rows, int, bool, np.ndarray]:
        """λ of the motion under given forces, with the states as rows."""
        rows, n, single = self._states(at)
        lam = self.solved(rows, n)[1]
        self.check_finite(lam, rows, single)
        return rows, n, single, lam

    def solved(self, rows: Rows, n: int) -> tuple[np.ndarray, np.ndarray]:
        """Accelerations, and multipliers of least norm; where they are eliminated one after another, least in another metric."""
        if not self.code.solves:
            if runner := self._runner(("qdd", "lam"), "wrench" in rows):
                found = self.evaluator.run(runner, rows, n)
                return found["qdd"], found["lam"]
            qdd, lam, J = self.state_by_state(rows, n)
            return qdd, least_multipliers(J, lam)
        found = self.evaluator.run(self.code.solution("qdd", "lam", "independent", wrenches="wrench" in rows), rows, n)
        lam, near_singular = found["lam"], ~(found["independent"][:, 0] > RANK_TOLERANCE)
        if near_singular.any():
            J, _ = self.constraint_values(_some(rows, near_singular), int(near_singular.sum()))
            lam[near_singular] = least_multipliers(J, lam[near_singular])
        return found["qdd"], lam

    def iterations(self, at: At) -> np.ndarray:
        assert self._memory is not None
        rows, n, single = self._states(at)
        found = np.empty((n, 2))
        for b, row in enumerate(each_state(rows, n)):
            self.state_by_state({key: x[None] for key, x in row.items()}, 1)
            found[b] = self._memory.report
        return unbatch(found, single, None)

    # --- forces from motion -------------------------------------------------------------------------------------------------
    def inverse(self, at: At, out: np.ndarray | None = None, actuated: Sequence[str] | None = None) -> np.ndarray:
        rows, n, single = self._states(at)
        tree = self.tree_forces(rows, n)
        self.check_finite(tree, rows, single)
        if actuated is None and self.code.compiles_rows:
            tau = self._least_forces(rows, n, tree, single)
        else:
            tau, _ = self._forces(rows, n, tree, actuated, single)
        self.check_finite(tau, rows, single)
        return unbatch(tau, single, out)

    def uncarried(self, Y: np.ndarray, rows: Rows, single: bool) -> np.ndarray:
        J, gamma = self.constraint_values(rows, len(Y))
        self._check_motion(rows, J, gamma, single)
        return without_carried(J, Y)

    def inverse_multipliers(self, at: At, actuated: Sequence[str] | None) -> tuple[Rows, int, bool, np.ndarray]:
        """λ of least norm of a given motion, with the states as rows."""
        rows, n, single = self._states(at)
        tree = self.tree_forces(rows, n)
        self.check_finite(tree, rows, single)
        tau, J = self._forces(rows, n, tree, actuated, single)
        self.check_finite(tau, rows, single)
        return rows, n, single, multipliers_of(J, tree - tau)

    def inverse_reactions(self, at: At, actuated: Sequence[str] | None = None) -> np.ndarray:
        rows, n, single, lam = self.inverse_multipliers(at, actuated)
        qdd = np.broadcast_to(rows["qdd"], (n, self.model.nv))
        return unbatch(self._statics(rows, n, qdd, lam)[1], single, None)

    def inverse_closing_reactions(self, at: At, actuated: Sequence[str] | None = None) -> Actions:
        rows, n, single, lam = self.inverse_multipliers(at, actuated)
        return self._by_name(rows, n, lam, single)

    def tree_forces(self, rows: Rows, n: int) -> np.ndarray:
        return self.evaluator.output("inverse", "tau", **self._given(rows, n))

    def _least_forces(self, rows: Rows, n: int, tree: np.ndarray, single: bool) -> np.ndarray:
        found = self.evaluator.run(self.code.least, rows | {"tau": tree}, n)
        self._check_consistent(found["left"], found["size"], single)
        tau, near_singular = found["least"], ~(found["independent"][:, 0] > RANK_TOLERANCE)
        if near_singular.any():
            J, _ = self.constraint_values(_some(rows, near_singular), int(near_singular.sum()))
            tau[near_singular] = forces_of(J, tree[near_singular])[0]
        return tau

    def _forces(
        self, rows: Rows, n: int, tree: np.ndarray, actuated: Sequence[str] | None, single: bool
    ) -> tuple[np.ndarray, np.ndarray]:
        """τ at the actuated joints, and J."""
        where = None if actuated is None else actuated_speeds(self.model, actuated)
        J, gamma = self.constraint_values(rows, n)
        self._check_motion(rows, J, gamma, single)
        tau, missing = forces_of(J, tree, where)
        if where is not None:
            check_produced(self.model, missing, tree, where, single)
        return tau, J

    def _check_motion(self, rows: Rows, J: np.ndarray, gamma: np.ndarray, single: bool) -> None:
        terms = J * np.broadcast_to(rows["qdd"], (len(J), self.model.nv))[:, None, :]
        self._check_consistent(terms.sum(axis=2) + gamma, np.abs(terms).sum(axis=2) + np.abs(gamma), single)

    def _check_consistent(self, left: np.ndarray, size: np.ndarray, single: bool) -> None:
        """Accelerations that violate the constraints are refused, with the constraint and by how much."""
        with np.errstate(invalid="ignore"):
            off = np.abs(left) > CONSISTENCY_TOLERANCE * size.max(axis=1, keepdims=True, initial=0.0) + 1e-9
        if not off.any():
            return
        b = int(off.any(axis=1).argmax())
        k = int(np.nanargmax(np.abs(left[b])))
        where, row = "" if single else f"state {b}: ", self.equations.table.rows[k]
        raise StateError(
            f"{where}a does not satisfy the constraints: {row} would be violated by "
            f"{row.amount(left[b, k], 2)}; choose consistent accelerations, such as those of forward"
        )

    # --- derivatives --------------------------------------------------------------------------------------------------------
    def forward_derivatives(self, at: At, wrt: Wrt) -> Derivatives:
        return self._derivatives.forward(at, wrt)

    def inverse_derivatives(self, at: At, wrt: Wrt) -> Derivatives:
        return self._derivatives.inverse(at, wrt)

    def reaction_derivatives(self, at: At, wrt: Wrt) -> Derivatives:
        names = check_wrt(wrt, ("q", "v", "tau"), self.evaluator)
        rows, n, single = self._states(at)
        qdd, lam = self.solved(rows, n)
        self.check_finite(qdd, rows, single)
        changes = self._derivatives.least_changes(rows, n, qdd, lam, names)
        steps = {name: {"qdd": da.swapaxes(1, 2), "lam": dlam.swapaxes(1, 2)} for name, (da, dlam) in changes.items()}
        R = unbatch(self._statics(rows, n, qdd, lam)[1], single, None)
        return reaction_derivatives(self._statics_code, R, rows | {"qdd": qdd, "lam": lam}, n, single, steps)

    @cached_property
    def _derivatives(self) -> ConstrainedDerivatives:
        return ConstrainedDerivatives(self)

    @cached_property
    def _statics_code(self) -> JacobianCode:
        return statics_code(self.evaluator, self.code)

    # --- other questions ----------------------------------------------------------------------------------------------------
    def reactions(self, at: At) -> np.ndarray:
        return self.solve(at).R

    def constraint_rows(self) -> list[str]:
        return [str(row) for row in self.equations.table.rows]

    def momentum_rates(self, at: At) -> NoReturn:
        raise MethodError("the form in momenta does not handle closed loops and constraints; use forward")

    def count_forward(self, compiled: bool, step: float | None = None) -> Count:
        if self.equations.form or self.equations.iterates:
            raise self.evaluator.nothing_to_count()
        if not self.equations.is_small:
            raise MethodError(
                f"nothing to count for 'forward': model {self.model.name!r} with its {len(self.equations.table)} constraint rows "
                "is too large to be compiled to one graph"
            )
        if not compiled:
            raise MethodError("the equations with constraints are counted once compiled to one graph: count(compiled=True)")
        return count_compiled(self.code.solution("qdd").traced)

    # --- inside -------------------------------------------------------------------------------------------------------------
    def _states(self, at: At) -> tuple[Rows, int, bool]:
        found = self.evaluator.arguments.states(at)
        if at["q"] is None or isinstance(at["q"], Mapping):
            self._check_closed(found[0])
        return found

    def _check_closed(self, rows: Rows) -> None:
        """Refuse open loops in a position given by name, or not at all. Arrays are taken as they are: to look at them would cost
        more than the answer, and differences are taken off the constraints on purpose."""
        table, q, t = self.equations.table, rows["q"][0], float(rows["t"][0].flat[0])
        parameters = rows["parameter"][0] if "parameter" in rows else ()
        g = table.evaluate(q, np.zeros(self.model.nv), t, parameters)["g"]
        if (np.abs(g) > OPEN * table.scale.of_rows(q)[: len(g)]).any():
            row, gap = table.worst(g)
            raise StateError(
                f"the loops are open in this position: {row} is off by {off_by(self.model, row, gap)}; assemble it first, "
                "q, v = model.assemble(q, v, fixed=[…])"
            )

    def state_by_state(self, rows: Rows, n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """qdd, lam and J."""
        m, nv = len(self.equations.table), self.model.nv
        qdd, lam, J = np.empty((n, nv)), np.empty((n, m)), np.empty((n, m, nv))
        for b, row in enumerate(each_state(rows, n)):
            motion = row["q"], row["v"], row["tau"], float(row["t"][0])
            c = self.equations.solve(*motion, row.get("wrench"), row.get("parameter"), memory=self._memory)
            qdd[b], lam[b], J[b] = c.qdd, c.lam, c.J
        return qdd, lam, J

    def constraint_values(self, rows: Rows, n: int) -> tuple[np.ndarray, np.ndarray]:
        """J and γ of every state."""
        if self.code.compiles_rows:
            found = self.evaluator.run(self.code.rows, rows, n)
            return found["J"], found["gamma"]
        m, nv = len(self.equations.table), self.model.nv
        J, gamma = np.empty((n, m, nv)), np.empty((n, m))
        for b, row in enumerate(each_state(rows, n)):
            now = self.equations.table.evaluate(row["q"], row["v"], float(row["t"][0]), row.get("parameter", ()))
            J[b], gamma[b] = now["J"], now["gamma"]
        return J, gamma

    def _statics(self, rows: Rows, n: int, qdd: np.ndarray, lam: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Accelerations of bodies and reactions of the tree's joints, constraint forces acting as wrenches."""
        loads = self._loads(rows, n, lam)
        if "wrench" in rows:
            loads += rows["wrench"].reshape(-1, *loads.shape[1:])
        given = self._given(rows, n) | {"qdd": qdd, "wrench": loads[:, 1:]}
        found = self.evaluator.outputs("kinetostatics", ("vdot", "R"), **given)
        return found["vdot"][:, 1:], found["R"][:, 1:]

    def _loads(self, rows: Rows, n: int, lam: np.ndarray) -> np.ndarray:
        """(n, N + 1, 6): wrenches of the multipliers on the bodies."""
        if self.code.compiles_rows:
            return self.evaluator.run(self.code.loads, rows | {"lam": lam}, n)["loads"]
        loads = np.zeros((n, len(self.model.bodies) + 1, 6))
        for bodies in self._by_name(rows, n, lam, False).values():
            for body, wrench in bodies.items():
                loads[:, self.model.body_index(body) + 1] += wrench
        return loads

    def _by_name(self, rows: Rows, n: int, lam: np.ndarray, single: bool) -> Actions:
        """{constraint: {body: (n, 6)}}, all states at once."""
        if self.equations.table.is_large:
            q, v, t = (np.broadcast_to(rows[name], (n, rows[name].shape[1])) for name in ("q", "v", "t"))
            found = self.equations.table.wrench_rows(q, v, t, rows.get("parameter"), lam)
        else:
            wrenches = self.equations.table.wrenches(self.evaluator.motion_of(rows, n), list(lam.T))
            found = {name: {body: _columns(x, n) for body, x in bodies.items()} for name, bodies in wrenches.items()}
        return {name: {body: unbatch(x, single, None) for body, x in bodies.items()} for name, bodies in found.items()}

    def _given(self, rows: Rows, n: int) -> dict[str, Any]:
        """Rows as arguments of a caller: what all states share without a batch axis."""
        out: dict[str, Any] = {key: x if len(x) == n else x[0] for key, x in rows.items()}
        out["t"] = rows["t"][:, 0] if len(rows["t"]) == n else float(rows["t"][0, 0])
        if "wrench" in rows:
            out["wrench"] = out["wrench"].reshape(*out["wrench"].shape[:-1], len(self.model.bodies) + 1, 6)[..., 1:, :]
        return out

    def check_finite(self, found: np.ndarray, rows: Rows, single: bool) -> None:
        if single and not np.isfinite(found).all():
            self.evaluator.diagnose({key: x for key, x in self._given(rows, 0).items() if key != "wrench" or x is not None})


def _some(rows: Rows, chosen: np.ndarray) -> Rows:
    return {key: x[chosen] if len(x) == len(chosen) else x for key, x in rows.items()}


def _columns(x: Sequence[Any], n: int) -> np.ndarray:
    return np.array([np.broadcast_to(part, n) for part in x], dtype=float).T.reshape(n, 6)
