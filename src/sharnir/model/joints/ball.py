"""Any rotation about a point."""

from __future__ import annotations

from collections.abc import Sequence

from ...kernels.joint_stage import BALL
from ...trace import Number
from ..element import element
from ..pose import Pose
from .closing_rows import Row, no_shift
from .quaternion import QuaternionJoint


@element("ball")
class Ball(QuaternionJoint):
    """A spherical joint. Coordinates: a quaternion (w x y z); speeds: angular velocity in the axes of the joint frame
    of the moved body. `motion=f(t)` returning a Rotation drives it as a whole."""

    kind, drive_returns = BALL, "Rotation"
    coordinates, speeds = ("qw", "qx", "qy", "qz"), ("wx", "wy", "wz")
    reference = (1.0, 0.0, 0.0, 0.0)

    def closing_rows(self, pose: Pose, t: Number, label: str) -> Sequence[Row]:
        return no_shift(pose.position)
