"""A translation and a rotation on one axis."""

from __future__ import annotations

from collections.abc import Sequence

from ...trace import Number
from ..element import element, element_field
from ..pose import Axis, Pose, unit_axis
from ..values import AxisValue
from .base import AxisJoint
from .closing_rows import Row, across, common_axis, no_shift


@element("cylindrical")
class Cylindrical(AxisJoint):
    """A shaft in a bush: free to slide along its axis and to rotate about it."""

    axis: Axis = element_field(AxisValue(), default="z", meaning="axis of translation and rotation")
    coordinates = ("distance", "angle")

    def steps(self, label: str) -> list[tuple[str, Axis, float, float]]:
        return [("distance", self.axis, 0.0, 1.0), ("angle", self.axis, 1.0, 0.0)]

    def closing_rows(self, pose: Pose, t: Number, label: str) -> Sequence[Row]:
        axis = unit_axis(self.axis, label)
        return [*no_shift(pose.position, across(axis)), *common_axis(pose.rotation, axis)]
