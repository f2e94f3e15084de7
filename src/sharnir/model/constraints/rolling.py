"""Rolling without slip."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ...kernels.algebra import add, cross, dot, scale, sub
from ...trace.functions import sqrt
from ..forces.base import positive
from ..pose import Axis, unit_axis, vector3
from .base import Constraint, Row

if TYPE_CHECKING:
    from ..motion import Motion

ORIGIN = (0.0, 0.0, 0.0)


class Rolling(Constraint):
    """A thin disc rolls on a plane of the world without slipping.

    body, centre, axis   the disc: its middle and its axis, in the body's axes;  radius
    normal, point        the plane, in the world
    Touching is a row of position; the velocity of the touching point across the normal gives two rows of speeds.
    """

    def __init__(
        self,
        body: str,
        radius: float,
        axis: Axis = "z",
        centre: Sequence[float] = ORIGIN,
        normal: Axis = "z",
        point: Sequence[float] = ORIGIN,
        name: str | None = None,
    ) -> None:
        self.body, self.name = body, name
        self.radius = positive(radius, "rolling: radius", zero=False)
        self.axis, self.normal = unit_axis(axis, "rolling: axis"), unit_axis(normal, "rolling: normal")
        self.centre, self.point = vector3(centre, "rolling: centre"), vector3(point, "rolling: point")

    def bodies(self) -> Sequence[str]:
        return (self.body,)

    def positions(self, on: Motion) -> Sequence[Row]:
        pose = on.pose(self.body)
        tilt = dot(self.normal, pose.rotation @ self.axis)
        height = dot(self.normal, sub(pose @ self.centre, self.point))
        return [("touching", height - self.radius * sqrt(1.0 - tilt * tilt))]

    def speeds(self, on: Motion) -> Sequence[Row]:
        pose, n = on.pose(self.body), self.normal
        a = pose.rotation @ self.axis
        tilt = dot(n, a)
        down = scale(sub(scale(a, tilt), n), self.radius / sqrt(1.0 - tilt * tilt))  # from the middle to the touching point
        _, v = on.point(self.body, self.centre)
        slip = add(v, cross(on.spin(self.body), down))
        along = cross(n, a)
        return [("slip along", dot(along, slip)), ("slip across", dot(cross(n, along), slip))]
