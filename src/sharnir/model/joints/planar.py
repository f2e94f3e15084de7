"""Two translations and a rotation."""

from __future__ import annotations

from collections.abc import Sequence

from ...trace import Number
from ..element import element
from ..pose import Axis, Pose
from .base import AxisJoint
from .closing_rows import Row, Z, common_axis, no_shift


@element("planar")
class Planar(AxisJoint):
    """Motion in the xy plane of the joint frame: translations x and y in the parent's axes, then rotation about z."""

    coordinates = ("x", "y", "angle")

    def steps(self, label: str) -> list[tuple[str, Axis, float, float]]:
        return [("x", "x", 0.0, 1.0), ("y", "y", 0.0, 1.0), ("angle", "z", 1.0, 0.0)]

    def closing_rows(self, pose: Pose, t: Number, label: str) -> Sequence[Row]:
        return [*no_shift(pose.position, [Z]), *common_axis(pose.rotation, Z)]
