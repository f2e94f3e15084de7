"""A shift and a turn on one axis."""

from __future__ import annotations

from typing import Any

from ..pose import Axis
from .base import AxisJoint


class Cylindrical(AxisJoint):
    """A shaft in a bush: free to slide along its axis and to turn about it."""

    coordinates = ("distance", "angle")

    def __init__(self, axis: Axis = "z", **options: Any) -> None:
        super().__init__(**options)
        self.axis = axis

    def steps(self, label: str) -> list[tuple[str, Axis, float, float]]:
        return [("distance", self.axis, 0.0, 1.0), ("angle", self.axis, 1.0, 0.0)]
