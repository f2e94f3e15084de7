"""Natural modes of a uniform beam by the method of Ritz; Legendre series on a beam.

Strains (curvature, twist per length, stretch per length) are expanded in Legendre polynomials. Then the stiffness matrix is
diagonal whatever the ends, displacements follow by integration, and end conditions only decide which rigid motion is added. All
is exact but the truncation of the expansion.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.polynomial import legendre

from ...errors import ModelError
from ...trace import Number
from ...types import FloatArray
from .integrals import eigh

ENDS = ("clamped-free", "pinned", "free", "polynomial")
NEGLIGIBLE = 1e-13
"""Coefficients of a strain below this share of its largest are noise of the eigenvectors."""


# --- Legendre series on a beam: coefficients (…, n) of P_0 … P_{n−1} in ξ = 2x/L − 1, for 0 ≤ x ≤ L
def polynomials(count: int, xi: Number) -> list[Number]:
    """P_0 … P_{count−1} at ξ: a number, a symbol or an array. The recurrence of Bonnet, stable for |ξ| ≤ 1."""
    found: list[Number] = [1.0, xi]
    for j in range(1, count - 1):
        found.append(((2 * j + 1) / (j + 1)) * (xi * found[j]) - (j / (j + 1)) * found[j - 1])
    return found[:count]


def series_value(series: Sequence[float], at: Sequence[Number]) -> Number:
    """The series where the polynomials have these values; coefficients that are zero cost nothing."""
    total: Number = 0.0
    for c, p in zip(series, at, strict=False):
        if c != 0.0:
            total = total + float(c) * p
    return total


def integral(series: FloatArray, length: float) -> FloatArray:
    """The series of ∫₀ˣ."""
    return np.asarray(legendre.legint(series, lbnd=-1, axis=-1) * (length / 2), dtype=float)


def derivative(series: FloatArray, length: float) -> FloatArray:
    """The series of d/dx."""
    return np.asarray(legendre.legder(series, axis=-1) * (2 / length), dtype=float)


def overlap(a: FloatArray, b: FloatArray, length: float) -> FloatArray:
    """∫₀ᴸ a_k b_l dx for rows of series of equal length."""
    return (a * (length / (2 * np.arange(a.shape[-1]) + 1))) @ b.T


def products(series: FloatArray) -> FloatArray:
    """(m, m, 2n − 1): the series of all products of two rows, by quadrature that is exact for them."""
    n = series.shape[-1]
    xi, weights = legendre.leggauss(2 * n)
    values = legendre.legval(xi, series.T)
    degree = np.arange(2 * n - 1)
    back = legendre.legvander(xi, 2 * n - 2) * weights[:, None] * (degree + 0.5)
    return np.einsum("kp,lp,pj->klj", values, values, back, optimize=True)


def extreme(series: FloatArray) -> tuple[float, float]:
    """ξ and value where one series is largest in magnitude on the beam; of several such places the one nearest to x = 0."""
    slope = legendre.legtrim(legendre.legder(series))
    inside = [] if slope.size < 2 else [r.real for r in legendre.legroots(slope) if abs(r.imag) < 1e-6 and abs(r.real) < 1]
    places = np.array([-1.0, *sorted(inside), 1.0])
    values = legendre.legval(places, series)
    first = int(np.argmax(np.abs(values) >= (1 - 1e-6) * np.abs(values).max()))
    return float(places[first]), float(values[first])


# --- families of modes
@dataclass(frozen=True)
class Family:
    """One kind of deformation, and its constants per length."""

    name: str
    bending: bool
    mass: float
    rotary: float
    """ρI of bending: inertia of the turning sections; 0 for the other families."""
    stiffness: float
    """E Iz, E Iy, G It or E A."""
    length: float

    def natural_modes(self, ends: str, count: int) -> tuple[FloatArray, FloatArray]:
        """Frequencies (rad/s, ascending) and strains (count, n), scaled so that the largest displacement is 1."""
        try:
            with np.errstate(all="ignore"):
                omega, strains = self._natural_modes(ends, count)
        except (ValueError, IndexError):  # numbers that are not finite, or all zero
            omega, strains = np.zeros(1), np.zeros((1, 1))
        if not (np.isfinite(strains).all() and np.isfinite(omega).all() and omega.all()):
            raise ModelError(
                f"beam: its modes ({self.name}) are beyond floating point: {self.mass:.3g} kg/m or kg m, stiffness "
                f"{self.stiffness:.3g}, length {self.length:.3g} m; are all numbers in SI units?"
            )
        return omega, strains

    def _natural_modes(self, ends: str, count: int) -> tuple[FloatArray, FloatArray]:
        size = count if ends == "polynomial" else int(1.6 * count) + 18  # a mode needs π/2 polynomials per half wave, then a few
        L = self.length
        basis = np.diag(np.sqrt((2 * np.arange(size) + 1) / L))  # ∫ b_i b_j = δ_ij: stiffness matrix EI·1
        flexibility, vectors = eigh(self.mass_matrix(basis, ends) / self.stiffness)
        order = np.argsort(-flexibility)[:count]
        strains = (basis @ vectors[:, order]).T
        strains[np.abs(strains) < NEGLIGIBLE * np.abs(strains).max(axis=1, keepdims=True)] = 0.0
        strains = strains[:, : 1 + int(np.flatnonzero(np.any(strains != 0.0, axis=0))[-1])]
        omega, strains = self._orthogonal(strains, ends)
        moved, _ = self.displaced(strains, ends)
        scale = np.array([_scale(row) for row in moved])
        return omega, strains / scale[:, None]

    def mass_matrix(self, strains: FloatArray, ends: str) -> FloatArray:
        """The mass matrix of deformations with these strains under the end conditions."""
        moved, slope = self.displaced(strains, ends)
        M = self.mass * overlap(moved, moved, self.length)
        return M + self.rotary * overlap(slope, slope, self.length) if self.bending else M

    def _orthogonal(self, strains: FloatArray, ends: str) -> tuple[FloatArray, FloatArray]:
        """Frequencies and modes orthogonal to rounding. Eigenvectors of high modes are orthogonal to rounding of the lowest one
        only; one step of perturbation, V(1 + X) with X + Xᵀ = −m and DX + XᵀD = −k for matrices 1 + m and D + k, makes up for
        it."""
        M, K = self.mass_matrix(strains, ends), self.stiffness * overlap(strains, strains, self.length)
        unit = 1 / np.sqrt(np.diag(M))
        m, k = M * np.outer(unit, unit), K * np.outer(unit, unit)
        D = np.diag(k)
        apart = D[:, None] - D[None, :] + np.eye(len(D))
        X = (D[None, :] * m - k) / apart
        np.fill_diagonal(X, 0.0)
        V = unit[:, None] * strains
        return np.sqrt(D), V + X.T @ V

    def displaced(self, strains: FloatArray, ends: str) -> tuple[FloatArray, FloatArray]:
        """Displacements and their slopes under the end conditions."""
        L = self.length
        moved, slope = self.from_origin(strains)
        if ends == "pinned" and self.bending:
            _tilt(moved, slope, -moved.sum(axis=1) / L, L, about=-1.0)
        elif ends == "free" and self.bending:  # no momentum, no moment of momentum about the middle
            spin = self.mass * moved[:, 1] * L**2 / 6 + self.rotary * slope[:, 0] * L
            _tilt(moved, slope, -spin / (self.mass * L**3 / 12 + self.rotary * L), L, about=0.0)
        if ends == "free":
            moved[:, 0] = 0.0
        return moved, slope

    def rooted(self, strains: FloatArray, x: float) -> tuple[FloatArray, FloatArray]:
        """Displacements and slopes relative to the section at x."""
        moved, slope = self.from_origin(strains)
        xi = 2 * x / self.length - 1
        if x == 0.0:
            return moved, slope
        at = np.array(polynomials(moved.shape[1], xi))
        if self.bending:
            _tilt(moved, slope, -slope @ at[: slope.shape[1]], self.length, about=xi)
        moved[:, 0] -= moved @ at
        return moved, slope

    def from_origin(self, strains: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Displacements and slopes, both zero at x = 0; of twist and stretch the slope is the strain."""
        slope = integral(strains, self.length) if self.bending else strains
        return integral(slope, self.length), slope


def _tilt(moved: FloatArray, slope: FloatArray, by: FloatArray, length: float, about: float) -> None:
    """Add a rotation about the place ξ = `about`."""
    slope[:, 0] += by
    moved[:, 1] += by * length / 2
    moved[:, 0] -= by * length / 2 * about


def _scale(displacement: FloatArray) -> float:
    """The largest displacement, with the sign that makes the tip positive, or that place where the tip does not move."""
    _, largest = extreme(displacement)
    tip = float(displacement.sum())  # every P_j(1) = 1
    return float(np.copysign(largest, tip if abs(tip) > 1e-6 * abs(largest) else largest))
