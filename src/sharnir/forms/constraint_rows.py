"""The rows J q̈ + γ = 0 of a model's constraints, by the chain rule over the motion of its bodies.

A constraint is a function of poses, velocities, coordinates and time. Its derivatives by these are taken from its traced
expression; how these move with the speeds is what the papers' matrices say: B, ψ, and N of q̇ = N v.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ..errors import SingularError
from ..model.constraints.constraint_element import Constraint, SpeedConstraint
from ..model.model import Model
from ..model.motion import Motion
from ..model.per_structure import per_structure
from ..model.structure import Structure
from ..trace import Expression, Graph, Number, call_traced, check_numbers, tangent
from .blocks import dense
from .jets import hat
from .matrices import Matrices

Rows = tuple[np.ndarray, np.ndarray]
"""J (m×n) and γ (m)."""
OF_SPEED = ("v", "velocity")


class Moving(NamedTuple):
    """A quantity that constraints read, flat, and how it moves."""

    value: np.ndarray
    first: np.ndarray
    """Its rate; of a velocity, at q̈ = 0."""
    second: np.ndarray
    """Its second derivative at q̈ = 0; of a velocity not needed."""
    slope: np.ndarray
    """(size, n): how its rate depends on the speeds; of a velocity, how it depends on them itself."""


def constraint_rows(m: Matrices, joints: bool = True) -> Rows:
    """Rows of position first, then rows of speeds, in the order of the model's constraints; those of cut joints where wanted."""
    quantities = _quantities(m)
    cut = set() if joints else {joint.name for joint in m.closing_joints}
    found = [one.rows(quantities) for name, one in traced_constraints(m.model).items() if name not in cut]
    ordered = [first for first, _ in found] + [second for _, second in found]
    return np.vstack([np.zeros((0, m.n)), *(J for J, _ in ordered)]), np.concatenate([np.zeros(0), *(g for _, g in ordered)])


def speed_rows(m: Matrices, function: Callable[[Motion], Any], label: str) -> Rows:
    """W and γ of numbers π that a function of the motion returns, linear in speeds: π̇ = W q̈ + γ."""
    return TracedConstraint(m.structure, label, SpeedConstraint(function)).rows(_quantities(m))[1]


class TracedConstraint:
    """One constraint with its gradient and its second derivative in time, as expressions of what it reads."""

    def __init__(self, structure: Structure, label: str, constraint: Constraint) -> None:
        graph = Graph()
        on = Motion(structure, graph, reads_states=False)
        rows = [*call_traced(constraint.positions, [on], label)]
        self.label, self.n_positions = label, len(rows)
        n = self.n_positions
        rows += call_traced(constraint.speeds, [on], label)
        values = check_numbers([x for _, x in rows], graph, label)
        self.n_rows, self.keys = len(values), list(on.inputs)
        x = list(on.inputs.values())
        first, second = graph.inputs(len(x)), graph.inputs(len(x))
        flow = list(zip(x, first, strict=True))
        gamma = tangent(tangent(values[:n], flow), [*flow, *zip(first, second, strict=True)]) + tangent(values[n:], flow)
        gradient: list[Number] = [y for s in x for y in tangent(values, [(s, 1.0)])]
        self._expression = Expression(graph, [*x, *first, *second], [*gamma, *gradient])

    def rows(self, quantities: dict[str, Moving]) -> tuple[Rows, Rows]:
        """(J, γ) of the rows of position, and of the rows of speeds."""
        read = [[getattr(quantities[kind], part)[k] for kind, k in self.keys] for part in ("value", "first", "second")]
        found = np.array(self._expression(*(float(x) for part in read for x in part)), dtype=float)
        if not np.isfinite(found).all():
            raise SingularError(f"{self.label} is not finite: it is not defined in this position")
        gamma, gradient = found[: self.n_rows], found[self.n_rows :].reshape(len(self.keys), self.n_rows).T
        slope = np.array([quantities[kind].slope[k] for kind, k in self.keys]).reshape(len(self.keys), -1)
        of_speed = np.array([kind in OF_SPEED for kind, _ in self.keys], dtype=bool)
        n = self.n_positions
        J_position = gradient[:n, ~of_speed] @ slope[~of_speed]
        return (J_position, gamma[:n]), (gradient[n:, of_speed] @ slope[of_speed], gamma[n:])


@per_structure
def traced_constraints(model: Model) -> dict[str, TracedConstraint]:
    """The constraints of a model by name, traced once."""
    return {name: TracedConstraint(model.structure, f"constraint {name!r}", one) for name, one in model.constraints.items()}


def _quantities(m: Matrices) -> dict[str, Moving]:
    n, parameters = m.n, np.array(list(m.structure.parameters.values()), dtype=float)
    bodies = m.motion
    G, V = bodies["G"].reshape(-1, 3, 3), bodies["velocity"]
    R = G.transpose(0, 2, 1)
    a = np.vstack([m.base_acceleration, m.psi.reshape(-1, 6)])
    B = np.vstack([np.zeros((6, n)), dense(m.B)]).reshape(-1, 6, n)
    W, E = hat(V)[:, :3, :3], hat(a)[:, :3, :3]
    spins = hat(np.moveaxis(B, 1, 2))[..., :3, :3]  # (bodies, n, 3, 3)
    G_slope = np.moveaxis(-spins @ G[:, None], 1, -1).reshape(-1, n)
    components = a - np.concatenate([np.cross(V[:, 3:], V[:, :3]), np.zeros((len(V), 3))], axis=1)

    def constant(x: np.ndarray, slope: np.ndarray | None = None) -> Moving:
        return Moving(x, np.zeros_like(x), np.zeros_like(x), np.zeros((len(x), n)) if slope is None else slope)

    return {
        "t": Moving(np.array([m.t]), np.ones(1), np.zeros(1), np.zeros((1, n))),
        "parameter": constant(parameters),
        "q": Moving(m.q, *m.coordinate_rates),
        "v": constant(m.v_q, np.eye(n)),
        "r": Moving(bodies["r"].ravel(), _to_world(R, V), _to_world(R, a), (R @ B[:, :3]).reshape(-1, n)),
        "G": Moving(G.ravel(), (-W @ G).ravel(), ((W @ W - E) @ G).ravel(), G_slope),
        "velocity": Moving(V.ravel(), components.ravel(), np.zeros(V.size), B.reshape(-1, n)),
    }


def _to_world(R: np.ndarray, x: np.ndarray) -> np.ndarray:
    """The linear parts of motions (bodies × 6), world axes, flat."""
    return (R @ x[:, :3, None]).ravel()
