"""A point of a body on a surface or on a curve."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ...kernels.algebra import ZERO3
from ...trace import Number
from ..body import GROUND
from ..element import element, element_field
from ..joints.closing_rows import Row
from ..motion import Motion
from ..pose import Pose
from ..values import Function, Label, Name, Vector
from .constraint_element import ConstraintElement

Surface = Callable[[Any, Any, Any, Any], Any]
SURFACE = Function(("x", "y", "z", "t"))


class _Point(ConstraintElement):
    """A point of `body` seen in the axes of `of`."""

    symbolic = ("at",)

    if TYPE_CHECKING:
        body: str
        at: Sequence[float]
        of: str

    def point(self, on: Motion) -> tuple[Number, ...]:
        """x, y, z, t"""
        return (*(on.pose(self.of).inverse() @ on.pose(self.body, Pose(self.at)).position), on.t)


@element("point-on-surface")
class PointOnSurface(_Point):
    """A point of a body on a surface, surface(x, y, z, t) = 0."""

    body: str = element_field(Name("body"), meaning="the body the point is fixed to")
    surface: Surface = element_field(SURFACE, meaning="a function of x, y, z and t that is zero on the surface")
    at: Sequence[float] = element_field(Vector(3), default=ZERO3, unit="m", meaning="the point, in the body's axes")
    of: str = element_field(Name("body"), default=GROUND, meaning="the body in whose axes x, y, z are")
    name: str | None = element_field(Label(), default=None, key="")

    def positions(self, on: Motion) -> Sequence[Row]:
        return [("surface", self.surface(*self.point(on)))]


@element("point-on-curve")
class PointOnCurve(_Point):
    """A point of a body on the intersection of two surfaces."""

    body: str = element_field(Name("body"), meaning="the body the point is fixed to")
    first: Surface = element_field(SURFACE, meaning="a function of x, y, z and t that is zero on the first surface")
    second: Surface = element_field(SURFACE, meaning="the same of the second surface")
    at: Sequence[float] = element_field(Vector(3), default=ZERO3, unit="m", meaning="the point, in the body's axes")
    of: str = element_field(Name("body"), default=GROUND, meaning="the body in whose axes x, y, z are")
    name: str | None = element_field(Label(), default=None, key="")

    def positions(self, on: Motion) -> Sequence[Row]:
        point = self.point(on)
        return [("first surface", self.first(*point)), ("second surface", self.second(*point))]
