"""Solid shapes of uniform density, as a way to give mass properties (and something to draw); surfaces and points that touch."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import ModelError
from ..kernels.algebra import dot, sub
from ..trace import Expression, Graph, Number, at_values, call_traced, check_numbers, has_parameters, is_zero, tangent
from ..trace.functions import sqrt
from .element import Element, element, element_field, not_negative, positive
from .pose import Pose, Rotation
from .values import HERE, Function, Places, PoseValue, Scalar, Vector, checked


class Shape(Element):
    """A shape at a pose in the body's frame; its centre of mass is at the pose's origin."""

    if TYPE_CHECKING:
        at: Pose

    def volume(self) -> Number:
        raise NotImplementedError

    def moments(self) -> tuple[Number, Number, Number]:
        """Principal moments of inertia per kilogram, about the pose's own axes."""
        raise NotImplementedError

    def placement(self) -> Pose:
        """The pose of the centre of mass and of the axes of `moments`."""
        return self.at

    def mass_properties(
        self, mass: Number | None, density: Number | None, label: str
    ) -> tuple[Number, tuple[Number, Number, Number], np.ndarray]:
        """Mass, centre of mass and 3×3 inertia about it, from the mass or the density (kg/m³)."""
        if (mass is None) == (density is None):
            raise ModelError(f"{label}: give a shape either its mass or its density")
        try:
            if mass is None:
                volume = self.volume()
                if is_zero(volume):
                    raise ModelError(f"{label}: this shape has no volume; give its mass instead of a density")
                mass = volume * checked(Scalar(above=0.0), density, f"{label}: density")
            return mass, self.centre(), self.inertia() * mass
        except OverflowError:
            raise ModelError(f"{label}: the shape {self!r} is too large: its moments of inertia are not finite") from None

    def centre(self) -> tuple[Number, Number, Number]:
        """The centre of mass, in the body's frame."""
        return self.placement().position

    def inertia(self) -> np.ndarray:
        """3×3 per kilogram about the centre of mass, in the body's axes."""
        R = self.placement().rotation.matrix
        found: np.ndarray = R @ np.diag(np.array(self.moments())) @ R.T
        return found


@element("box")
class Box(Shape):
    """A cuboid."""

    size: Sequence[float] = element_field(Vector(3, Scalar(above=0.0)), unit="m", meaning="edges along x, y, z")
    at: Pose = element_field(PoseValue(), default=HERE, meaning="pose of its centre in the body")

    def volume(self) -> Number:
        x, y, z = self.size
        return x * y * z

    def moments(self) -> tuple[Number, Number, Number]:
        x, y, z = self.size
        return (y * y + z * z) / 12, (x * x + z * z) / 12, (x * x + y * y) / 12


@element("cylinder")
class Cylinder(Shape):
    """A round bar along its z, solid or with a bore."""

    radius: float = positive(unit="m", meaning="outer radius")
    length: float = positive(unit="m", meaning="length along z")
    at: Pose = element_field(PoseValue(), default=HERE, meaning="pose of its centre in the body")
    hole: float = not_negative(default=0.0, unit="m", meaning="radius of a bore")

    def __post_init__(self) -> None:
        super().__post_init__()
        if at_values(self.hole) >= at_values(self.radius):
            raise ModelError(
                f"{self.label}: the hole (radius {self.hole}) must be smaller than the cylinder (radius {self.radius})"
            )

    def volume(self) -> Number:
        return math.pi * (self.radius**2 - self.hole**2) * self.length

    def moments(self) -> tuple[Number, Number, Number]:
        square = self.radius**2 + self.hole**2
        across = square / 4 + self.length**2 / 12
        return across, across, square / 2


@element("sphere")
class Sphere(Shape):
    """A solid ball."""

    radius: float = positive(unit="m", meaning="radius")
    at: Pose = element_field(PoseValue(), default=HERE, meaning="pose of its centre in the body")

    def volume(self) -> Number:
        return 4 / 3 * math.pi * self.radius**3

    def moments(self) -> tuple[Number, Number, Number]:
        return (0.4 * self.radius**2,) * 3


@element("capsule")
class Capsule(Shape):
    """A round bar along its z with half balls at its ends."""

    radius: float = positive(unit="m", meaning="radius")
    length: float = positive(unit="m", meaning="length along z without the ends")
    at: Pose = element_field(PoseValue(), default=HERE, meaning="pose of its centre in the body")

    def volume(self) -> Number:
        return math.pi * self.radius**2 * (self.length + 4 / 3 * self.radius)

    def moments(self) -> tuple[Number, Number, Number]:
        r, length = self.radius, self.length
        bar = length / (length + 4 / 3 * r)  # its share of the mass
        ends = 1.0 - bar
        across = bar * (r**2 / 4 + length**2 / 12) + ends * (0.4 * r**2 + length**2 / 4 + 0.375 * length * r)
        return across, across, (0.5 * bar + 0.4 * ends) * r**2


