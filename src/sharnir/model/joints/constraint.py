"""A joint of the user's own, given by its constraints."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ...errors import ModelError
from ...kernels import algebra
from ...kernels.joint_stage import GIVEN
from ...trace import Expression, Graph, Number, call_traced, check_numbers, has_parameters, tangent
from ..element import element, element_field
from ..formulas import ConstraintFormula
from ..pose import Pose, Rotation, quaternion_of
from ..values import HERE, NamedFormula, PoseValue
from .closing_rows import Row
from .joint_type import ElementaryMotion, Joint
from .traced import TWIST, Segment, motion_values, pose_segment

NEWTON_STEPS = 3
"""Steps back onto the constraints: an error of 1e-2, as after a coarse step of Euler, is then at rounding."""


@element("constraint")
class ConstraintJoint(Joint):
    """A joint given by its constraints: `constraints(pose, t)` returns m numbers that are zero for the poses it allows.

    The orthogonal basis Z comes first, by differentiation; the tangent basis A follows from it (theory J5).
    Coordinates are those of a free joint (position, quaternion); the 6 − m speeds are those components of the relative
    velocity (in the moved axes, vx vy vz wx wy wz) that determine the others best at the start.
    """

    constraints: Callable[[Pose, Any], Any] = element_field(
        NamedFormula(ConstraintFormula, several=True, example="sharnir.ConstraintFormula('x*x + y*y - 1', …)"),
        meaning="one to six functions that are zero: of x y z, of the entries rxx rxy … rzz of the rotation, and of t",
    )
    start: Pose = element_field(PoseValue(), default=HERE, meaning="a pose that satisfies the constraints at t = 0")
    coordinates = ("x", "y", "z", "qw", "qx", "qy", "qz")

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.motion is not None:
            raise ModelError(f"{self.label}: put the drive into the constraints, they may depend on t")
        self.__dict__["independent"] = self._partition()

    if TYPE_CHECKING:
        independent: ClassVar[tuple[int, ...]]
        """Components of the relative velocity that are the speeds of the joint."""
        _values: ClassVar[Expression]
        """The constraints as functions of coordinates and time."""

    def closing_rows(self, pose: Pose, t: Number, label: str) -> Sequence[Row]:
        values = self.constraints(pose, t)
        return [(f"constraint {k + 1}", x) for k, x in enumerate(values if hasattr(values, "__len__") else [values])]

    def motions(self, label: str) -> list[ElementaryMotion]:
        n = len(self.independent)
        return [ElementaryMotion(GIVEN, nq=7, nv=n, given=self._expression(label))]

    def q_names(self) -> tuple[str, ...]:
        return self.coordinates

    def v_names(self) -> tuple[str, ...]:
        return tuple(TWIST[k] for k in self.independent)

    @property
    def speeds(self) -> tuple[str, ...]:
        return self.v_names()

    def segments(self, label: str) -> list[Segment]:
        return [pose_segment(self.coordinates, self.speeds)]

    def quaternions(self) -> tuple[int, ...]:
        return (3,)

    def neutral(self) -> tuple[float, ...]:
        return (*self.start.position, *quaternion_of(self.start.rotation))

    def random(self, rng: np.random.Generator) -> list[float]:
        """The start: any other position would have to be found by solving the constraints."""
        return list(self.neutral())

    @property
    def projects_onto_constraints(self) -> bool:
        return True

    def normalize(self, q: Sequence[Number], t: Number) -> list[Number]:
        """The quaternion of length one, and steps of Newton's method, each of least length, back onto the constraints."""
        graph, symbols, time, rows, _ = self._constraint_rows(self.label)
        gaps_and_rows = Expression(graph, [*symbols, time], [*self._values.outputs, *(x for row in rows for x in row)])
        q = super().normalize(q, t)
        for _ in range(NEWTON_STEPS):
            q = self._nearer(gaps_and_rows(*q, t), len(rows), q, t)
        return q

    def _nearer(self, flat: Sequence[Number], m: int, q: Sequence[Number], t: Number) -> list[Number]:
        """`flat`: the values of the m constraints at q, and Zᵀ."""
        gap, Z = flat[:m], [flat[m + 6 * k : m + 6 * k + 6] for k in range(m)]
        square = [[sum((x * y for x, y in zip(a, b, strict=True)), 0.0) for b in Z] for a in Z]
        push = _solve(square, list(gap), list(range(m)))
        twist = tuple(-sum((x * row[k] for x, row in zip(push, Z, strict=True)), 0.0) for k in range(6))
        turned = Rotation.quaternion(*q[3:]).entries
        place = algebra.add(q[:3], algebra.mv(turned, twist[:3]))
        spin = algebra.quaternion_rate(q[3], q[4], q[5], q[6], twist[3:])
        return super().normalize([*place, *(x + dx for x, dx in zip(q[3:], spin, strict=True))], t)

    # --- the two bases --------------------------------------------------------------------------------------------------
    def _constraint_rows(self, label: str) -> tuple[Graph, Any, Any, list[tuple[Number, ...]], tuple[Number, ...]]:
        """Graph, coordinates, time, the rows of Zᵀ (m × 6) and ∂ξ/∂t."""
        graph = Graph()
        q, t = graph.inputs(7), graph.input()
        pose = Pose(q[:3], Rotation.quaternion(*q[3:]))
        values = call_traced(self.constraints, (pose, t), f"{label}: the constraints")
        values = check_numbers(values if hasattr(values, "__len__") else [values], graph, f"{label}: the constraints")
        if graph.parameters or has_parameters((*self.start.position, *self.start.rotation.entries)):
            raise ModelError(
                f"{label}: its constraints cannot depend on a parameter; use a Free joint and Model.add_constraint in its place"
            )
        if not 1 <= len(values) <= 6:
            raise ModelError(f"{label}: between 1 and 6 constraints make a joint, got {len(values)}")
        columns = [tangent(values, list(zip(q, _rates(q, pose, k), strict=True))) for k in range(6)]  # (J4)
        rows = [tuple(column[j] for column in columns) for j in range(len(values))]
        self.__dict__["_values"] = Expression(graph, [*q, t], values)
        return graph, q, t, rows, tangent(values, [(t, 1.0)])

    def _partition(self) -> tuple[int, ...]:
        """Components of the velocity that determine the others: the complement of the best pivots of Zᵀ at the start."""
        label = self.label
        graph, q, t, rows, _ = self._constraint_rows(label)
        at = (*self.neutral(), 0.0)
        gap = np.array(self._values(*at), dtype=float)
        if not np.abs(gap).max() < 1e-9:
            worst = np.abs(gap).max()
            raise ModelError(f"{label}: the start pose breaks its constraints by {worst:.3g}; give a `start` that meets them")
        Z = np.array(Expression(graph, [*q, t], [x for row in rows for x in row])(*at), dtype=float).reshape(len(rows), 6)
        left, dependent = Z.copy(), list[int]()
        for _ in range(len(rows)):  # Gauss with full pivoting
            i, j = np.unravel_index(np.abs(left).argmax(), left.shape)
            if abs(left[i, j]) < 1e-9 * max(1.0, np.abs(Z).max()):
                raise ModelError(f"{label}: only {len(dependent)} of its {len(rows)} constraints are independent at the start")
            dependent.append(int(j))
            left = left - np.outer(left[:, j] / left[i, j], left[i])
        return tuple(k for k in range(6) if k not in dependent)

    def _expression(self, label: str) -> Expression:
        graph, q, t, rows, by_time = self._constraint_rows(label)
        dependent = [k for k in range(6) if k not in self.independent]
        u = graph.inputs(len(self.independent))
        velocity: list[Number] = [0.0] * 6
        right = []
        for row, rate in zip(rows, by_time, strict=True):  # Zᵀv = −∂ξ/∂t, the free components given  (J5)
            known = rate
            for k, speed in zip(self.independent, u, strict=True):
                known = known + row[k] * speed
            right.append(-known)
        for k, speed in zip(self.independent, u, strict=True):
            velocity[k] = speed
        matrix = [[row[k] for k in dependent] for row in rows]
        order = self._pivot_rows(graph, q, t, matrix)
        for k, x in zip(dependent, _solve(matrix, right, order), strict=True):
            velocity[k] = x
        pose = Pose(q[:3], Rotation.quaternion(*q[3:]))
        v = tuple(velocity)
        entries = pose.rotation.entries
        rates = (*algebra.mv(entries, v[:3]), *algebra.quaternion_rate(q[3], q[4], q[5], q[6], v[3:]))
        flow = [*zip(q, rates, strict=True), (t, 1.0)]
        return Expression(graph, [*q, *u, t], motion_values(pose.position, entries, v, u, rates, flow))

    def _pivot_rows(self, graph: Graph, q: Any, t: Any, matrix: list[list[Number]]) -> list[int]:
        """The pivot rows of Gaussian elimination at the start: the traced elimination cannot branch on values."""
        m = len(matrix)
        flat = Expression(graph, [*q, t], [x for row in matrix for x in row])(*self.neutral(), 0.0)
        left, order = np.array(flat, dtype=float).reshape(m, m), []
        for k in range(m):
            i = max((i for i in range(m) if i not in order), key=lambda i: abs(left[i, k]))
            order.append(i)
            for j in range(m):
                if j not in order:
                    left[j] -= left[i] * (left[j, k] / left[i, k])
        return order


def _rates(q: Any, pose: Pose, k: int) -> tuple[Number, ...]:
    """Rates of position and quaternion when the k-th component of the velocity (moved axes) is one."""
    unit = tuple(1.0 if j == k else 0.0 for j in range(6))
    return (*algebra.mv(pose.rotation.entries, unit[:3]), *algebra.quaternion_rate(q[3], q[4], q[5], q[6], unit[3:]))


def _solve(matrix: list[list[Number]], right: list[Number], order: list[int]) -> list[Number]:
    """Gaussian elimination on generic scalars, rows in the given order."""
    a = [[*matrix[i], right[i]] for i in order]
    m = len(a)
    for k in range(m):
        for i in range(k + 1, m):
            factor = a[i][k] / a[k][k]
            a[i] = [x - factor * y for x, y in zip(a[i], a[k], strict=True)]
    x: list[Number] = [0.0] * m
    for k in range(m - 1, -1, -1):
        rest = a[k][m]
        for j in range(k + 1, m):
            rest = rest - a[k][j] * x[j]
        x[k] = rest / a[k][k]
    return x
