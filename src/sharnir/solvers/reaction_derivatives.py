"""Derivatives of reactions: statics of a given motion, differentiated along the changes of that motion.

R follows from q, v, a and, with constraints, from λ. A column of its derivative is its change along one direction of all of
them: (N e_j, 0, ∂a/∂q_j, ∂λ/∂q_j) for q. See docs/theory/derivatives_closed.md (DC10).
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ..backends.traced import TracedProgram
from ..equations.rows.evaluation import evaluate, state_inputs, traced_program
from ..trace import Graph
from .constrained_code import ConstrainedCode
from .evaluator import Evaluator
from .jacobian_code import JacobianCode

Changes = Mapping[str, Mapping[str, np.ndarray]]
"""Changes by name of `wrt`: those (n, columns, size) of qdd and, with constraints, of lam."""


def statics_code(evaluator: Evaluator, constrained: ConstrainedCode | None = None) -> JacobianCode:
    """q, v, qdd, [lam,] t → R, the base's row first."""
    s = evaluator.structure

    def trace(graph: Graph) -> TracedProgram:
        more = {} if constrained is None else {"lam": len(constrained.equations.table)}
        values = state_inputs(s, graph, qdd=s.nv, **more)
        wrench = [0.0] * (6 * (s.nb + 1)) if constrained is None else constrained.wrenches(values).ravel().tolist()
        return traced_program(values, {"R": evaluate(s, "kinetostatics", {**values, "wrench": wrench}).R.ravel()})

    return JacobianCode(evaluator, "derivatives of reactions", trace, ("R",))


def reaction_changes(code: JacobianCode, rows: Mapping[str, np.ndarray], n: int, changes: Changes) -> dict[str, np.ndarray]:
    """Derivatives of R by name of `wrt`: (n, N, 6, columns)."""
    nv, found = code.structure.nv, {}
    for name, moved in changes.items():
        columns = next(iter(moved.values())).shape[1]
        steps = {key: np.zeros((n, columns, nv)) for key in ("q", "v")} | dict(moved)
        if name in steps or name == "parameter":
            steps[name] = np.broadcast_to(np.eye(columns), (n, columns, columns))
        R = code.along(rows, n, steps)["R"].reshape(n, columns, code.structure.nb + 1, 6)[:, :, 1:]
        found[name] = np.ascontiguousarray(np.moveaxis(R, 1, -1))
    return found
