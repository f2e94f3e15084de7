"""A deformed body in the tree: the motion of its places with the elastic coordinates, and their contributions to its inertia.

A point that stands at x in the undeformed body stands at y = x + Φe + ½Γee, and the section there is turned by the rotation with
Cayley's vector ½Ψe: a rotation however large, equal to the turn by Ψe up to terms of third order. docs/theory/flexible.md
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from ..kernels.algebra import dot
from ..trace import Expression, Graph, Number, is_zero
from ..types import FloatArray
from .joints.traced import moved_frame
from .pose import Pose, Rotation, unchecked_rotation

if TYPE_CHECKING:
    from .flexible import Integrals, Shapes

Vector = Sequence[Number]
Matrix = list[list[Number]]


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


def place_of(shapes: Shapes, at: Vector, e: Vector) -> MovedPlaces:
    """The present place of the point `at` of the undeformed body, on generic scalars: arrays of objects."""
    x, phi, psi, gamma = (None if a is None else np.array(a, dtype=object) for a in (at, *shapes.at(at)))
    return Material(x, phi, psi, gamma).moved(np.array(e, dtype=object))  # type: ignore[arg-type]


def cayley(c: Vector) -> Rotation:
    """The rotation (E + c̃)(E − c̃)⁻¹ = E + 2(c̃ + c̃²)/(1 + c²), by the angle 2 arctan|c|."""
    if is_zero(c):
        return Rotation.identity()
    x, y, z = c
    f = 2.0 / (1.0 + dot(c, c))
    return unchecked_rotation(
        (
            1.0 - f * (y * y + z * z), f * (x * y - z), f * (x * z + y),
            f * (x * y + z), 1.0 - f * (x * x + z * z), f * (y * z - x),
            f * (x * z - y), f * (y * z + x), 1.0 - f * (x * x + y * y),
        )
    )  # fmt: skip


def deformed(shapes: Shapes, at: Pose, e: Vector) -> Pose:
    """The pose of a frame fixed to the material at `at`, in the body's axes."""
    place = place_of(shapes, at.position, e)
    return Pose(place.position, cayley(place.turn.tolist()) @ at.rotation)


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
    `kernels.flexible.deformations` reads.                                                                        (F6)-(F8)

    With X = (1; x), y = Y X + Φe and U_k = Φ_k + A_k X all integrals are polynomials in e of those that `Integrals` has.
    """
    n, I = len(shapes.names), shapes.integrals
    graph = Graph()
    e, rates, t = graph.inputs(n), graph.inputs(n), graph.input()
    A, N = affine(I)  # Γ_kl = A_kl X; ∫ X Xᵀ
    first, product, N = (x.astype(object) for x in (np.concatenate([I.linear[:, None], I.first], axis=1), I.product, N))
    F, A = first, A.astype(object)  # ∫ X Φ_kᵀ, (n, 4, 3)
    slope = [_combined(A[k], e) for k in range(n)]  # A_k
    Y = _combined(slope, [0.5 * x for x in e])
    Y[[0, 1, 2], [1, 2, 3]] += 1.0
    Fe = _combined(F, e)
    whole = [F[k] + N @ slope[k].T for k in range(n)]  # ∫ X U_kᵀ
    to_shapes = [_combined(product[:, k], e) for k in range(n)]  # ∫ Φe Φ_kᵀ
    D = [Y @ whole[k] + to_shapes[k] + Fe.T @ slope[k].T for k in range(n)]  # ∫ y U_kᵀ
    both = Y @ Fe
    second = Y @ N @ Y.T + _combined(to_shapes, e) + both + both.T
    inertia = [x + -float(x0) for x, x0 in zip(_inertia(second), _inertia(I.second), strict=True)]
    moment = [Y[c] @ N[0] + (Fe[0, c] + -float(I.moment[c])) for c in range(3)]
    P = [[*whole[k][0], *_axial(D[k])] for k in range(n)]

    bend = _combined(A.reshape(n * n, 3, 4), [a * b for a in rates for b in rates])  # Γ̇ė = B X
    moving = _combined(D, rates)
    flow: list[Number] = [2.0 * _sum((P[k][c], rates[k]) for k in range(n)) for c in range(3)]
    flow += list(bend @ N[0])
    flow += [2.0 * ((np.trace(moving) if a == b else 0.0) + -1.0 * moving[b, a]) for a in range(3) for b in range(3)]
    flow += _axial((Y @ N + Fe.T) @ bend.T)
    values: list[Number] = [*moment, *inertia, *flow]
    bent = {}  # ∫ U_k U_mᵀ − ∫ Φ_k Φ_mᵀ
    for k in range(n):
        for m in range(k, n):
            bent[k, m] = slope[k] @ F[m] + (slope[m] @ F[k]).T + slope[k] @ N @ slope[m].T
            bent[m, k] = bent[k, m].T
    for k in range(n):
        spun = _combined([product[m, k] + bent[m, k] for m in range(n)], [2.0 * x for x in rates])  # 2∫ Uė U_kᵀ
        push = _sum((bend[c, r], whole[k][r, c]) for c in range(3) for r in range(4))
        values += [*P[k], *(2.0 * x for x in _inertia(D[k])), *_axial(spun), push]
    values += [float(I.mass_matrix[k, m]) + np.trace(bent[min(k, m), max(k, m)]) for k in range(n) for m in range(n)]
    still = [0.0] * 3 + [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0] + [0.0] * 12
    return Expression(graph, [*e, *rates, t], [*still, *rates, *[0.0] * (12 * n), *values])


def values_before_inertia(n: int) -> int:
    """How many values of `inertia_values` belong to the motion."""
    return 24 + 13 * n


def affine(I: Integrals) -> tuple[FloatArray, FloatArray]:
    """A (m, m, 3, 4): Γ_kl as an affine function of (1; x), nearest in the metric of the mass; and N = ∫ (1; x)(1; x)ᵀ.

    It has the integrals ∫Γ and ∫xΓᵀ of Γ itself, all that the equations contain to second order, and being a displacement it
    leaves the mass matrix positive definite however large e is."""
    N = np.block([[np.array([[I.mass]]), I.moment[None]], [I.moment[:, None], I.second]])
    right = np.concatenate([I.curved[:, :, None, :], I.bent], axis=2)  # ∫ X Γᵀ (m, m, 4, 3)
    A = np.swapaxes(np.linalg.pinv(N, hermitian=True) @ right, 2, 3) if right.any() else np.zeros((*right.shape[:2], 3, 4))
    A[np.abs(A) <= 1e-12 * np.abs(A).max(initial=0.0)] = 0.0
    return A, N


# --- numbers and matrices of generic scalars, which drop zeros themselves ---------------------------------------------------
def _sum(terms: Iterable[tuple[Any, Any]]) -> Number:
    return sum((a * b for a, b in terms), 0.0)


def _combined(matrices: Any, factors: Sequence[Number]) -> Any:
    """Σ M x."""
    return sum(M * x for M, x in zip(matrices, factors, strict=True))


def _axial(D: Any) -> list[Number]:
    """∫ y × u of D = ∫ y uᵀ."""
    return [D[1, 2] + -1.0 * D[2, 1], D[2, 0] + -1.0 * D[0, 2], D[0, 1] + -1.0 * D[1, 0]]


def _inertia(S: Any) -> list[Number]:
    """tr S E − ½(S + Sᵀ), xx yy zz xy xz yz: moments of inertia of second moments."""
    return [
        S[1, 1] + S[2, 2],
        S[0, 0] + S[2, 2],
        S[0, 0] + S[1, 1],
        *(-0.5 * (S[a, b] + S[b, a]) for a, b in ((0, 1), (0, 2), (1, 2))),
    ]


# --- places of a deformed body at many states at once: `place_of` on arrays
@dataclass(frozen=True, eq=False)
class Material:
    """Places of the undeformed body, with the shapes there. "…" is () for one place; otherwise it broadcasts with the states."""

    at: FloatArray
    """(…, 3)"""
    phi: FloatArray
    """(…, 3, m)"""
    psi: FloatArray
    """(…, 3, m)"""
    gamma: FloatArray | None
    """(…, 3, m, m)"""

    def moved(self, e: FloatArray) -> MovedPlaces:
        """The places at elastic coordinates e (…, m)."""
        curve = None if self.gamma is None else np.einsum("...ckl,...l->...ck", self.gamma, e)
        half = self.phi if curve is None else self.phi + 0.5 * curve
        return MovedPlaces(
            self,
            self.at + np.einsum("...ck,...k->...c", half, e),
            0.5 * np.einsum("...ck,...k->...c", self.psi, e),
            self.phi if curve is None else self.phi + curve,
        )


@dataclass(frozen=True, eq=False)
class MovedPlaces:
    """Places of a deformed body in the axes of its frame."""

    material: Material
    position: FloatArray
    """(…, 3)"""
    turn: FloatArray
    """(…, 3): Cayley's vector c of the rotation."""
    linear: FloatArray
    """(…, 3, m): velocity per unit of every elastic speed."""

    @cached_property
    def angular(self) -> FloatArray:
        """(…, 3, m): angular velocity per unit of every elastic speed, 2(ċ + c × ċ)/(1 + c²) with ċ = ½Ψė."""
        psi, c = self.material.psi, self.turn[..., None]
        found: FloatArray = (psi + np.cross(c, psi, axis=-2)) * self._share[..., None]
        return found

    @property
    def rotation(self) -> FloatArray:
        """(…, 3, 3): the axes of the place → those of the body's frame."""
        c = self.turn
        skew = np.zeros((*c.shape[:-1], 3, 3))
        skew[..., 0, 1], skew[..., 0, 2], skew[..., 1, 2] = -c[..., 2], c[..., 1], -c[..., 0]
        skew -= skew.swapaxes(-1, -2)
        found: FloatArray = np.eye(3) + 2.0 * self._share[..., None] * (skew + skew @ skew)
        return found

    def velocity(self, rates: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Velocity and angular velocity relative to the body's frame."""
        return times(self.linear, rates), times(self.angular, rates)

    def acceleration(self, rates: FloatArray, changes: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Acceleration and angular acceleration as seen in the body's frame; `changes`: rates of the rates."""
        a, b = self.velocity(changes)
        gamma, dc = self.material.gamma, 0.5 * times(self.material.psi, rates)
        if gamma is not None:
            a = a + np.einsum("...ckl,...k,...l->...c", gamma, rates, rates)
        slowing = 2.0 * (self.turn * dc).sum(axis=-1, keepdims=True) * self._share  # 1 + c² grows
        return a, b - slowing * times(self.angular, rates)

    @cached_property
    def _share(self) -> FloatArray:
        found: FloatArray = 1.0 / (1.0 + (self.turn * self.turn).sum(axis=-1, keepdims=True))
        return found


def material(shapes: Shapes, points: FloatArray) -> Material:
    """The places at points (…, 3) of the undeformed body; equal points are looked up once."""
    m, points = len(shapes.names), np.asarray(points, dtype=float)
    distinct, which = np.unique(points.reshape(-1, 3), axis=0, return_inverse=True)
    found = [shapes.at(tuple(x)) for x in distinct.tolist()]
    pick = which.reshape(points.shape[:-1])
    phi, psi = (np.array([one[k] for one in found], dtype=float).reshape(-1, 3, m)[pick] for k in (0, 1))
    gammas = [one[2] for one in found]
    bent = None if not gammas or gammas[0] is None else np.array(gammas, dtype=float)[pick]
    return Material(points, phi, psi, bent)


def times(columns: FloatArray, rates: FloatArray) -> FloatArray:
    """Products (…, 3) of columns (…, 3, m) and numbers (…, m)."""
    found: FloatArray = np.einsum("...ck,...k->...c", columns, rates)
    return found
