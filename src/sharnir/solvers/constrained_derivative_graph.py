"""Accelerations of a closed system and their derivatives as one graph, for small models: nothing runs between its parts.

The residuals are differentiated at fixed a and λ in a graph of their own, then repeated with the solution in their place; the
columns are solved with the factors that a and λ were found by.  docs/theory/derivatives_closed.md (DC5)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..backends.differentiated import evaluated
from ..backends.link import relink
from ..backends.traced import TracedProgram
from ..equations.kernels.solution import ConstrainedState
from ..equations.motion.constrained import ConstrainedEquations
from ..kernels.cholesky import substitute
from ..kernels.constrained import constraint_forces, least_pivot, pushed
from ..trace import Graph

LIMIT = 20_000
"""Nodes, beyond which derivatives are made of several parts."""


def forward_graph(equations: ConstrainedEquations, residuals: TracedProgram, wrt: Sequence[str]) -> TracedProgram:
    """`equations` by an inertia matrix:

    q, v, tau, parameter, t → qdd, lam, `independent` (the least pivot of S) and, as "dq" …, derivatives of qdd.

    `residuals`: r and s with their Jacobians at fixed a and λ. More than LIMIT nodes raise GraphTooLarge.
    """
    graph = Graph(LIMIT)
    inputs: dict[str, Any] = equations.inputs(graph)
    c = equations.accelerations(inputs)
    found = evaluated(residuals, {**inputs, "qdd": c.qdd, "lam": c.lam})
    n, m = equations.sizes["n"], equations.sizes["m"]
    M, Z = c.M, _responses(c, m, n)
    outputs: dict[str, Any] = {"qdd": tuple(c.qdd), "lam": tuple(c.lam), "independent": (relink(least_pivot)(c.S, c.L),)}
    for name in wrt:
        if name == "tau":
            right, gamma = np.eye(n).astype(object), np.full((m, n), 0.0, dtype=object)
        else:
            columns = found[f"r/{name}"].size // max(n, 1)
            right, gamma = -1.0 * found[f"r/{name}"].reshape(n, columns), found[f"s/{name}"].reshape(m, columns)
        for column in right.T:
            relink(substitute)(M, column, n)
        outputs[f"d{name}"] = tuple((right - Z.T @ (gamma + c.J @ right) if m else right).ravel())
    return TracedProgram(graph, {name: x for name, x in inputs.items() if x or name != "parameter"}, outputs)


def _responses(c: ConstrainedState, m: int, n: int) -> np.ndarray:
    """Row k: the accelerations by the constraint forces that a unit on the right of row k causes."""
    Z = np.full((m, n), 0.0, dtype=object)
    for k in range(m):
        unit, work, lam = (np.full(m, 0.0, dtype=object) for _ in range(3))
        unit[k] = 1.0
        relink(constraint_forces)(c.S, c.L, unit, work, lam)
        relink(pushed)(c.W, lam, 1.0, Z[k])
    return Z
