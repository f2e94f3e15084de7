"""One translation."""

from __future__ import annotations

from collections.abc import Sequence

from ...trace import Number
from ..element import element, element_field
from ..pose import Axis, Pose, unit_axis
from ..values import AxisValue
from .base import AxisJoint
from .closing_rows import Row, across, no_shift, no_turn


@element("prismatic")
class Prismatic(AxisJoint):
    """A slider: translation along a fixed axis. The coordinate is the distance in metres."""

    axis: Axis = element_field(AxisValue(), default="z", meaning="axis of translation")
    coordinates = ("distance",)

    def steps(self, label: str) -> list[tuple[str, Axis, float, float]]:
        return [("distance", self.axis, 0.0, 1.0)]

    def closing_rows(self, pose: Pose, t: Number, label: str) -> Sequence[Row]:
        return [*no_shift(pose.position, across(unit_axis(self.axis, label))), *no_turn(pose.rotation)]
