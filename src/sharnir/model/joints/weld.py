"""No freedom at all."""

from __future__ import annotations

from collections.abc import Sequence

from ...trace import Number
from ..element import element
from ..pose import Pose
from .closing_rows import Row, turn_sense, welded
from .joint_type import ElementaryMotion, Joint


@element("weld")
class Weld(Joint):
    """Two bodies joined rigidly; all six components of its reaction are outputs."""

    def motions(self, label: str) -> list[ElementaryMotion]:
        self.drives(label)
        return []

    def closing_rows(self, pose: Pose, t: Number, label: str) -> Sequence[Row]:
        return welded(pose)

    def closing_sense(self, pose: Pose, label: str) -> Number:
        return turn_sense(pose.rotation)
