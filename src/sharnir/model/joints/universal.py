"""Two turns."""

from __future__ import annotations

from typing import Any

from ...errors import ModelError
from ...kernels.algebra import cross, dot
from ..pose import Axis, unit_axis
from .base import AxisJoint


class Universal(AxisJoint):
    """A cross joint: a turn about `first`, fixed in the carrier, then about `second`, fixed in the moved body."""

    coordinates = ("first", "second")

    def __init__(self, first: Axis = "x", second: Axis = "y", **options: Any) -> None:
        super().__init__(**options)
        self.first = first
        self.second = second

    def steps(self, label: str) -> list[tuple[str, Axis, float, float]]:
        side = cross(unit_axis(self.first, label), unit_axis(self.second, label))
        if dot(side, side) < 1e-12:
            raise ModelError(f"{label}: the two axes of a universal joint must not be parallel; for one axis use Revolute")
        return [("first", self.first, 1.0, 0.0), ("second", self.second, 1.0, 0.0)]