@element("torus")
class Torus(Shape):
    """A ring about its z: a tyre."""

    radius: float = positive(unit="m", meaning="radius of the circle in the middle of the tube")
    tube: float = positive(unit="m", meaning="radius of the tube")
    at: Pose = element_field(PoseValue(), default=HERE, meaning="pose of its centre in the body")

    def __post_init__(self) -> None:
        super().__post_init__()
        if at_values(self.tube) > at_values(self.radius):
            raise ModelError(f"{self.label}: the tube (radius {self.tube}) is wider than the ring (radius {self.radius})")

    def volume(self) -> Number:
        return 2.0 * math.pi**2 * self.radius * self.tube**2

    def moments(self) -> tuple[Number, Number, Number]:
        across = self.radius**2 / 2 + 0.625 * self.tube**2
        return across, across, self.radius**2 + 0.75 * self.tube**2


@element("rod")
class Rod(Shape):
    """A straight rod between two points: thin, or round with a radius."""

    start: Sequence[float] = element_field(Vector(3), unit="m", meaning="one end, in the body's axes")
    end: Sequence[float] = element_field(Vector(3), unit="m", meaning="the other end")
    radius: float = not_negative(default=0.0, unit="m", meaning="radius; 0 for a thin rod")

    def __post_init__(self) -> None:
        super().__post_init__()
        length = at_values(self.length())
        if not (math.isfinite(length) and length > 0.0):
            raise ModelError(f"{self.label}: the distance between its ends must be positive, got {length}")

    def length(self) -> Number:
        x = sub(self.end, self.start)
        return sqrt(dot(x, x)) if has_parameters(x) else math.hypot(*x)  # which neither overflows nor vanishes

    def _square(self) -> Number:
        x = sub(self.end, self.start)
        return dot(x, x) if has_parameters(x) else self.length() ** 2

    def volume(self) -> Number:
        return math.pi * self.radius**2 * self.length()

    def moments(self) -> tuple[Number, Number, Number]:
        across = self.radius**2 / 4 + self._square() / 12
        return across, across, self.radius**2 / 2

    def placement(self) -> Pose:
        along = [at_values(x) / at_values(self.length()) for x in sub(self.end, self.start)]
        return Pose(self.centre(), Rotation.align_z(along))

    def centre(self) -> tuple[Number, Number, Number]:
        x, y, z = ((a + b) / 2 for a, b in zip(self.start, self.end, strict=True))
        return x, y, z

    def inertia(self) -> np.ndarray:
        """Inertia without a choice of axes across the rod: J = J_across E + (J_along − J_across) d dᵀ."""
        across, _, along = self.moments()
        x, square = np.array(sub(self.end, self.start)), self._square()
        found: np.ndarray = np.diag(np.array([across] * 3)) + np.outer(x, x) / square * (along - across)
        return found


# --- surfaces without mass that bodies touch, or touch with: planes, grounds by height functions, points
@element("plane")
class Plane(Element):
    """A half space: everything below z = 0 of its pose."""

    at: Pose = element_field(PoseValue(), default=HERE, meaning="pose of the plane in its body; its z points out of the ground")


@element("height-function")
class HeightFunction(Element):
    """A ground of varying height: everything below z = height(x, y) in the axes of its pose.

    The function is traced: it is made of the functions of sharnir, and should have continuous second derivatives.
    """

    height: Callable[[Any, Any], Any] = element_field(Function(("x", "y")), unit="m", meaning="height as a function of x and y")
    at: Pose = element_field(PoseValue(), default=HERE, meaning="pose in its body of the axes in which x, y and the height are")

    @cached_property
    def derivatives(self) -> Expression:
        """The expression of `height_derivatives`, traced once."""
        return height_derivatives(self.height, "a height function")


@element("points")
class Points(Element):
    """Points of a body that touch: corners, or the vertices of a mesh (`sharnir.mesh_points` reads them from a file)."""

    points: Sequence[Sequence[float]] = element_field(Places(), unit="m", meaning="the points")
    at: Pose = element_field(PoseValue(), default=HERE, meaning="pose in the body of the axes in which the points are")


def height_derivatives(height: Callable[[Any, Any], Any], label: str) -> Expression:
    """(x, y) -> height, its slopes along x and y, its second derivatives xx, xy, yy."""
    graph = Graph()
    x, y = graph.inputs(2)
    z = check_numbers((call_traced(height, (x, y), label),), graph, label)
    along_x, along_y = tangent(z, {x: 1.0}), tangent(z, {y: 1.0})
    second = (*tangent(along_x, {x: 1.0}), *tangent(along_x, {y: 1.0}), *tangent(along_y, {y: 1.0}))
    return Expression(graph, (x, y), (*z, *along_x, *along_y, *second))
