"""Integrals over the mass of a flexible body: all that its equations of motion need of its shapes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ...types import FloatArray

NEGLIGIBLE = 1e-14
"""Share of its scale below which a number is the rounding of an exact zero."""


@dataclass(frozen=True, eq=False, repr=False)
class Points:
    """A body as P points of mass: a quadrature rule and the shapes at its points."""

    weights: FloatArray
    """(P,) kg"""
    x: FloatArray
    """(P, 3) undeformed places"""
    phi: FloatArray
    """(P, m, 3) Φ_k"""
    gamma: FloatArray | None
    """(P, m, m, 3) Γ_kl; None where displacements are linear in e."""


@dataclass(frozen=True, eq=False, repr=False)
class Integrals:
    """Integrals over dm, body axes, undeformed places x. Zeros are exact, so that compiled code can drop them."""

    mass: float
    moment: FloatArray
    """(3,) ∫ x"""
    second: FloatArray
    """(3, 3) ∫ x xᵀ"""
    linear: FloatArray
    """(m, 3) ∫ Φ_k"""
    first: FloatArray
    """(m, 3, 3) ∫ x Φ_kᵀ"""
    product: FloatArray
    """(m, m, 3, 3) ∫ Φ_k Φ_lᵀ"""
    curved: FloatArray
    """(m, m, 3) ∫ Γ_kl, zeros where there is no Γ"""
    bent: FloatArray
    """(m, m, 3, 3) ∫ x Γ_klᵀ"""
    mass_matrix: FloatArray
    """(m, m) ∫ Φ_kᵀ Φ_l"""
    points: Points | None = None
    """The points that were summed over, where there were any."""

    def __post_init__(self) -> None:
        for name in ("moment", "second", "linear", "first", "product", "curved", "bent"):
            value = np.array(getattr(self, name), dtype=float)
            value[np.abs(value) <= NEGLIGIBLE * np.abs(value).max(initial=0.0)] = 0.0
            object.__setattr__(self, name, read_only(value))
        object.__setattr__(self, "mass_matrix", read_only(without_noise(self.mass_matrix)))

    @classmethod
    def of_points(cls, weights: FloatArray, x: FloatArray, phi: FloatArray, gamma: FloatArray | None = None) -> Integrals:
        """Sums over points: `weights` (P,), `x` (P, 3), `phi` (P, m, 3), `gamma` (P, m, m, 3) or None."""
        m = phi.shape[1]
        product = np.einsum("p,pki,plj->klij", weights, phi, phi, optimize=True)
        return cls(
            mass=float(weights.sum()),
            moment=weights @ x,
            second=np.einsum("p,pi,pj->ij", weights, x, x),
            linear=np.einsum("p,pki->ki", weights, phi),
            first=np.einsum("p,pi,pkj->kij", weights, x, phi, optimize=True),
            product=product,
            curved=np.zeros((m, m, 3)) if gamma is None else np.einsum("p,pkli->kli", weights, gamma),
            bent=np.zeros((m, m, 3, 3)) if gamma is None else np.einsum("p,pi,pklj->klij", weights, x, gamma, optimize=True),
            mass_matrix=np.einsum("klii->kl", product),
            points=Points(*(None if a is None else read_only(a) for a in (weights, x, phi, gamma))),  # type: ignore[arg-type]
        )

    def less_rigid(self, shift: FloatArray, turn: FloatArray) -> Integrals:
        """The integrals of Φ_k − shift_k − turn_k × x in place of Φ_k, for shapes without Γ; shift and turn are (m, 3)."""
        if self.curved.any() or self.bent.any():
            raise ValueError("Γ is measured from the root and does not follow from a rigid motion")
        B = skew(turn)
        moved = np.einsum("kij,j->ki", B, self.moment) + shift * self.mass  # ∫ of what is subtracted
        crossed = np.einsum("ij,klj->kil", self.second, B) + np.einsum("i,kj->kij", self.moment, shift)  # ∫ x (…)ᵀ
        # ∫ Φ_k (shift_l + B_l x)ᵀ, and the same of what is subtracted with itself
        mixed = np.einsum("ki,lj->klij", self.linear, shift) + np.einsum("kai,lja->klij", self.first, B)
        rigid = np.einsum("ki,lj->klij", shift, moved) + np.einsum("kia,laj->klij", B, crossed)
        product = self.product - mixed - mixed.transpose(1, 0, 3, 2) + rigid
        points = self.points
        if points is not None:
            there = points.phi - shift - np.einsum("kij,pj->pki", B, points.x)
            points = replace(points, phi=read_only(there))
        return replace(
            self,
            linear=self.linear - moved,
            first=self.first - crossed,
            product=product,
            mass_matrix=self.mass_matrix + np.einsum("klii->kl", product - self.product),
            points=points,
        )


def without_noise(a: FloatArray) -> FloatArray:
    """A symmetric matrix whose entries far below their own diagonals are made zero: rows may differ in unit and size."""
    a = (a + a.T) / 2
    scale = np.sqrt(np.abs(np.diag(a)))
    return np.where(np.abs(a) <= 10 * NEGLIGIBLE * np.outer(scale, scale), 0.0, a)


def skew(v: FloatArray) -> FloatArray:
    """(…, 3, 3): skew(v) x = v × x."""
    x, y, z, o = v[..., 0], v[..., 1], v[..., 2], np.zeros(v.shape[:-1])
    return np.stack([np.stack([o, -z, y], -1), np.stack([z, o, -x], -1), np.stack([-y, x, o], -1)], -2)


def eigh(a: FloatArray, b: FloatArray | None = None, **options: Any) -> Any:
    """`scipy.linalg.eigh`, imported when it is first used: files of rigid bodies do without it."""
    import scipy.linalg

    return scipy.linalg.eigh(a, b, **options)


def read_only(a: FloatArray) -> FloatArray:
    """A copy that cannot be written to: shapes are cached and shared."""
    a = np.array(a, dtype=float)
    a.setflags(write=False)
    return a
