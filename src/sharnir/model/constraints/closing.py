"""A joint that closes a loop: its constraints as functions of the relative pose of its two frames."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ...errors import ModelError
from ...trace import Number
from ..joints.closing_rows import Row, turn_sense, welded
from ..pose import Pose
from .base import Constraint

if TYPE_CHECKING:
    from ..model import PlacedJoint
    from ..motion import Motion


class ClosingJoint(Constraint):
    """Rows of a cut joint: 6 less its freedoms. The coordinates of the joint do not appear; it has none."""

    def __init__(self, placed: PlacedJoint) -> None:
        self.placed = placed
        self.name = f"joint {placed.name!r}"
        if placed.type.motion is not None and not placed.type.can_be_cut:
            raise ModelError(f"{self.name}: only some of its coordinates are driven; it cannot be cut")

    def bodies(self) -> Sequence[str]:
        return self.placed.parent, self.placed.child

    def relative(self, on: Motion) -> Pose:
        """The child's joint frame seen from the parent's."""
        j = self.placed
        return (on.pose(j.parent) @ j.at).inverse() @ (on.pose(j.child) @ j.child_at)

    def positions(self, on: Motion) -> Sequence[Row]:
        pose, joint, label = self.relative(on), self.placed.type, f"joint {self.placed.name!r}"
        if joint.motion is not None:
            return welded(joint.driven_pose(on.t, label).inverse() @ pose)
        return joint.closing_rows(pose, on.t, label)

    def sense(self, on: Motion) -> Number | None:
        """Positive in the poses the joint allows, negative at half a turn from them where its rows vanish too; or None."""
        pose, joint, label = self.relative(on), self.placed.type, f"joint {self.placed.name!r}"
        if joint.motion is not None:
            return turn_sense((joint.driven_pose(on.t, label).inverse() @ pose).rotation)
        return joint.closing_sense(pose, label)
