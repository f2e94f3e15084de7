"""A flexible beam."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.polynomial import legendre

from ...errors import ModelError, brief
from ...types import FloatArray
from ..element import element, element_field
from ..values import Choice, Fault, Flag, Kind, OneOf, ScalarOrVector, Vector, Whole, expected
from .beam_modes import ENDS, Family, derivative, overlap
from .beam_shapes import BeamShapes, Lines, check_station, integrate
from .flexible_body import NOT_NEGATIVE, POSITIVE, Flexible, damping_matrix
from .integrals import without_noise
from .sections import SECTIONS, Section

FAMILIES = ("bend_y", "bend_z", "twist", "stretch")
MOST_MODES = 40


class ModeCounts(Kind):
    """How many modes: a whole number, or one for each family."""

    def check(self, value: Any) -> int | dict[str, int]:
        if not isinstance(value, Mapping):
            return Whole(0, MOST_MODES).check(value)
        for name, count in value.items():
            if name not in FAMILIES:
                raise Fault(f"unknown family {brief(name)}; there are {', '.join(FAMILIES)}")
            try:
                Whole(0, MOST_MODES).check(count)
            except Fault as fault:
                raise Fault(fault.what, name) from None
        if sum(value.values()) > MOST_MODES:
            raise expected(f"at most {MOST_MODES} modes in all", sum(value.values()))
        return {name: int(count) for name, count in value.items()}


@element("beam")
class FlexibleBeam(Flexible):
    """A uniform beam along x from the body's origin: Euler–Bernoulli bending in two planes with the rotary inertia of the
    sections, Saint-Venant torsion, stretching. Its coordinates are amplitudes of modes, each with a largest displacement of 1 m
    (1 rad for twist) along the beam, positive at the tip: `bend_y1` displaces along y, and so on, in the order bend_y, bend_z,
    twist, stretch.

    Ends only select the shapes; how the beam is held is up to the joints. "clamped-free", "free" (without rigid motions) and
    "pinned" (both ends on the x axis; twist and stretch clamped at x = 0) give natural modes; "polynomial" gives all
    polynomials up to a degree, x², x³ … for bending, x, x² … for twist and stretch, as the modes that they can form of a beam
    clamped at x = 0.

    Damping acts on the rates of deformation and is the same wherever the beam is rooted: ratios and Rayleigh's αM refer to the
    masses of the modes under these ends."""

    length: float = element_field(POSITIVE, unit="m", meaning="length along x")
    E: float = element_field(POSITIVE, unit="Pa", meaning="Young's modulus")
    G: float = element_field(POSITIVE, unit="Pa", meaning="shear modulus")
    density: float = element_field(POSITIVE, unit="kg/m³", meaning="density")
    section: Section = element_field(OneOf(SECTIONS, Section), meaning="cross section")
    modes: int | Mapping[str, int] = element_field(
        ModeCounts(),
        default=8,
        meaning="how many modes of lowest frequency, or how many of bend_y, bend_z, twist, stretch; none: a rigid body",
    )
    ends: str = element_field(Choice(ENDS), default="clamped-free", meaning="end conditions of the modes")
    damping: float | Sequence[float] = element_field(
        ScalarOrVector(NOT_NEGATIVE), default=0.0, meaning="ratio of critical damping, for all modes or for each"
    )
    rayleigh: Sequence[float] = element_field(
        Vector(2, NOT_NEGATIVE), default=(0.0, 0.0), unit="1/s, s", meaning="damping α·mass + β·stiffness"
    )
    stiffening: bool = element_field(Flag(), default=True, meaning="whether bending shortens the axis: rotating beams stiffen")

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.damping, float) and len(self.damping) != len(self.coordinates):
            there = f"{len(self.coordinates)} modes ({', '.join(self.coordinates)})"
            raise ModelError(
                f"{self.label}: damping has {len(self.damping)} numbers for {there}; give one per mode, or one for all"
            )

    @cached_property
    def _families(self) -> tuple[Family, ...]:
        rho, A, s, L = self.density, self.section.area, self.section, self.length
        return (
            Family("bend_y", True, rho * A, rho * s.Iz, self.E * s.Iz, L),
            Family("bend_z", True, rho * A, rho * s.Iy, self.E * s.Iy, L),
            Family("twist", False, rho * s.Ip, 0.0, self.G * s.It, L),
            Family("stretch", False, rho * A, 0.0, self.E * A, L),
        )

    @cached_property
    def counts(self) -> dict[str, int]:
        """How many modes of each family."""
        if not isinstance(self.modes, int):
            return {name: self.modes.get(name, 0) for name in FAMILIES}
        if not self.modes:
            return dict.fromkeys(FAMILIES, 0)
        ends = "clamped-free" if self.ends == "polynomial" else self.ends
        found = []
        for k, family in enumerate(self._families):
            omega, _ = family.natural_modes(ends, self.modes)
            found += [(float(f"{x:.9e}"), k) for x in omega]  # modes of equal frequency in the order of the families
        chosen = [k for _, k in sorted(found)[: self.modes]]
        return {name: chosen.count(k) for k, name in enumerate(FAMILIES)}

    @cached_property
    def _modes(self) -> tuple[tuple[Family, FloatArray, FloatArray], ...]:
        """Families that have modes, their frequencies and strains."""
        there = [family for family in self._families if self.counts[family.name]]
        return tuple((family, *family.natural_modes(self.ends, self.counts[family.name])) for family in there)

    @property
    def coordinates(self) -> tuple[str, ...]:
        return tuple(f"{name}{k + 1}" for name in FAMILIES for k in range(self.counts[name]))

    @property
    def units(self) -> tuple[str, ...]:
        return tuple("rad" if name.startswith("twist") else "m" for name in self.coordinates)

    @property
    def frequencies(self) -> FloatArray:
        """Frequency of each coordinate, rad/s, under the end conditions of the modes."""
        return np.concatenate([omega for _, omega, _ in self._modes])

    @property
    def mass(self) -> float:
        return self.density * self.section.area * self.length

    @property
    def com(self) -> tuple[float, float, float]:
        return self.length / 2, 0.0, 0.0

    @property
    def inertia(self) -> tuple[float, ...]:
        per_length, across = self.density * self.length, self.mass * self.length**2 / 12
        Iy, Iz = per_length * self.section.Iy, per_length * self.section.Iz
        return Iy + Iz, across + Iy, across + Iz, 0.0, 0.0, 0.0

    @cached_property
    def _stiffness(self) -> FloatArray:
        found, k = np.zeros((len(self.coordinates),) * 2), 0
        for family, _, strains in self._modes:
            here = slice(k, k := k + len(strains))
            found[here, here] = family.stiffness * overlap(strains, strains, self.length)
        return without_noise(found)

    @property
    def words(self) -> str:
        return f"beam of {self.length:.4g} m, section {self.section.tag or type(self.section).__name__}"

    def check_place(self, point: Sequence[float]) -> None:
        check_station(point[0], self.length, "the point")

    def _shapes(self, root: tuple[float, float, float]) -> BeamShapes:
        check_station(root[0], self.length, "the root")
        lines = Lines.of([(family, strains) for family, _, strains in self._modes], self.length, root[0], self.stiffening)
        K = self._stiffness
        damping = damping_matrix(np.diag(np.diag(K) / self.frequencies**2), K, self.damping, self.rayleigh, self.label)
        return BeamShapes(self.coordinates, integrate(lines, self.section, self.density), K, damping, root, lines)

    def resultants(self, e: Sequence[float] | FloatArray, x: Sequence[float] | FloatArray) -> dict[str, FloatArray]:
        """Forces and moments that the part of the beam beyond x exerts on the part before it, in the axes of the section:
        "axial", "torque", "moment_y", "moment_z", "shear_y", "shear_z". Moments follow the right-hand rule about +y and +z:
        with displacements v and w along y and z they are E Iz v″ about z and −E Iy w″ about y. Shear follows from the moments
        of a section in equilibrium, shear_y = −dMz/dx and shear_z = dMy/dx: a force at the tip along +y makes shear_y positive.

        They are those of the shapes: nan where there are none of the kind; moments nearly as good as displacements, shear
        poorer. Polynomial ends are exact under loads at the tip; reactions of joints are exact with any.

        `e` is (m,) or (times, m); the arrays are (len(x),) or (times, len(x))."""
        e, xi = np.asarray(e, dtype=float), 2 * np.atleast_1d(np.asarray(x, dtype=float)) / self.length - 1
        if e.ndim not in (1, 2) or e.shape[-1] != len(self.coordinates):
            raise ModelError(f"{self.label}: expected {len(self.coordinates)} elastic coordinates, got the shape {e.shape}")
        if xi.ndim != 1 or not np.all(np.abs(xi) <= 1 + 1e-9):
            raise ModelError(f"{self.label}: expected positions x from 0 to {self.length:g} m, got {brief(x)}")
        names = ("moment_z", "moment_y", "torque", "axial", "shear_y", "shear_z")
        of = dict(zip(names, (*FAMILIES, "bend_y", "bend_z"), strict=True))
        found = {name: np.full((*e.shape[:-1], len(xi)), 0.0 if self.counts[of[name]] else np.nan) for name in names}
        k = 0
        for family, _, strains in self._modes:
            here = slice(k, k := k + len(strains))
            load = family.stiffness * strains
            name, sign = names[FAMILIES.index(family.name)], -1.0 if family.name == "bend_z" else 1.0
            found[name] = sign * e[..., here] @ _values(load, xi)
            if family.bending:  # −dMz/dx = −E Iz v‴ and dMy/dx = −E Iy w‴
                found[f"shear_{family.name[-1]}"] = -e[..., here] @ _values(derivative(load, self.length), xi)
        return found


def _values(rows: FloatArray, xi: FloatArray) -> FloatArray:
    return np.atleast_2d(legendre.legval(xi, rows.T))
