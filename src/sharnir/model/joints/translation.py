"""Three shifts."""

from __future__ import annotations

from ..pose import Axis
from .base import AxisJoint


class Translation(AxisJoint):
    """Free to shift in all three directions, never to turn."""

    coordinates = ("x", "y", "z")

    def steps(self, label: str) -> list[tuple[str, Axis, float, float]]:
        return [("x", "x", 0.0, 1.0), ("y", "y", 0.0, 1.0), ("z", "z", 0.0, 1.0)]
