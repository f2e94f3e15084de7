"""Cross sections of beams. y and z are principal axes through the centroid, which is also the shear centre."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from ...errors import ModelError
from ..element import Element, element, element_field
from .flexible_body import POSITIVE

ZETA_5 = 1.0369277551433699
Outline = list[tuple[float, float]]
ROUND = 24
"""Corners of the polygon that a circle is drawn as."""


class Section(Element):
    """A cross section of a beam along x."""

    if TYPE_CHECKING:  # fields of one class, computed by the others: no property here that would hide a field

        @property
        def area(self) -> float: ...

        @property
        def Iy(self) -> float:
            """∫ z² dA: bending that displaces along z, about y."""

        @property
        def Iz(self) -> float:
            """∫ y² dA: bending that displaces along y, about z."""

        @property
        def It(self) -> float:
            """Torsion constant of Saint-Venant: torque = G It · twist per length."""

    @property
    def Ip(self) -> float:
        """Polar second moment ∫ (y² + z²) dA, which carries the inertia of twisting."""
        return self.Iy + self.Iz

    def outline(self) -> Outline:
        """Corners (y, z) of its outer edge, counterclockwise seen from +x, for drawing."""
        raise NotImplementedError


class ComputedSection(Section):
    """A section whose constants follow from its edges."""

    def _constants(self) -> tuple[float, float, float, float]:
        """Area, Iy, Iz, It."""
        raise NotImplementedError

    if not TYPE_CHECKING:
        area, Iy, Iz, It = (property(lambda self, k=k: self._constants()[k]) for k in range(4))


@element("rectangle")
class Rectangle(ComputedSection):
    """A solid rectangle."""

    width: float = element_field(POSITIVE, unit="m", meaning="edge along y")
    height: float = element_field(POSITIVE, unit="m", meaning="edge along z")

    def _constants(self) -> tuple[float, float, float, float]:
        """It: a b³ (1/3 − 64/π⁵ · b/a · Σ tanh(n π a / 2b) / n⁵) over odd n. The sum of 1/n⁵ is known, what tanh lacks of 1 is
        not, but it decays like exp(−n π)."""
        b, a = sorted((self.width, self.height))
        lacking = sum(2 / (1 + math.exp(min(n * math.pi * a / b, 700.0))) / n**5 for n in range(1, 16, 2))
        It = a * b**3 * (1 / 3 - 64 / math.pi**5 * b / a * (31 / 32 * ZETA_5 - lacking))
        return self.width * self.height, self.width * self.height**3 / 12, self.height * self.width**3 / 12, It

    def outline(self) -> Outline:
        return _rectangle(self.width, self.height)


@element("circle")
class Circle(ComputedSection):
    """A solid circle."""

    radius: float = element_field(POSITIVE, unit="m", meaning="radius")

    def _constants(self) -> tuple[float, float, float, float]:
        I = math.pi * self.radius**4 / 4
        return math.pi * self.radius**2, I, I, 2 * I

    def outline(self) -> Outline:
        return _circle(self.radius)


@element("tube")
class Tube(ComputedSection):
    """A circular tube."""

    outer: float = element_field(POSITIVE, unit="m", meaning="outer radius")
    inner: float = element_field(POSITIVE, unit="m", meaning="inner radius")

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.inner >= self.outer:
            raise ModelError(f"{self.label}: the inner radius ({self.inner}) must be smaller than the outer one ({self.outer})")

    def _constants(self) -> tuple[float, float, float, float]:
        I = math.pi * (self.outer**4 - self.inner**4) / 4
        return math.pi * (self.outer**2 - self.inner**2), I, I, 2 * I

    def outline(self) -> Outline:
        return _circle(self.outer)


@element("i-section")
class ISection(ComputedSection):
    """An I of two equal flanges across y and a web along z. Its torsion constant is that of thin walls, Σ length·thickness³/3
    with the web measured between the middles of the flanges; warping of the section is left out."""

    width: float = element_field(POSITIVE, unit="m", meaning="width of the flanges, along y")
    height: float = element_field(POSITIVE, unit="m", meaning="whole height, along z")
    web: float = element_field(POSITIVE, unit="m", meaning="thickness of the web")
    flange: float = element_field(POSITIVE, unit="m", meaning="thickness of each flange")

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.web >= self.width:
            raise ModelError(f"{self.label}: the web ({self.web}) must be thinner than the flanges are wide ({self.width})")
        if 2 * self.flange >= self.height:
            raise ModelError(f"{self.label}: two flanges of {self.flange} fill the height {self.height}; make them thinner")

    def _constants(self) -> tuple[float, float, float, float]:
        b, h, t, flange = self.width, self.height, self.web, self.flange
        inside = h - 2 * flange
        Iy, Iz = (b * h**3 - (b - t) * inside**3) / 12, (2 * flange * b**3 + inside * t**3) / 12
        return 2 * b * flange + t * inside, Iy, Iz, (2 * b * flange**3 + (h - flange) * t**3) / 3

    def outline(self) -> Outline:
        b, h, t, u = self.width / 2, self.height / 2, self.web / 2, self.height / 2 - self.flange
        right = [(b, -h), (b, -u), (t, -u), (t, u), (b, u), (b, h)]
        return right + [(-y, -z) for y, z in right]


@element("section")
class OwnSection(Section):
    """A section given by its constants."""

    area: float = element_field(POSITIVE, unit="m²", meaning="area")
    Iy: float = element_field(POSITIVE, unit="m⁴", meaning="∫ z² dA, for bending that displaces along z")
    Iz: float = element_field(POSITIVE, unit="m⁴", meaning="∫ y² dA, for bending that displaces along y")
    It: float = element_field(POSITIVE, unit="m⁴", meaning="torsion constant of Saint-Venant")

    def outline(self) -> Outline:
        """A rectangle with edges in the ratio that Iy and Iz ask for: of equal Iy and Iz, not of equal area."""
        ratio = math.sqrt(self.Iy / self.Iz)  # height / width
        width = (12 * self.Iz / ratio) ** 0.25
        return _rectangle(width, ratio * width)


SECTIONS = (Rectangle, Circle, Tube, ISection, OwnSection)
"""The types of files."""


def _rectangle(width: float, height: float) -> Outline:
    b, h = width / 2, height / 2
    return [(b, -h), (b, h), (-b, h), (-b, -h)]


def _circle(radius: float) -> Outline:
    angles = [2 * math.pi * k / ROUND for k in range(ROUND)]
    return [(radius * math.cos(a), radius * math.sin(a)) for a in angles]
