"""A deformed body in the tree: how its places move with the elastic coordinates, and what they add to its inertia.

A point that stands at x in the undeformed body stands at y = x + Φe + ½Γee, and the section there is turned by the rotation with
Cayley's vector ½Ψe: a rotation however large, equal to the turn by Ψe up to terms of third order. docs/theory/flexible.md
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..kernels.algebra import add, cross, dot, scale
from ..trace import Expression, Graph, Number, is_zero
from .joints.traced import moved_frame
from .pose import Pose, Rotation

if TYPE_CHECKING:
    from .flexible import Shapes

Vector = Sequence[Number]


@dataclass(frozen=True)
class Deformation:
    """The deformation of a body of a structure."""

    body: int
    """The row of the body: its frame, which carries the undeformed mass."""
    row: int
    """The row of the elastic coordinates."""
    shapes: Shapes

    @property
    def n(self) -> int:
        return len(self.shapes.names)


@dataclass(frozen=True)
class Place:
    """A place of a deformed body in the body's axes, on numbers of any kind."""

    position: Vector
    turn: Vector
    """Cayley's vector of its rotation."""
    columns: Sequence[tuple[Vector, Vector]]
    """Velocity and angular velocity per unit of every elastic speed."""

    @property
    def rotation(self) -> Rotation:
        return cayley(self.turn)

    def velocity(self, rates: Vector) -> tuple[Vector, Vector]:
        """Velocity and angular velocity relative to the body's frame."""
        u: Vector = (0.0, 0.0, 0.0)
        w: Vector = (0.0, 0.0, 0.0)
        for (linear, angular), s in zip(self.columns, rates, strict=True):
            u, w = add(u, scale(linear, s)), add(w, scale(angular, s))
        return u, w


def place_of(shapes: Shapes, at: Vector, e: Vector) -> Place:
    """Where the point `at` of the undeformed body is."""
    phi, psi, gamma = shapes.at(at)
    n = len(e)
    curve = [[_sum((g, x) for g, x in zip(row, e, strict=True)) for row in gamma[c]] for c in range(3)] if gamma is not None else None
    slope = [[_plus(phi[c][k], curve[c][k]) if curve else phi[c][k] for k in range(n)] for c in range(3)]
    half = [[phi[c][k] + 0.5 * curve[c][k] if curve else phi[c][k] for k in range(n)] for c in range(3)]
    position = tuple(_plus(at[c], _sum(zip(half[c], e, strict=True))) for c in range(3))
    turn = tuple(0.5 * _sum(zip(psi[c], e, strict=True)) for c in range(3))
    columns = []
    share = 1.0 / (1.0 + dot(turn, turn))
    for k in range(n):
        axis = tuple(psi[c][k] for c in range(3))
        spin = (0.0, 0.0, 0.0) if is_zero(axis) else scale(add(axis, cross(turn, axis)), share)
        columns.append((tuple(slope[c][k] for c in range(3)), spin))
    return Place(position, turn, columns)


def cayley(c: Vector) -> Rotation:
    """The rotation (E + c̃)(E − c̃)⁻¹ = E + 2(c̃ + c̃²)/(1 + c²), by the angle 2 arctan|c|."""
    if is_zero(c):
        return Rotation()
    x, y, z = c
    f = 2.0 / (1.0 + dot(c, c))
    return Rotation._made(
        (
            1.0 - f * (y * y + z * z), f * (x * y - z), f * (x * z + y),
            f * (x * y + z), 1.0 - f * (x * x + z * z), f * (y * z - x),
            f * (x * z - y), f * (y * z + x), 1.0 - f * (x * x + y * y),
        )
    )  # fmt: skip


def deformed(shapes: Shapes, at: Pose, e: Vector) -> Pose:
    """Where a frame fixed to the material at `at` is, in the body's axes."""
    place = place_of(shapes, at.position, e)
    return Pose(place.position, place.rotation @ at.rotation)


def is_held(shapes: Shapes, at: Pose) -> bool:
    """Whether no deformation moves a place: the root, by which the tree holds the body."""
    phi, psi, gamma = shapes.at(at.position)
    return not (np.any(phi) or np.any(psi) or (gamma is not None and np.any(gamma)))


def place_motion(shapes: Shapes, at: Pose, inverse: bool, label: str) -> Expression:
    """The values of a GIVEN motion from the body's frame to the frame at a place, or back; a function of e and ė."""

    def pose(e: Vector, t: Number) -> Pose:
        found = deformed(shapes, at, e)
        return found.inverse() if inverse else found

    return moved_frame(pose, len(shapes.names), label, rates=False)


