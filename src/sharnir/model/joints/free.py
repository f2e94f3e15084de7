"""Every motion."""

from __future__ import annotations

from collections.abc import Sequence

from ...kernels.joint_stage import FREE
from ...trace import Number
from ..element import element
from ..pose import Pose
from .closing_rows import Row
from .quaternion import QuaternionJoint


@element("free")
class Free(QuaternionJoint):
    """No constraint: the fictitious joint of a floating body. Coordinates: position in the carrier's axes, then a
    quaternion (w x y z); speeds: velocity of the origin, then angular velocity, both in the moved axes.
    `motion=f(t)` returning a Pose drives it as a whole."""

    kind, drive_returns = FREE, "Pose"
    coordinates, speeds = ("x", "y", "z", "qw", "qx", "qy", "qz"), ("vx", "vy", "vz", "wx", "wy", "wz")
    reference = (0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0)

    def closing_rows(self, pose: Pose, t: Number, label: str) -> Sequence[Row]:
        return []
