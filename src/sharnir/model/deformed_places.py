"""Places of a deformed body at many states at once: `deformation.place_of` on arrays."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from ..types import FloatArray

if TYPE_CHECKING:
    from .flexible import Shapes


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
        found: FloatArray = 1.0 / (1.0 + (self.turn**2).sum(axis=-1, keepdims=True))
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
