"""Every motion."""

from __future__ import annotations

from ...kernels.joint_stage import FREE
from .ball import driven_pose
from .base import ElementaryMotion, Joint


class Free(Joint):
    """No constraint: the fictitious joint of a floating body. Coordinates: position in the carrier's axes, then a
    quaternion (w x y z); speeds: velocity of the origin, then angular velocity, both in the moved axes.
    `motion=f(t)` returning a Pose drives it wholly."""

    coordinates = ("x", "y", "z", "qw", "qx", "qy", "qz")
    _speeds = ("vx", "vy", "vz", "wx", "wy", "wz")

    def motions(self, label: str) -> list[ElementaryMotion]:
        if self.motion is None:
            return [ElementaryMotion(FREE, nq=7, nv=6)]
        return [driven_pose(self, label)]

    def q_names(self) -> tuple[str, ...]:
        return self.coordinates if self.motion is None else ()

    def v_names(self) -> tuple[str, ...]:
        return self._speeds if self.motion is None else ()

    def quaternions(self) -> tuple[int, ...]:
        return (3,) if self.motion is None else ()

    def neutral(self) -> tuple[float, ...]:
        return (0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0) if self.motion is None else ()
