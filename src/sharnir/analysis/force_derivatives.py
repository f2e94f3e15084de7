"""Exact derivatives of h(q, v, t) − J(q)ᵀλ with respect to q, in the tangent, and to v."""

from __future__ import annotations

import numpy as np

from ..dynamics import Dynamics
from ..equations.rows.constraint_table import ConstraintTable
from ..solvers.tree import TreeSolver
from .tangent import rate_matrix


def force_derivatives(d: Dynamics, table: ConstraintTable | None) -> ForceDerivatives:
    """Those of a model, made once: tracing takes longer than many searches."""
    cached, key = d.structure.cached, ("force derivatives", str(d.formulation.programs.store.folder))
    if key not in cached:
        cached[key] = ForceDerivatives(d, table)
    found: ForceDerivatives = cached[key]
    return found


class ForceDerivatives:
    """Of one model; with constraints, of its spanning tree and of the forces of given multipliers."""

    def __init__(self, d: Dynamics, table: ConstraintTable | None) -> None:
        self.d, self.table = d, table
        self._tree = TreeSolver(d.solver.evaluator)

    def __call__(self, q: np.ndarray, v: np.ndarray, lam: np.ndarray, t: float) -> tuple[np.ndarray, np.ndarray]:
        """(nv, nv) each."""
        found = self._tree.inverse_derivatives(q, v, np.zeros_like(v), t, ("q", "v"), None)
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
