"""Rolling without slip."""

from __future__ import annotations

from collections.abc import Sequence

from ...kernels.algebra import ZERO3, add, cross, dot, scale, sub
from ...trace.functions import sqrt
from ..element import element, element_field, positive
from ..joints.closing_rows import Row
from ..motion import Motion
from ..pose import Axis, Pose, unit_axis
from ..values import AxisValue, Label, Name, Vector
from .constraint_element import ConstraintElement


@element("rolling")
class Rolling(ConstraintElement):
    """A thin disc rolls without slipping on a plane that is fixed in the world.

    Contact is a row of position; the velocity of the contact point in the plane gives two rows of speeds.
    """

    body: str = element_field(Name("body"), meaning="the body the disc is part of")
    radius: float = positive(unit="m", meaning="radius of the disc")
    axis: Axis = element_field(AxisValue(), default="z", meaning="axis of the disc, in the body's axes")
    centre: Sequence[float] = element_field(Vector(3), default=ZERO3, unit="m", meaning="centre of the disc, in the body's axes")
    normal: Axis = element_field(AxisValue(), default="z", meaning="normal of the plane, in the world")
    point: Sequence[float] = element_field(Vector(3), default=ZERO3, unit="m", meaning="a point of the plane, in the world")
    name: str | None = element_field(Label(), default=None, key="")
    undefined = (
        "the axis of the disc is along the normal of the plane there, so that it lies flat and touches everywhere: start upright "
        "(q0=…), or give `axis`, in the body's axes, or `normal`, in the world, another direction"
    )
    symbolic = ("radius", "centre", "point")

    def positions(self, on: Motion) -> Sequence[Row]:
        disc = on.pose(self.body, Pose(self.centre))
        n, axis = self._directions()
        tilt = dot(n, disc.rotation @ axis)
        height = dot(n, sub(disc.position, self.point))
        return [("touching", height - self.radius * sqrt(1.0 - tilt * tilt))]

    def speeds(self, on: Motion) -> Sequence[Row]:
        n, axis = self._directions()
        a = on.pose(self.body, Pose(self.centre)).rotation @ axis
        tilt = dot(n, a)
        down = scale(sub(scale(a, tilt), n), self.radius / sqrt(1.0 - tilt * tilt))  # from the centre to the contact point
        _, v = on.point(self.body, self.centre)
        slip = add(v, cross(on.spin(self.body, self.centre), down))
        along = cross(n, a)
        return [("slip along", dot(along, slip)), ("slip across", dot(cross(n, along), slip))]

    def _directions(self) -> tuple[tuple[float, ...], tuple[float, ...]]:
        """Normal of the plane in the world, axis of the disc in the body."""
        return unit_axis(self.normal, self.label), unit_axis(self.axis, self.label)
