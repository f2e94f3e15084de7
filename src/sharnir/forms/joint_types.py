"""Every joint type restated as a list of motions, from its definition."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from ..errors import MethodError
from ..model.joints import Ball, Compound, ConstraintJoint, CustomJoint, Free, Joint, Weld
from ..model.joints.axes import AxisJoint
from ..model.joints.elastic import Elastic
from ..model.joints.joint_type import ElementaryMotion, traced_drives
from ..model.pose import Pose, unit_axis
from ..trace import Expression
from .motions import ConstraintMotion, ElasticMotion, PlaceMotion, PoseMotion, QuaternionMotion


class AxisMotion(NamedTuple):
    """A turn about an axis and a shift along it, free or driven in time."""

    axis: tuple[float, float, float]
    turn: float
    slide: float
    drive: Expression | None


General = QuaternionMotion | PoseMotion | ConstraintMotion | ElasticMotion | PlaceMotion
MotionPart = Pose | AxisMotion | General


def parts(joint: Joint, label: str) -> Iterator[MotionPart]:
    """The motions of a joint type from the carrier outward, as the type defines them."""
    if isinstance(joint, Compound):
        for name, part, where in joint.moved_joints(label):
            yield from ([] if where.is_identity else [where])
            yield from parts(part, f"{label}, part {name!r}")
    elif isinstance(joint, AxisJoint):
        drives = traced_drives(joint, label)
        for name, axis, turn, slide in joint.steps(label):
            yield AxisMotion(unit_axis(axis, label), turn, slide, drives.get(name))
    elif isinstance(joint, (Ball, Free)) and joint.motion is None:
        yield QuaternionMotion(len(joint.coordinates))
    elif isinstance(joint, (Ball, Free, CustomJoint)):
        (motion,) = joint.built(label)
        assert motion.given is not None
        yield PoseMotion(motion.given)
    elif isinstance(joint, ConstraintJoint):
        yield ConstraintMotion(joint, label)
    elif isinstance(joint, Elastic):
        yield ElasticMotion(len(joint.coordinates))
    elif not isinstance(joint, Weld):  # a type of the user's own, known by its elementary motions only
        yield from (_elementary(motion, label) for motion in joint.built(label))


def with_parameters(part: MotionPart, values: Mapping[str, float]) -> MotionPart:
    """A motion whose functions have these values of the model's parameters."""
    if isinstance(part, AxisMotion) and part.drive is not None:
        return part._replace(drive=part.drive.with_defaults(values))
    return part.with_parameters(values) if isinstance(part, PoseMotion) else part


def _elementary(motion: ElementaryMotion, label: str) -> MotionPart:
    if motion.placement is not None:
        return motion.placement
    if motion.given is not None and motion.nq == motion.nv:
        return PoseMotion(motion.given)
    if motion.given is None and motion.nv in (3, 6):
        return QuaternionMotion(motion.nq)
    if motion.turn or motion.slide:
        return AxisMotion((0.0, 0.0, 1.0), motion.turn, motion.slide, motion.drive)
    raise MethodError(f"{label}: the matrix forms cannot compute this joint; derive its type from ConstraintJoint or CustomJoint")
