"""A joint that closes a loop: what it forbids, as functions of the relative pose of its two frames."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ...errors import ModelError
from ...kernels.algebra import dot
from ...trace import Number
from ..joints import (
    Ball,
    ConstraintJoint,
    Cylindrical,
    Free,
    Planar,
    Prismatic,
    Revolute,
    Translation,
    Universal,
    Weld,
)
from ..joints.base import Joint
from ..pose import Pose, Rotation, unit_axis
from .base import Constraint, Row

if TYPE_CHECKING:
    from ..model import PlacedJoint
    from ..motion import Motion

XYZ = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))


class ClosingJoint(Constraint):
    """Rows of a cut joint: 6 less its freedoms. The coordinates of the joint do not appear; it has none."""

    def __init__(self, placed: PlacedJoint) -> None:
        self.placed = placed
        self.name = f"joint {placed.name!r}"
        self._driven = _driven_pose(placed)

    def bodies(self) -> Sequence[str]:
        return self.placed.parent, self.placed.child

    def relative(self, on: Motion) -> Pose:
        """The child's joint frame seen from the parent's."""
        j = self.placed
        return (on.pose(j.parent) @ j.at).inverse() @ (on.pose(j.child) @ j.child_at)

    def positions(self, on: Motion) -> Sequence[Row]:
        pose = self.relative(on)
        if self._driven is not None:
            return _weld(self._driven(on.t).inverse() @ pose)
        return _rows_of(self.placed.type, pose, on.t, f"joint {self.placed.name!r}")


def can_be_cut(joint: Joint) -> bool:
    """Whether what a joint forbids can be said without its coordinates; others close a loop by splitting a body."""
    if joint.motion is not None:
        return not joint.q_names() and isinstance(joint, (Revolute, Prismatic, Ball, Free, Weld))
    kinds = (Weld, Revolute, Prismatic, Cylindrical, Universal, Ball, Planar, Translation, Free, ConstraintJoint)
    return isinstance(joint, kinds)


def _rows_of(joint: Joint, pose: Pose, t: Number, label: str) -> Sequence[Row]:
    place, turned = pose.position, pose.rotation
    if isinstance(joint, ConstraintJoint):
        values = joint.constraints(pose, t)
        return [(f"constraint {k + 1}", x) for k, x in enumerate(values if hasattr(values, "__len__") else [values])]
    if isinstance(joint, Free):
        return []
    if isinstance(joint, Weld):
        return _weld(pose)
    if isinstance(joint, Ball):
        return _point(place, XYZ)
    if isinstance(joint, Translation):
        return _no_turn(turned)
    if isinstance(joint, Planar):
        return [*_point(place, XYZ[2:]), *_axis_kept(turned, (0.0, 0.0, 1.0))]
    if isinstance(joint, Universal):
        first, second = unit_axis(joint.first, label), unit_axis(joint.second, label)
        return [*_point(place, XYZ), ("turn across both axes", dot(first, turned @ second) - dot(first, second))]
    if isinstance(joint, (Revolute, Prismatic, Cylindrical)):
        axis = unit_axis(joint.axis, label)
        across = _across(axis)
        shift = _point(place, XYZ if isinstance(joint, Revolute) else across)
        return [*shift, *(_no_turn(turned) if isinstance(joint, Prismatic) else _axis_kept(turned, axis))]
    raise ModelError(f"{label}: a {joint.type_name} joint cannot be cut: its constraints need its own coordinates")


def _weld(pose: Pose) -> list[Row]:
    return [*_point(pose.position, XYZ), *_no_turn(pose.rotation)]


def _point(place: Sequence[Number], directions: Sequence[Sequence[float]]) -> list[Row]:
    return [(f"position along {_named(d)}", dot(d, place)) for d in directions]


def _no_turn(turned: Rotation) -> list[Row]:
    """The vector part of the rotation: zero for none (and for a half turn, which is far away)."""
    R = turned.entries
    vector = (R[7] - R[5], R[2] - R[6], R[3] - R[1])
    return [(f"rotation about {axis}", 0.5 * x) for axis, x in zip("xyz", vector, strict=True)]


def _axis_kept(turned: Rotation, axis: Sequence[float]) -> list[Row]:
    """An axis common to both frames: rotation about the two directions across it is forbidden."""
    first, second = _across(axis)
    there = turned @ axis
    return [(f"rotation about {_named(second)}", dot(first, there)), (f"rotation about {_named(first)}", -dot(second, there))]


def _across(axis: Sequence[float]) -> tuple[tuple[float, ...], tuple[float, ...]]:
    columns = Rotation.align_z(tuple(axis)).entries
    return (columns[0], columns[3], columns[6]), (columns[1], columns[4], columns[7])


def _named(direction: Sequence[float]) -> str:
    for letter, unit in zip("xyz", XYZ, strict=True):
        if tuple(abs(x) for x in direction) == unit:
            return letter
    return "(" + ", ".join(f"{x:.3g}" for x in direction) + ")"


def _driven_pose(placed: PlacedJoint) -> Any:
    """The pose of a joint driven as a whole, as a function of time; None where it is not driven."""
    joint = placed.type
    if joint.motion is None:
        return None
    if not can_be_cut(joint):
        raise ModelError(f"joint {placed.name!r}: only some of its coordinates are driven; it cannot be cut")
    if isinstance(joint, Free):
        return joint.motion
    if isinstance(joint, Ball):
        return lambda t: Pose(rotation=joint.motion(t))
    axis, drive = unit_axis(joint.axis, f"joint {placed.name!r}"), next(iter(joint.drives(placed.name).values()))  # type: ignore[attr-defined]
    if isinstance(joint, Revolute):
        return lambda t: Pose(rotation=Rotation.about(axis, drive(t)))
    return lambda t: Pose(tuple(a * drive(t) for a in axis))
