"""Surfaces without mass that bodies touch, or touch with, beside solid shapes: planes, grounds by height functions, points."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

from ..trace import Expression, Graph, call_traced, check_numbers, tangent
from .element import Element, element, element_field
from .pose import Pose
from .values import HERE, Function, Places, PoseValue


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
