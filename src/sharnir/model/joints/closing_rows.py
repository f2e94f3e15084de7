"""Rows of a cut joint: functions of the relative pose of its two frames that are zero where the joint allows the pose."""

from __future__ import annotations

from collections.abc import Sequence

from ...kernels.algebra import cross, dot
from ...trace import Number
from ...trace.functions import atan2
from ..pose import Pose, Rotation

Row = tuple[str, Number]
"""A few words for what the row forbids, and its value: zero where the constraint is satisfied."""
X, Y, Z = XYZ = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))


def welded(pose: Pose) -> list[Row]:
    return [*no_shift(pose.position), *no_turn(pose.rotation)]


def no_shift(position: Sequence[Number], directions: Sequence[Sequence[float]] = XYZ) -> list[Row]:
    return [(f"position along {_named(d)}", dot(d, position)) for d in directions]


def no_turn(rotation: Rotation) -> list[Row]:
    """The vector part of the rotation: zero for none (and for a half turn, which is far away)."""
    R = rotation.entries
    vector = (R[7] - R[5], R[2] - R[6], R[3] - R[1])
    return [(f"rotation about {axis}", 0.5 * x) for axis, x in zip("xyz", vector, strict=True)]


def common_axis(rotation: Rotation, axis: Sequence[float]) -> list[Row]:
    """An axis that both frames share: rotation about the two directions across it is forbidden."""
    first, second = across(axis)
    there = rotation @ axis
    return [(f"rotation about {_named(second)}", dot(first, there)), (f"rotation about {_named(first)}", -dot(second, there))]


def turn_sense(rotation: Rotation) -> Number:
    """The trace: 3 where `no_turn` holds as it should, −1 at half a turn, where its rows vanish too."""
    R = rotation.entries
    return R[0] + R[4] + R[8]


def axis_sense(rotation: Rotation, axis: Sequence[float]) -> Number:
    """1 where `common_axis` holds as it should, −1 where the axis points the other way."""
    return dot(axis, rotation @ axis)


def angle_about(axis: Sequence[float], rotation: Rotation, mark: Sequence[float] | None = None) -> Number:
    """The angle by which a rotation about `axis` turns `mark`, any direction that is not along the axis."""
    mark = across(axis)[0] if mark is None else mark
    there = rotation @ mark
    along = dot(axis, mark)  # of the mark, only what is across the axis turns
    return atan2(dot(axis, cross(mark, there)), dot(mark, there) - along * dot(axis, there))


def across(axis: Sequence[float]) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Two directions perpendicular to an axis and to each other."""
    columns = Rotation.align_z(tuple(axis)).entries
    return (columns[0], columns[3], columns[6]), (columns[1], columns[4], columns[7])


def _named(direction: Sequence[float]) -> str:
    for letter, unit in zip("xyz", XYZ, strict=True):
        if tuple(abs(x) for x in direction) == unit:
            return letter
    return "(" + ", ".join(f"{x:.3g}" for x in direction) + ")"
