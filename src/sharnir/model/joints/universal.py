"""Two rotations."""

from __future__ import annotations

from collections.abc import Sequence

from ...errors import ModelError
from ...kernels.algebra import cross, dot
from ...trace import Number
from ..element import element, element_field
from ..pose import Axis, Pose, unit_axis
from ..values import AxisValue
from .base import AxisJoint
from .closing_rows import Row, no_shift


@element("universal")
class Universal(AxisJoint):
    """A cross joint: rotation about `first`, fixed in the parent, then about `second`, fixed in the child."""

    first: Axis = element_field(AxisValue(), default="x", meaning="first axis, fixed in the parent")
    second: Axis = element_field(AxisValue(), default="y", meaning="second axis, fixed in the child")
    coordinates = ("first", "second")

    def steps(self, label: str) -> list[tuple[str, Axis, float, float]]:
        side = cross(unit_axis(self.first, label), unit_axis(self.second, label))
        if dot(side, side) < 1e-12:
            raise ModelError(f"{label}: the two axes of a universal joint must not be parallel; for one axis use Revolute")
        return [("first", self.first, 1.0, 0.0), ("second", self.second, 1.0, 0.0)]

    def closing_rows(self, pose: Pose, t: Number, label: str) -> Sequence[Row]:
        first, second = unit_axis(self.first, label), unit_axis(self.second, label)
        rest = dot(first, pose.rotation @ second) - dot(first, second)
        return [*no_shift(pose.position), ("turn across both axes", rest)]
