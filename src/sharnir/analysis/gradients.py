"""Exact derivatives of functions of the motion: by displacements ξ (δq = N ξ), by speeds, and by states of forces."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from scipy.linalg import block_diag

from ..dynamics import Dynamics
from ..equations.rows.evaluation import state_inputs, with_bodies
from ..trace import Expression, Graph, Number, tangent

Gradients = tuple[np.ndarray, np.ndarray, np.ndarray]
"""(rows, nv) by ξ, (rows, nv) by v, (rows, states) by states of forces."""


def gradients(
    d: Dynamics,
    state: tuple[np.ndarray, np.ndarray, float],
    N: np.ndarray,
    functions: Callable[[dict[str, Any]], Sequence[Number]],
) -> Gradients:
    """`functions`: of the motion as flat lists t, q, v, parameter, r, G, velocity; all in one graph."""
    s, (q, v, t) = d.structure, state
    graph = Graph()
    inputs = state_inputs(s, graph)
    outputs = functions(with_bodies(s, inputs))
    moved = [*inputs["q"], *inputs["v"], *inputs["parameter"][s.first_state :]]
    seeds = graph.inputs(len(moved))
    slopes = Expression(
        graph, [*(x for group in inputs.values() for x in group), *seeds], tangent(outputs, list(zip(moved, seeds, strict=True)))
    )
    n, nz = len(v), len(s.states)
    directions = block_diag(N, np.eye(n), np.eye(nz))
    found = slopes(*q.tolist(), *v.tolist(), *s.parameters.values(), t, *directions)
    rows = np.array([np.broadcast_to(np.asarray(x, dtype=float), 2 * n + nz) for x in found]).reshape(len(outputs), 2 * n + nz)
    return rows[:, :n], rows[:, n : 2 * n], rows[:, 2 * n :]
