"""One rotation that advances."""

from __future__ import annotations

from ..element import element, element_field
from ..pose import Axis
from ..values import AxisValue, Scalar
from .base import AxisJoint


@element("screw")
class Screw(AxisJoint):
    """Rotation about an axis with translation along it in proportion. The coordinate is the angle."""

    axis: Axis = element_field(AxisValue(), default="z", meaning="axis of the screw")
    pitch: float = element_field(Scalar(), unit="m/rad", meaning="translation per radian", kw_only=True)
    coordinates = ("angle",)

    def steps(self, label: str) -> list[tuple[str, Axis, float, float]]:
        return [("angle", self.axis, 1.0, self.pitch)]
