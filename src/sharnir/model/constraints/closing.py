"""A joint that closes a loop: its constraints as functions of the relative pose of its two frames."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from typing import TYPE_CHECKING

from ...errors import ModelError
from ...kernels.algebra import IDENTITY
from ...trace import Number, has_parameters
from ..forces.force_element import Numbers
from ..joints.closing_rows import Row, turn_sense, welded
from ..motion import Motion
from ..pose import Pose, unchecked_rotation
from .constraint_element import Constraint

if TYPE_CHECKING:
    from ..placed_joint import PlacedJoint


class ClosingJoint(Constraint):
    """Rows of a cut joint: 6 less its freedoms. The coordinates of the joint do not appear; it has none."""

    alike = True
    internal = True

    def __init__(self, placed: PlacedJoint) -> None:
        self.type, self.parent, self.child, self.at, self.child_at = (
            placed.type, placed.parent, placed.child, placed.at, placed.child_at
        )  # fmt: skip
        self.name: str = f"joint {placed.name!r}"
        if self.type.motion is not None and not self.type.can_be_cut:
            raise ModelError(f"{self.name}: only some of its coordinates are driven; it cannot be cut")

    def bodies(self) -> Sequence[str]:
        return self.parent, self.child

    def numbers(self, on: Motion) -> Numbers:
        """The places of its frames on the bodies; axes that are parallel to those of the body are not traced."""
        out: dict[str, Sequence[Number] | None] = {}
        for end in ("at", "child_at"):
            pose: Pose = getattr(self, end)
            axes = tuple(pose.rotation.entries)
            parallel = not has_parameters(axes) and axes == IDENTITY
            out |= {end: pose.position, f"axes {end}": None if parallel else axes}
        return out

    def with_numbers(self, numbers: Numbers) -> Constraint:
        out = copy(self)
        for end in ("at", "child_at"):
            axes = numbers[f"axes {end}"]
            setattr(out, end, Pose(numbers[end], None if axes is None else unchecked_rotation(axes)))
        return out

    def relative(self, on: Motion) -> Pose:
        """The child's joint frame seen from the parent's."""
        return on.pose(self.parent, self.at).inverse() @ on.pose(self.child, self.child_at)

    def positions(self, on: Motion) -> Sequence[Row]:
        pose, joint, label = self.relative(on), self.type, self.name
        if joint.motion is not None:
            return welded(joint.driven_pose(on.t, label).inverse() @ pose)
        return joint.closing_rows(pose, on.t, label)

    def sense(self, on: Motion) -> Number | None:
        """Positive in the poses the joint allows, negative at half a turn from them where its rows vanish too; or None."""
        pose, joint, label = self.relative(on), self.type, self.name
        if joint.motion is not None:
            return turn_sense((joint.driven_pose(on.t, label).inverse() @ pose).rotation)
        return joint.closing_sense(pose, label)
