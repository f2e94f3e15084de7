"""What bodies touch, or touch with, beside solid shapes: planes, grounds by a height function, points. They have no mass."""

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
        """x, y → f, its first derivatives f_x, f_y and its second ones f_xx, f_xy, f_yy."""
        graph = Graph()
        x, y = graph.inputs(2)
        found = call_traced(self.height, (x, y), "the height of a ground")
        (f,) = check_numbers([found], graph, "the height of a ground")
        fx, fy = (tangent((f,), [(one, 1.0)])[0] for one in (x, y))
        fxx, fxy = (tangent((fx,), [(one, 1.0)])[0] for one in (x, y))
        (fyy,) = tangent((fy,), [(y, 1.0)])
        return Expression(graph, (x, y), (f, fx, fy, fxx, fxy, fyy))


@element("points")
class Points(Element):
    """Points of a body that touch: corners, or the vertices of a mesh (`sharnir.mesh_points` reads them from a file)."""

    points: Sequence[Sequence[float]] = element_field(Places(), unit="m", meaning="the points")
    at: Pose = element_field(PoseValue(), default=HERE, meaning="pose in the body of the axes in which the points are")
