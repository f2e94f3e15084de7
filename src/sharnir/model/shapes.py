"""Solid shapes of uniform density, as a way to give mass properties (and something to draw)."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ..errors import ModelError
from .element import Element, element, element_field
from .pose import Pose, Rotation
from .values import HERE, Fault, PoseValue, Scalar, Vector


class Shape(Element):
    """A shape at a pose in the body's frame; its centre of mass is at the pose's origin."""

    def volume(self) -> float:
        raise NotImplementedError

    def moments(self) -> tuple[float, float, float]:
        """Principal moments of inertia per kilogram, about the pose's own axes."""
        raise NotImplementedError

    def placement(self) -> Pose:
        raise NotImplementedError

    def mass_properties(
        self, mass: float | None, density: float | None, label: str
    ) -> tuple[float, tuple[float, float, float], np.ndarray]:
        """Mass, centre of mass and 3×3 inertia about it, from the mass or the density (kg/m³)."""
        if (mass is None) == (density is None):
            raise ModelError(f"{label}: give a shape either its mass or its density")
        try:
            return self._mass_properties(mass, density, label)
        except OverflowError:
            raise ModelError(f"{label}: the shape {self!r} is too large: its moments of inertia are not finite") from None

    def _mass_properties(
        self, mass: float | None, density: float | None, label: str
    ) -> tuple[float, tuple[float, float, float], np.ndarray]:
        if mass is None:
            volume = self.volume()
            if volume == 0.0:
                raise ModelError(f"{label}: this shape has no volume; give its mass instead of a density")
            mass = volume * _checked(Scalar(above=0.0), density, f"{label}: density")
        pose = self.placement()
        R = pose.rotation.matrix
        return mass, pose.position, R @ np.diag(self.moments()) @ R.T * mass


def _checked(kind: Scalar, x: object, what: str) -> float:
    try:
        return kind.check(x)
    except Fault as fault:
        raise ModelError(f"{what}: {fault.what}") from None


@element("box")
class Box(Shape):
    """A cuboid."""

    size: Sequence[float] = element_field(Vector(3, Scalar(above=0.0)), unit="m", meaning="edges along x, y, z")
    at: Pose = element_field(PoseValue(), default=HERE, meaning="pose of its centre in the body")

    def volume(self) -> float:
        return float(np.prod(self.size))

    def moments(self) -> tuple[float, float, float]:
        x, y, z = self.size
        return (y * y + z * z) / 12, (x * x + z * z) / 12, (x * x + y * y) / 12

    def placement(self) -> Pose:
        return self.at


@element("cylinder")
class Cylinder(Shape):
    """A round bar along its z, solid or with a bore."""

    radius: float = element_field(Scalar(above=0.0), unit="m", meaning="outer radius")
    length: float = element_field(Scalar(above=0.0), unit="m", meaning="length along z")
    at: Pose = element_field(PoseValue(), default=HERE, meaning="pose of its centre in the body")
    hole: float = element_field(Scalar(at_least=0.0), default=0.0, unit="m", meaning="radius of a bore")

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.hole >= self.radius:
            raise ModelError(
                f"{self.label}: the hole (radius {self.hole}) must be smaller than the cylinder (radius {self.radius})"
            )

    def volume(self) -> float:
        return math.pi * (self.radius**2 - self.hole**2) * self.length

    def moments(self) -> tuple[float, float, float]:
        square = self.radius**2 + self.hole**2
        across = square / 4 + self.length**2 / 12
        return across, across, square / 2

    def placement(self) -> Pose:
        return self.at


@element("sphere")
class Sphere(Shape):
    """A solid ball."""

    radius: float = element_field(Scalar(above=0.0), unit="m", meaning="radius")
    at: Pose = element_field(PoseValue(), default=HERE, meaning="pose of its centre in the body")

    def volume(self) -> float:
        return 4 / 3 * math.pi * self.radius**3

    def moments(self) -> tuple[float, float, float]:
        return (0.4 * self.radius**2,) * 3

    def placement(self) -> Pose:
        return self.at


@element("rod")
class Rod(Shape):
    """A straight rod between two points: thin, or round with a radius."""

    start: Sequence[float] = element_field(Vector(3), unit="m", meaning="one end, in the body's axes")
    end: Sequence[float] = element_field(Vector(3), unit="m", meaning="the other end")
    radius: float = element_field(Scalar(at_least=0.0), default=0.0, unit="m", meaning="radius; 0 for a thin rod")

    def __post_init__(self) -> None:
        super().__post_init__()
        if not (math.isfinite(self.length()) and self.length() > 0.0):
            raise ModelError(f"{self.label}: the distance between its ends must be positive, got {self.length()}")

    def length(self) -> float:
        return math.dist(self.start, self.end)

    def volume(self) -> float:
        return math.pi * self.radius**2 * self.length()

    def moments(self) -> tuple[float, float, float]:
        across = self.radius**2 / 4 + self.length() ** 2 / 12
        return across, across, self.radius**2 / 2

    def placement(self) -> Pose:
        middle = [(a + b) / 2 for a, b in zip(self.start, self.end, strict=True)]
        along = [(b - a) / self.length() for a, b in zip(self.start, self.end, strict=True)]
        return Pose(middle, Rotation.align_z(along))
