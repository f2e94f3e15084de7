"""Joints of fixed axes: rotations about them and translations along them, one after another."""

from __future__ import annotations

from collections.abc import Sequence

from ...errors import ModelError
from ...kernels import joint_stage as stage
from ...kernels.algebra import ZERO3, cross, dot, scale
from ...trace import Number, is_zero
from ..element import element, element_field, number
from ..pose import Axis, Pose, Rotation, unit_axis
from ..values import AxisValue
from .closing_rows import XYZ, Row, across, angle_about, axis_sense, common_axis, no_shift, no_turn, turn_sense
from .joint_type import ElementaryMotion, Joint, fixed, traced_drives
from .traced import Segment, one_coordinate

Vector = tuple[float, ...]
Step = tuple[str, Axis, float, float]
"""Coordinate, axis, radians per unit, metres per unit."""


class AxisJoint(Joint):
    """A joint that consists of rotations about and translations along given axes, one after another."""

    def steps(self, label: str) -> list[Step]:
        """The steps from the carrier outward."""
        raise NotImplementedError

    def motions(self, label: str) -> list[ElementaryMotion]:
        drives = traced_drives(self, label)
        out: list[ElementaryMotion] = []
        aligned = Rotation.identity()  # the axes reached so far, z along the last axis
        for name, axis, turn, slide in self.steps(label):
            wanted = Rotation.align_z(unit_axis(axis, f"{label}, {name}" if len(self.coordinates) > 1 else label))
            out += fixed(Pose(rotation=aligned.T @ wanted))
            aligned = wanted
            kind = stage.SLIDE if not turn else stage.TURN if is_zero(slide) else stage.SCREW
            free = int(name not in drives)
            out.append(ElementaryMotion(kind, nq=free, nv=free, turn=turn, slide=slide, drive=drives.get(name)))
        return out + fixed(Pose(rotation=aligned.T))

    def segments(self, label: str) -> list[Segment]:
        drives = [m.drive for m in self.built(label) if m.kind != stage.FIXED]
        return [one_coordinate("rad" if step[2] else "m", drive) for step, drive in zip(self.steps(label), drives, strict=True)]

    def driven_pose(self, t: Number, label: str) -> Pose:
        pose, drives = Pose(), self.drives(label)
        for name, direction, turn, slide in self.steps(label):
            axis, x = unit_axis(direction, label), drives[name](t)
            shift = ZERO3 if is_zero(slide) else scale(axis, slide * x)
            pose = pose @ Pose(shift, Rotation.about(axis, turn * x) if turn else None)
        return pose


class LowerPair(AxisJoint):
    """Translations along axes at right angles, then at most one rotation: all it forbids follows from them."""

    def _motion(self, label: str) -> tuple[list[Vector], Vector | None]:
        """Axes of the translations, and that of the rotation."""
        axes = [(unit_axis(axis, label), turn) for _, axis, turn, _ in self.steps(label)]
        return [axis for axis, turn in axes if not turn], next((axis for axis, turn in axes if turn), None)

    def measured(self, pose: Pose, label: str) -> Sequence[Number]:
        slides, turns = self._motion(label)
        angle = [] if turns is None else [angle_about(turns, pose.rotation)]
        return [*(dot(axis, pose.position) for axis in slides), *angle]

    def closing_rows(self, pose: Pose, t: Number, label: str) -> Sequence[Row]:
        slides, turns = self._motion(label)
        held = across(slides[0]) if len(slides) == 1 else [axis for axis in XYZ if axis not in slides]
        rotation = no_turn(pose.rotation) if turns is None else common_axis(pose.rotation, turns)
        return [*no_shift(pose.position, held), *rotation]

    def closing_sense(self, pose: Pose, label: str) -> Number:
        _, turns = self._motion(label)
        return turn_sense(pose.rotation) if turns is None else axis_sense(pose.rotation, turns)


@element("weld")
class Weld(LowerPair):
    """Two bodies joined rigidly; all six components of its reaction are outputs."""

    def steps(self, label: str) -> list[Step]:
        return []


@element("revolute")
class Revolute(LowerPair):
    """A hinge: rotation about a fixed axis. The coordinate is the angle in radians."""

    axis: Axis = element_field(AxisValue(), default="z", meaning="axis of rotation")
    coordinates = ("angle",)

    def steps(self, label: str) -> list[Step]:
        return [("angle", self.axis, 1.0, 0.0)]


@element("prismatic")
class Prismatic(LowerPair):
    """A slider: translation along a fixed axis. The coordinate is the distance in metres."""

    axis: Axis = element_field(AxisValue(), default="z", meaning="axis of translation")
    coordinates = ("distance",)

    def steps(self, label: str) -> list[Step]:
        return [("distance", self.axis, 0.0, 1.0)]


@element("cylindrical")
class Cylindrical(LowerPair):
    """A shaft in a bush: free to slide along its axis and to rotate about it."""

    axis: Axis = element_field(AxisValue(), default="z", meaning="axis of translation and rotation")
    coordinates = ("distance", "angle")

    def steps(self, label: str) -> list[Step]:
        return [("distance", self.axis, 0.0, 1.0), ("angle", self.axis, 1.0, 0.0)]


@element("planar")
class Planar(LowerPair):
    """Motion in the xy plane of the joint frame: translations x and y in the parent's axes, then rotation about z."""

    coordinates = ("x", "y", "angle")

    def steps(self, label: str) -> list[Step]:
        return [("x", "x", 0.0, 1.0), ("y", "y", 0.0, 1.0), ("angle", "z", 1.0, 0.0)]


@element("translation")
class Translation(LowerPair):
    """Free to translate in all three directions, never to rotate. Coordinates: x, y, z."""

    coordinates = ("x", "y", "z")

    def steps(self, label: str) -> list[Step]:
        return [("x", "x", 0.0, 1.0), ("y", "y", 0.0, 1.0), ("z", "z", 0.0, 1.0)]


@element("screw")
class Screw(AxisJoint):
    """Rotation about an axis with translation along it in proportion. The coordinate is the angle."""

    axis: Axis = element_field(AxisValue(), default="z", meaning="axis of the screw")
    pitch: float = number(unit="m/rad", meaning="translation per radian", kw_only=True)
    coordinates = ("angle",)

    def steps(self, label: str) -> list[Step]:
        return [("angle", self.axis, 1.0, self.pitch)]


@element("universal")
class Universal(AxisJoint):
    """A cross joint: rotation about `first`, fixed in the parent, then about `second`, fixed in the child."""

    first: Axis = element_field(AxisValue(), default="x", meaning="first axis, fixed in the parent")
    second: Axis = element_field(AxisValue(), default="y", meaning="second axis, fixed in the child")
    coordinates = ("first", "second")

    def steps(self, label: str) -> list[Step]:
        side = cross(unit_axis(self.first, label), unit_axis(self.second, label))
        if dot(side, side) < 1e-12:
            raise ModelError(f"{label}: the two axes of a universal joint must not be parallel; for one axis use Revolute")
        return [("first", self.first, 1.0, 0.0), ("second", self.second, 1.0, 0.0)]

    def measured(self, pose: Pose, label: str) -> Sequence[Number]:
        first, second = unit_axis(self.first, label), unit_axis(self.second, label)
        return [angle_about(first, pose.rotation, second), -angle_about(second, pose.rotation.T, first)]

    def closing_rows(self, pose: Pose, t: Number, label: str) -> Sequence[Row]:
        first, second = unit_axis(self.first, label), unit_axis(self.second, label)
        rest = dot(first, pose.rotation @ second) - dot(first, second)
        return [*no_shift(pose.position), ("turn across both axes", rest)]
