"""Three translations."""

from __future__ import annotations

from collections.abc import Sequence

from ...trace import Number
from ..element import element
from ..pose import Axis, Pose
from .base import AxisJoint
from .closing_rows import Row, no_turn


@element("translation")
class Translation(AxisJoint):
    """Free to translate in all three directions, never to rotate. Coordinates: x, y, z."""

    coordinates = ("x", "y", "z")

    def steps(self, label: str) -> list[tuple[str, Axis, float, float]]:
        return [("x", "x", 0.0, 1.0), ("y", "y", 0.0, 1.0), ("z", "z", 0.0, 1.0)]

    def closing_rows(self, pose: Pose, t: Number, label: str) -> Sequence[Row]:
        return no_turn(pose.rotation)
