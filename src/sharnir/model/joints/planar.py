"""Two shifts and a turn."""

from __future__ import annotations

from ..pose import Axis
from .base import AxisJoint


class Planar(AxisJoint):
    """Motion in the xy plane of the joint's frame: shifts x and y in the carrier's axes, then a turn about z."""

    coordinates = ("x", "y", "angle")

    def steps(self, label: str) -> list[tuple[str, Axis, float, float]]:
        return [("x", "x", 0.0, 1.0), ("y", "y", 0.0, 1.0), ("angle", "z", 1.0, 0.0)]
