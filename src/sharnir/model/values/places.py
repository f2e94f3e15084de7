"""Directions and poses."""

from __future__ import annotations

from typing import Any

from ...errors import ModelError
from ..pose import Pose, unit_axis
from .base import Fault, Kind, expected, listed
from .scalars import Vector

AXES = ("x", "y", "z", "-x", "-y", "-z")


class AxisValue(Kind):
    """A direction: a coordinate axis by name, or three numbers of length one."""

    def check(self, value: Any) -> str | tuple[float, ...]:
        values = listed(value)
        if values is None and (not isinstance(value, str) or value.removeprefix("+") not in AXES):
            raise expected("'x', 'y', 'z', '-x', '-y', '-z' or three numbers", value)
        axis = value if values is None else Vector(3).check(values)
        try:
            unit_axis(axis, "axis")
        except ModelError as error:
            raise Fault(str(error).removeprefix("axis: ")) from None
        return axis


HERE = Pose()
"""The identity, default of all poses: one object."""


class PoseValue(Kind):
    def check(self, value: Any) -> Pose:
        if value is None:
            return HERE
        if not isinstance(value, Pose):
            raise expected("a sharnir.Pose", value)
        return value
