"""The motion of a tree linearised: how small displacements and changes of the speeds evolve, constraints not yet imposed.

The state near (q, v) is (ξ, δv): ξ displaces the coordinates as speeds do, δq = N(q) ξ. docs/theory/linearization.md
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import block_diag

from ..backends.run import evaluate, with_bodies
from ..backends.traced import new_inputs, state_inputs
from ..dynamics import Dynamics
from ..equations.motion.retraction import is_redundant
from ..model.structure import Structure
from ..trace import Expression, Graph, Number, tangent
from .tangent_space import rate_matrix

# --- exact derivatives of functions of the motion: by displacements ξ (δq = N ξ), by speeds, and by states of forces
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


# --- vector field
@dataclass(frozen=True)
class VectorField:
    """ξ̇ = K ξ + δv;  δv̇ = a_q ξ + a_v δv + a_z δz + a_tau δτ;  δż = z_q ξ + z_v δv + z_z δz, at one state.

    z: states of forces."""

    N: np.ndarray
    """(nq, nv): q̇ = N v + …"""
    K: np.ndarray
    """(nv, nv): how the axes of the displacements turn along the motion; zero where q̇ = v."""
    a: np.ndarray
    a_q: np.ndarray
    a_v: np.ndarray
    a_tau: np.ndarray
    a_z: np.ndarray
    z: np.ndarray
    """(nz,): rates of states of forces."""
    z_q: np.ndarray
    z_v: np.ndarray
    z_z: np.ndarray

    @property
    def F(self) -> np.ndarray:
        """(2nv + nz, 2nv + nz): the rate of (ξ, δv, δz)."""
        n, nz = len(self.a), len(self.z)
        return np.block([[self.K, np.eye(n), np.zeros((n, nz))], [self.a_q, self.a_v, self.a_z], [self.z_q, self.z_v, self.z_z]])


def vector_field(d: Dynamics, q: np.ndarray, v: np.ndarray, tau: np.ndarray, t: float) -> VectorField:
    s = d.structure
    wrt = ("q", "v", "tau", "parameters") if s.states else ("q", "v", "tau")
    found = d.forward_derivatives(q, v, tau, t, wrt)
    assert found.dq is not None and found.dv is not None and found.dtau is not None
    N, n = rate_matrix(d, q, t), len(v)
    a_z, rates = np.zeros((n, 0)), np.zeros(0)
    z_q, z_v, z_z = np.zeros((0, n)), np.zeros((0, n)), np.zeros((0, 0))
    if s.states:
        assert found.dparameters is not None
        a_z, rates = found.dparameters[:, s.first_state :], d.state_rates(q, v, t)
        z_q, z_v, z_z = gradients(d, (q, v, t), N, s.forces.rates)
    return VectorField(N, turning(d, q, v, t), found.value, found.dq, found.dv, found.dtau, a_z, rates, z_q, z_v, z_z)


def turning(d: Dynamics, q: np.ndarray, v: np.ndarray, t: float) -> np.ndarray:
    """K: the bracket of the motion with the displacements, N K = ∂(Nv + n)/∂q N − Ṅ.                              (S3)

    It belongs to joints with quaternions alone; there it is exact, by differentiation of the rates.
    """
    s, K = d.structure, np.zeros((len(v), len(v)))
    if not is_redundant(d.model):
        return K
    for i, joint in enumerate(s.placed):
        if joint.nv and joint.type.quaternions():
            here = slice(int(s.v_first[i + 1]), int(s.v_first[i + 2]))
            N, bracket = _bracket(s, i, q, v, t)
            K[here, here] = np.linalg.lstsq(N, bracket, rcond=None)[0]
    return K


def _bracket(s: Structure, i: int, q: np.ndarray, v: np.ndarray, t: float) -> tuple[np.ndarray, np.ndarray]:
    """N of one joint and, column by column, ∂q̇/∂q N − Ṅ."""
    graph = Graph()
    inputs = new_inputs(graph, q=s.nq, v=s.nv, t=1)
    rates = list(evaluate(s, "rates", inputs).rate)
    flow = [*zip(inputs["q"], rates, strict=True), (inputs["t"][0], 1.0)]
    first, last = int(s.q_first[i + 1]), int(s.q_first[i + 2])
    own, flat = rates[first:last], list[Number]()
    speeds = inputs["v"][int(s.v_first[i + 1]) : int(s.v_first[i + 2])]
    for speed in speeds:
        column = tangent(own, [(speed, 1.0)])
        along = tangent(own, list(zip(inputs["q"][first:last], column, strict=True)))
        flat += [*column, *(x - y for x, y in zip(along, tangent(column, flow), strict=True))]
    values = Expression(graph, [x for group in inputs.values() for x in group], flat)(*q.tolist(), *v.tolist(), t)
    both = np.array(values, dtype=float).reshape(len(speeds), 2, last - first)
    return both[:, 0].T, both[:, 1].T
