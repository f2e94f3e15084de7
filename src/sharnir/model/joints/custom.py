"""A joint of the user's own, given by its pose."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ...errors import ModelError
from ...kernels.joint_stage import GIVEN
from ..element import element, element_field
from ..values import Names, PoseFunction, Whole
from .joint_type import ElementaryMotion, Joint
from .traced import pose_expression


@element("custom")
class CustomJoint(Joint):
    """Any holonomic joint: `pose(q, t)` in plain Python returns the Pose of the moved frame in the fixed one.

    Everything else (the axes A, φ, ψ) follows by differentiation. Use the functions of sharnir in it: sharnir.sin …
    """

    dof: int = element_field(Whole(0, 6), meaning="number of coordinates")
    pose: Callable[..., Any] = element_field(
        PoseFunction(lambda fields: (*(fields["names"] or default_names(fields["dof"])), "t")),
        meaning="pose of the moved frame, a function of the coordinates and t",
        last=True,
    )
    names: Sequence[str] | None = element_field(
        Names(), default=None, meaning="names of the coordinates; q, or q1, q2 … by default"
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        default = default_names(self.dof)
        if self.names is not None and (len(self.names) != self.dof or len(set(self.names)) != self.dof):
            raise ModelError(f"{self.label}: names must be {self.dof} different words, got {self.names}")
        if self.names == default:
            self.__dict__["names"] = None

    @property
    def coordinates(self) -> tuple[str, ...]:
        return default_names(self.dof) if self.names is None else tuple(self.names)

    def motions(self, label: str) -> list[ElementaryMotion]:
        drives = self.drives(label)
        free = self.q_names()

        def pose(*args: Any) -> Any:
            q, t = args if free else ((), args[0])
            values = iter(q)
            return self.pose(tuple(drives[c](t) if c in drives else next(values) for c in self.coordinates), t)

        n = len(free)
        return [ElementaryMotion(GIVEN, nq=n, nv=n, given=pose_expression(pose, n, label))]


def default_names(dof: int) -> tuple[str, ...]:
    return ("q",) if dof == 1 else tuple(f"q{k + 1}" for k in range(dof))