# --- inertia ------------------------------------------------------------------------------------------------------------------
def inertia_values(shapes: Shapes) -> Expression:
    """The values of the joint of a deformation, a function of e and ė: a GIVEN motion that moves nothing, then what
    `kernels.flexible.deformations` reads.                                                                        (F6)-(F8)"""
    n, I = len(shapes.names), shapes.integrals
    graph = Graph()
    e, rates, t = graph.inputs(n), graph.inputs(n), graph.input()
    X = np.swapaxes(I.product, 0, 1) + I.bent  # [k, l]: ∫Φ_l Φ_kᵀ + ∫x Γ_klᵀ
    D = [_matrix_sum(I.first[k], [(X[k, m], e[m]) for m in range(n)]) for k in range(n)]  # ∫ y U_kᵀ
    gradient = [[_plus(I.linear[k][c], _sum((I.curved[k, m, c], e[m]) for m in range(n))) for c in range(3)] for k in range(n)]
    half = [_matrix_sum(I.first[k], [(0.5 * X[k, m], e[m]) for m in range(n)]) for k in range(n)]
    second = _inertia(_matrix_sum(np.zeros((3, 3)), [(half[k], 2.0 * e[k]) for k in range(n)]))
    moment = [_sum((I.linear[k][c] + 0.5 * _sum((I.curved[k, m, c], e[m]) for m in range(n)), e[k]) for k in range(n))
              for c in range(3)]  # fmt: skip
    moving = _matrix_sum(np.zeros((3, 3)), [(D[k], rates[k]) for k in range(n)])
    flow: list[Number] = [2.0 * _sum((gradient[k][c], rates[k]) for k in range(n)) for c in range(3)]
    flow += [_sum((I.curved[k, m, c], rates[k] * rates[m]) for k in range(n) for m in range(n)) for c in range(3)]
    trace = _plus(_plus(moving[0][0], moving[1][1]), moving[2][2])
    flow += [2.0 * _plus(trace if a == b else 0.0, -1.0 * moving[b][a]) for a in range(3) for b in range(3)]
    turning = _matrix_sum(np.zeros((3, 3)), [(I.bent[k, m], rates[k] * rates[m]) for k in range(n) for m in range(n)])
    flow += _axial(turning)
    values: list[Number] = [*moment, *second, *flow]
    for k in range(n):
        spun = _matrix_sum(np.zeros((3, 3)), [(2.0 * I.product[m, k], rates[m]) for m in range(n)])
        values += [*gradient[k], *_axial(D[k]), *(2.0 * x for x in _inertia(D[k])), *_axial(spun)]
    still = [0.0] * 3 + [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0] + [0.0] * 12
    return Expression(graph, [*e, *rates, t], [*still, *rates, *[0.0] * (12 * n), *values])


def values_before_inertia(n: int) -> int:
    """How many values of `inertia_values` belong to the motion."""
    return 24 + 13 * n


def _plus(a: Number, b: Number) -> Number:
    return b if is_zero(a) else a if is_zero(b) else a + b


def _sum(terms: Any) -> Number:
    """Σ a b without the terms that are zero."""
    out: Number = 0.0
    for a, b in terms:
        if not (is_zero(a) or is_zero(b)):
            out = _plus(out, float(a) * b if isinstance(a, np.floating) else a * b)
    return out


def _matrix_sum(start: Any, terms: Sequence[tuple[Any, Number]]) -> list[list[Number]]:
    return [[_plus(float(start[a][b]) if isinstance(start, np.ndarray) else start[a][b], _sum((M[a][b], x) for M, x in terms))
             for b in range(3)] for a in range(3)]  # fmt: skip


def _axial(D: Any) -> list[Number]:
    """∫ y × u of D = ∫ y uᵀ."""
    return [_plus(D[1][2], -1.0 * D[2][1]), _plus(D[2][0], -1.0 * D[0][2]), _plus(D[0][1], -1.0 * D[1][0])]


def _inertia(S: Any) -> list[Number]:
    """tr S E − ½(S + Sᵀ), xx yy zz xy xz yz: moments of inertia of second moments."""
    return [
        _plus(S[1][1], S[2][2]), _plus(S[0][0], S[2][2]), _plus(S[0][0], S[1][1]),
        *(-0.5 * _plus(S[a][b], S[b][a]) for a, b in ((0, 1), (0, 2), (1, 2))),
    ]  # fmt: skip
