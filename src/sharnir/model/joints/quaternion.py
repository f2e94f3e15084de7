"""Joints with quaternion coordinates: ball and free. They are driven as a whole."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from ...errors import ModelError
from ...kernels.joint_stage import BALL, FREE, GIVEN
from ...trace import Number, is_zero
from ..element import element
from ..pose import Pose, Rotation
from .closing_rows import Row, no_shift
from .joint_type import ElementaryMotion, Joint
from .traced import Segment, pose_expression, pose_segment


@element()
class QuaternionJoint(Joint):
    """Subclasses define the kind of the elementary motion, the speeds and the reference position."""

    kind: ClassVar[int]
    drive_returns: ClassVar[str]
    """Class that `motion(t)` returns: "Rotation" or "Pose"."""
    speeds: ClassVar[tuple[str, ...]]
    reference: ClassVar[tuple[float, ...]]

    def motions(self, label: str) -> list[ElementaryMotion]:
        if self.motion is None:
            return [ElementaryMotion(self.kind, nq=len(self.coordinates), nv=len(self.speeds))]
        if not callable(self.motion):
            raise ModelError(
                f"{label}: a {self.type_name} joint is driven as a whole; motion must be a function of t that returns "
                f"a sharnir.{self.drive_returns}"
            )
        if not is_zero((self.damping, self.stiffness, self.armature)):
            raise ModelError(
                f"{label}: damping, stiffness and armature do not act in a {self.type_name} joint that is driven as a whole; "
                "leave them out, or put a Bushing between its bodies"
            )
        return [ElementaryMotion(GIVEN, given=pose_expression(self.motion, 0, label))]

    def segments(self, label: str) -> list[Segment]:
        return [pose_segment(self.coordinates, self.speeds, self.built(label)[0].given)]

    def driven_pose(self, t: Number, label: str) -> Pose:
        pose = self.motion(t)  # type: ignore[operator, misc]
        return Pose(rotation=pose) if isinstance(pose, Rotation) else pose

    def q_names(self) -> tuple[str, ...]:
        return self.coordinates if self.motion is None else ()

    def v_names(self) -> tuple[str, ...]:
        return self.speeds if self.motion is None else ()

    def quaternions(self) -> tuple[int, ...]:
        return (self.coordinates.index("qw"),) if self.motion is None else ()

    def neutral(self) -> tuple[float, ...]:
        return self.reference if self.motion is None else ()


@element("ball")
class Ball(QuaternionJoint):
    """A spherical joint. Coordinates: a quaternion (w x y z); speeds: angular velocity in the axes of the joint frame
    of the moved body. `motion=f(t)` returning a Rotation drives it as a whole."""

    kind, drive_returns = BALL, "Rotation"
    coordinates, speeds = ("qw", "qx", "qy", "qz"), ("wx", "wy", "wz")
    reference = (1.0, 0.0, 0.0, 0.0)

    def closing_rows(self, pose: Pose, t: Number, label: str) -> Sequence[Row]:
        return no_shift(pose.position)


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
