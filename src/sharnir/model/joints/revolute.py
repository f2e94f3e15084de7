"""One turn."""

from __future__ import annotations

from typing import Any

from ..pose import Axis
from .base import AxisJoint


class Revolute(AxisJoint):
    """A hinge: a turn about a fixed axis. The coordinate is the angle in radians."""

    coordinates = ("angle",)

    def __init__(self, axis: Axis = "z", **options: Any) -> None:
        super().__init__(**options)
        self.axis = axis

    def steps(self, label: str) -> list[tuple[str, Axis, float, float]]:
        return [("angle", self.axis, 1.0, 0.0)]
