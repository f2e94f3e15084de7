"""Any turn about a point."""

from __future__ import annotations

from ...errors import ModelError
from ...kernels.joint_stage import BALL, GIVEN
from .base import ElementaryMotion, Joint
from .traced import pose_expression


class Ball(Joint):
    """A spherical joint. Coordinates: a quaternion (w x y z); speeds: angular velocity in the axes of the joint frame
    of the moved body. `motion=f(t)` returning a Rotation drives it wholly."""

    coordinates = ("qw", "qx", "qy", "qz")
    _speeds = ("wx", "wy", "wz")

    def motions(self, label: str) -> list[ElementaryMotion]:
        if self.motion is None:
            return [ElementaryMotion(BALL, nq=4, nv=3)]
        return [driven_pose(self, label)]

    def q_names(self) -> tuple[str, ...]:
        return self.coordinates if self.motion is None else ()

    def v_names(self) -> tuple[str, ...]:
        return self._speeds if self.motion is None else ()

    def quaternions(self) -> tuple[int, ...]:
        return (0,) if self.motion is None else ()

    def neutral(self) -> tuple[float, ...]:
        return (1.0, 0.0, 0.0, 0.0) if self.motion is None else ()


def driven_pose(joint: Joint, label: str) -> ElementaryMotion:
    """A joint of quaternion coordinates, driven as a whole by a function of time."""
    if not callable(joint.motion):
        raise ModelError(
            f"{label}: a {joint.type_name} joint is driven as a whole; motion must be a function of t that returns "
            f"a sharnir.{'Rotation' if isinstance(joint, Ball) else 'Pose'}"
        )
    return ElementaryMotion(GIVEN, given=pose_expression(joint.motion, 0, label))
