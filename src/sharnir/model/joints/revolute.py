"""One rotation."""

from __future__ import annotations

from collections.abc import Sequence

from ...trace import Number
from ..element import element, element_field
from ..pose import Axis, Pose, unit_axis
from ..values import AxisValue
from .base import AxisJoint
from .closing_rows import Row, common_axis, no_shift


@element("revolute")
class Revolute(AxisJoint):
    """A hinge: rotation about a fixed axis. The coordinate is the angle in radians."""

    axis: Axis = element_field(AxisValue(), default="z", meaning="axis of rotation")
    coordinates = ("angle",)

    def steps(self, label: str) -> list[tuple[str, Axis, float, float]]:
        return [("angle", self.axis, 1.0, 0.0)]

    def closing_rows(self, pose: Pose, t: Number, label: str) -> Sequence[Row]:
        return [*no_shift(pose.position), *common_axis(pose.rotation, unit_axis(self.axis, label))]
