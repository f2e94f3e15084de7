"""One shift."""

from __future__ import annotations

from typing import Any

from ..pose import Axis
from .base import AxisJoint


class Prismatic(AxisJoint):
    """A slider: a shift along a fixed axis. The coordinate is the distance in metres."""

    coordinates = ("distance",)

    def __init__(self, axis: Axis = "z", **options: Any) -> None:
        super().__init__(**options)
        self.axis = axis

    def steps(self, label: str) -> list[tuple[str, Axis, float, float]]:
        return [("distance", self.axis, 0.0, 1.0)]
