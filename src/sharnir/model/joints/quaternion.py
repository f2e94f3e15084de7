"""What ball and free joints have in common: quaternion coordinates, and a drive of the joint as a whole."""

from __future__ import annotations

from typing import ClassVar

from ...errors import ModelError
from ...kernels.joint_stage import GIVEN
from ...trace import Number
from ..element import element
from ..pose import Pose, Rotation
from .base import ElementaryMotion, Joint
from .traced import pose_expression


@element()
class QuaternionJoint(Joint):
    """Subclasses define the kind of the elementary motion, the speeds and the reference position."""

    kind: ClassVar[int]
    drive_returns: ClassVar[str]
    """What `motion(t)` returns: "Rotation" or "Pose"."""
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
        return [ElementaryMotion(GIVEN, given=pose_expression(self.motion, 0, label))]

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
