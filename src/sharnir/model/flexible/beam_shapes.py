"""Shapes of a beam relative to one of its sections."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.polynomial import legendre

from ...errors import ModelError
from ...trace import Number, Symbol
from ...types import FloatArray
from .beam_modes import Family, integral, polynomials, products, series_value
from .flexible_body import Rows, Shapes
from .integrals import Integrals, read_only
from .sections import Section

Strains = Sequence[tuple[Family, FloatArray]]
"""Families with the strains of their modes; their order is that of the coordinates."""


@dataclass(frozen=True)
class Lines:
    """Displacements of the axis as Legendre series."""

    length: float
    kinds: tuple[str, ...]
    """The family of every coordinate."""
    moved: FloatArray
    """(m, n) displacement; of a twist the angle"""
    slope: FloatArray
    """(m, n) its derivative along the beam, for bending"""
    shortening: FloatArray | None
    """(m, m, 2n) ∫ slope_k slope_l from the root, for pairs in one plane of bending"""

    @classmethod
    def of(cls, strains: Strains, length: float, root: float, stiffening: bool) -> Lines:
        n = 2 + max(rows.shape[1] for _, rows in strains)
        kinds = tuple(family.name for family, rows in strains for _ in rows)
        moved, slope = np.zeros((len(kinds), n)), np.zeros((len(kinds), n))
        shortening = np.zeros((len(kinds), len(kinds), 2 * n)) if stiffening else None
        k = 0
        for family, rows in strains:
            here = slice(k, k := k + len(rows))
            w, s = family.rooted(rows, root)
            moved[here, : w.shape[1]] = w
            if family.bending:
                slope[here, : s.shape[1]] = s
                if shortening is not None:
                    shortening[here, here] = integral(products(slope[here]), length)
        if shortening is not None:
            at = np.array(polynomials(2 * n, 2 * root / length - 1))
            shortening[..., 0] -= shortening @ at
            shortening[np.abs(shortening) < 1e-15 * np.abs(shortening).max(axis=-1, keepdims=True)] = 0.0
        return cls(length, kinds, moved, slope, shortening)

    def at(self, point: Sequence[Number], slender: bool = False) -> tuple[Rows, Rows, list[Rows] | None]:
        """Φ, Ψ, Γ at numbers, symbols or arrays x, y, z: arithmetic alone. `slender`: without what slopes do to points off the
        axis to second order, which is as small against the shortening of the axis as a section against the length."""
        x, y, z = point
        m = len(self.kinds)
        most = max(self.moved.shape[1], 0 if self.shortening is None else self.shortening.shape[2])
        P = polynomials(most, x * (2 / self.length) - 1.0)
        phi: Rows = [[0.0] * m for _ in range(3)]
        psi: Rows = [[0.0] * m for _ in range(3)]
        for k, kind in enumerate(self.kinds):
            w, s = series_value(self.moved[k], P), series_value(self.slope[k], P)
            if kind == "bend_y":
                phi[0][k], phi[1][k], psi[2][k] = -(s * y), w, s
            elif kind == "bend_z":
                phi[0][k], phi[2][k], psi[1][k] = -(s * z), w, -s
            elif kind == "twist":
                phi[1][k], phi[2][k], psi[0][k] = -(w * z), w * y, w
            else:
                phi[0][k] = w
        if self.shortening is None:
            return phi, psi, None
        gamma: list[Rows] = [[[0.0] * m for _ in range(m)] for _ in range(3)]
        off_axis = any(isinstance(a, (Symbol, np.ndarray)) or a for a in (y, z))
        for k in range(m):
            for l in range(k + 1):
                if self.kinds[k] == self.kinds[l] and self.kinds[k].startswith("bend"):
                    gamma[0][k][l] = gamma[0][l][k] = -series_value(self.shortening[k, l], P)
                if off_axis and not (slender and "bend" in self.kinds[k] + self.kinds[l]):
                    turned = _turned_twice([psi[c][k] for c in range(3)], [psi[c][l] for c in range(3)], y, z)
                    for c in range(3):
                        gamma[c][k][l] = gamma[c][l][k] = gamma[c][k][l] + turned[c]
        return phi, psi, gamma


@dataclass(frozen=True, eq=False)
class BeamShapes(Shapes):
    """Shapes of a beam: polynomials of x; off the axis a point is carried by its section, Φ = w + θ × (0, y, z), and Γ has what
    the turn of the section adds to second order."""

    lines: Lines

    def at(self, point: Sequence[Number]) -> tuple[Rows, Rows, list[Rows] | None]:
        x = point[0]
        if isinstance(x, Symbol):
            return self.lines.at(point)
        check_station(x, self.lines.length, "the point")
        if abs(x - self.root[0]) <= 1e-15 * self.lines.length:  # exact zeros, where rounding would leave 1e-17
            m = len(self.names)
            return _zeros(m), _zeros(m), None if self.lines.shortening is None else [[[0.0] * m for _ in range(m)] for _ in "xyz"]
        return self.lines.at(tuple(a if isinstance(a, Symbol) else float(a) for a in point))


def integrate(lines: Lines, section: Section, density: float) -> Integrals:
    """Gauss's rule along the beam, exact for these polynomials, times four points of a section with its area, Iy and Iz."""
    xi, weights = legendre.leggauss(lines.moved.shape[1] + 1)
    dy, dz = np.sqrt(2 * section.Iz / section.area), np.sqrt(2 * section.Iy / section.area)
    x = np.repeat((xi + 1) * (lines.length / 2), 4)
    y, z = np.tile([dy, -dy, 0.0, 0.0], len(xi)), np.tile([0.0, 0.0, dz, -dz], len(xi))
    dm = np.repeat(weights * (density * section.area * lines.length / 8), 4)
    phi, _, gamma = lines.at((x, y, z), slender=True)
    m = len(lines.kinds)
    phis, gammas = np.zeros((len(x), m, 3)), None if gamma is None else np.zeros((len(x), m, m, 3))
    for i in range(3):
        for k in range(m):
            phis[:, k, i] = phi[i][k]
            for l in range(m if gammas is not None and gamma is not None else 0):
                gammas[:, k, l, i] = gamma[i][k][l]  # type: ignore[index]
    return Integrals.of_points(read_only(dm), np.stack([x, y, z], axis=1), phis, gammas)


def _turned_twice(a: Sequence[Number], b: Sequence[Number], y: Number, z: Number) -> list[Number]:
    """½(a × (b × d) + b × (a × d)), d = (0, y, z): what turns of a section by a and b do to second order, ½ θ × (θ × d)."""
    along_a, along_b = a[1] * y + a[2] * z, b[1] * y + b[2] * z
    both = a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
    return [0.5 * (p * along_b + q * along_a) - both * d for p, q, d in zip(a, b, (0.0, y, z), strict=True)]


def check_station(x: float, length: float, what: str) -> None:
    if not -1e-9 * length <= x <= (1 + 1e-9) * length:
        raise ModelError(
            f"beam: {what} at x = {x:g} m is not on the beam, which reaches from 0 to {length:g} m; "
            "attach to an end and give the rest as a pose from there"
        )


def _zeros(m: int) -> Rows:
    return [[0.0] * m for _ in range(3)]
