"""One turn that advances."""

from __future__ import annotations

import math
from typing import Any

from ...errors import ModelError
from ..pose import Axis
from .base import AxisJoint


class Screw(AxisJoint):
    """A turn about an axis that shifts along it by `pitch` metres per radian. The coordinate is the angle."""

    coordinates = ("angle",)

    def __init__(self, axis: Axis = "z", *, pitch: float, **options: Any) -> None:
        super().__init__(**options)
        if not math.isfinite(pitch):
            raise ModelError(f"screw: pitch must be a finite number of metres per radian, got {pitch}")
        self.axis = axis
        self.pitch = float(pitch)

    def steps(self, label: str) -> list[tuple[str, Axis, float, float]]:
        return [("angle", self.axis, 1.0, self.pitch)]
