"""A joint of the user's own, given by its pose."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ...errors import ModelError
from ...kernels.joint_stage import GIVEN
from .base import ElementaryMotion, Joint
from .traced import pose_expression


class CustomJoint(Joint):
    """Any holonomic joint: `pose(q, t)` in plain Python returns the Pose of the moved frame in the fixed one.

    Everything else (the axes A, φ, ψ) follows by differentiation. Use the functions of sharnir in it: sharnir.sin …
    """

    def __init__(self, dof: int, pose: Callable[..., Any], names: Sequence[str] | None = None, **options: Any) -> None:
        super().__init__(**options)
        if not isinstance(dof, int) or not 0 <= dof <= 6:
            raise ModelError(f"custom joint: dof must be a whole number from 0 to 6, got {dof!r}")
        self.pose = pose
        default = ("q",) if dof == 1 else tuple(f"q{k + 1}" for k in range(dof))
        self.coordinates = default if names is None else tuple(names)
        if len(self.coordinates) != dof or len(set(self.coordinates)) != dof:
            raise ModelError(f"custom joint: names must be {dof} different words, got {self.coordinates}")

    def motions(self, label: str) -> list[ElementaryMotion]:
        drives = self.drives(label)
        free = self.q_names()

        def pose(*args: Any) -> Any:
            q, t = args if free else ((), args[0])
            values = iter(q)
            return self.pose(tuple(drives[c](t) if c in drives else next(values) for c in self.coordinates), t)

        n = len(free)
        return [ElementaryMotion(GIVEN, nq=n, nv=n, given=pose_expression(pose, n, label))]
