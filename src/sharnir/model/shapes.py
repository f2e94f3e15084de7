"""Solid shapes of uniform density, as a way to give mass properties (and something to draw)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from ..errors import ModelError
from .pose import Pose, Rotation, vector3


def _positive(value: float, what: str) -> float:
    if not (math.isfinite(value) and value > 0.0):
        raise ModelError(f"{what} must be positive, got {value}")
    return float(value)


@dataclass(frozen=True)
class Shape:
    """A shape at a pose in the body's frame; its centre of mass is at the pose's origin."""

    def volume(self) -> float:
        raise NotImplementedError

    def moments(self) -> tuple[float, float, float]:
        """Principal moments of inertia per kilogram, about the pose's own axes."""
        raise NotImplementedError

    def placement(self) -> Pose:
        raise NotImplementedError

    def mass_properties(self, mass: float | None, density: float | None, label: str) -> tuple[float, tuple, np.ndarray]:
        """Mass, centre of mass and 3×3 inertia about it, from the mass or the density (kg/m³)."""
        if (mass is None) == (density is None):
            raise ModelError(f"{label}: give a shape either its mass or its density")
        if mass is None:
            volume = self.volume()
            if volume == 0.0:
                raise ModelError(f"{label}: this shape has no volume; give its mass instead of a density")
            mass = volume * _positive(density, f"{label}: density")  # type: ignore[arg-type]
        pose = self.placement()
        R = pose.rotation.matrix
        return mass, pose.position, R @ np.diag(self.moments()) @ R.T * mass


@dataclass(frozen=True)
class Box(Shape):
    """A block with edges `size` along its x, y, z."""

    size: Sequence[float]
    at: Pose = field(default_factory=Pose)

    def __post_init__(self) -> None:
        for edge in vector3(self.size, "box: size"):
            _positive(edge, "box: every edge")

    def volume(self) -> float:
        return float(np.prod(self.size))

    def moments(self) -> tuple[float, float, float]:
        x, y, z = self.size
        return (y * y + z * z) / 12, (x * x + z * z) / 12, (x * x + y * y) / 12

    def placement(self) -> Pose:
        return self.at


@dataclass(frozen=True)
class Cylinder(Shape):
    """A round bar along its z; `hole` is the radius of a bore."""

    radius: float
    length: float
    at: Pose = field(default_factory=Pose)
    hole: float = 0.0

    def __post_init__(self) -> None:
        _positive(self.radius, "cylinder: radius")
        _positive(self.length, "cylinder: length")
        if not 0.0 <= self.hole < self.radius:
            raise ModelError(f"cylinder: the hole (radius {self.hole}) must be smaller than the cylinder (radius {self.radius})")

    def volume(self) -> float:
        return math.pi * (self.radius**2 - self.hole**2) * self.length

    def moments(self) -> tuple[float, float, float]:
        square = self.radius**2 + self.hole**2
        across = square / 4 + self.length**2 / 12
        return across, across, square / 2

    def placement(self) -> Pose:
        return self.at


@dataclass(frozen=True)
class Sphere(Shape):
    """A ball."""

    radius: float
    at: Pose = field(default_factory=Pose)

    def __post_init__(self) -> None:
        _positive(self.radius, "sphere: radius")

    def volume(self) -> float:
        return 4 / 3 * math.pi * self.radius**3

    def moments(self) -> tuple[float, float, float]:
        return (0.4 * self.radius**2,) * 3

    def placement(self) -> Pose:
        return self.at


@dataclass(frozen=True)
class Rod(Shape):
    """A straight rod from one point to another: thin, or round with a radius."""

    start: Sequence[float]
    end: Sequence[float]
    radius: float = 0.0

    def __post_init__(self) -> None:
        vector3(self.start, "rod: start")
        vector3(self.end, "rod: end")
        _positive(self.length(), "rod: the distance between its ends")
        if self.radius < 0.0:
            raise ModelError(f"rod: radius must not be negative, got {self.radius}")

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
