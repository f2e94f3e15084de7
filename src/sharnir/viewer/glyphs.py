"""Joints as signs, one for each elementary motion: every joint is drawn by what it allows."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..kernels import joint_stage as stage
from ..model.joints.joint_type import ElementaryMotion
from ..model.placed_joint import PlacedJoint
from ..model.pose import Pose
from ..types import FloatArray
from .bodies import DARK, PALE
from .outline import FEW, Outline, matrix
from .scene import Colour, Geometry, Part, Span
from .solids import box, cone, cylinder, ring, rod, sphere

DRIVEN: Colour = (0.85, 0.25, 0.22, 1.0)
"""A joint that is moved by a function of time, or by another joint."""
CUT: Colour = (0.60, 0.25, 0.60, 1.0)
"""A joint that closes a loop."""


def joint_parts(o: Outline, joint: PlacedJoint, closing: bool = False, rails: bool = True) -> Iterator[Part | Span]:
    """Signs of a joint. `rails`: draw what a slider slides on; a body with a shape needs none."""
    parent, child = o.carriers.index(joint.parent), o.carriers.index(joint.child)
    size = min(1.7 * min(o.width(i) for i in (parent, child)), 0.25 * o.length(child))
    name = f"joint {joint.name}"
    moved = joint.follows is not None or joint.type.motion is not None
    colour = CUT if closing else DRIVEN if moved else DARK
    kinds = [m.kind for m in joint.motions]
    if stage.FREE in kinds:
        return  # it holds nothing
    count = sum(kind != stage.FIXED for kind in kinds)
    if count == 0:
        yield Part(name, "joints", box(), PALE, *o.carried(joint.child, joint.child_at, (1.4 * size,) * 3))
        return
    before, after = Pose(), _fixed_part(joint.motions)
    (parent, parent_at), (child, child_at) = (
        o.carriers.carry(*end) for end in ((joint.parent, joint.at), (joint.child, joint.child_at))
    )
    seen = 0
    for motion in joint.motions:
        if motion.kind == stage.FIXED:
            assert motion.placement is not None
            before = before @ motion.placement
            continue
        seen += 1
        # the first motion begins in the parent's frame, the last ends in the child's; those between are drawn with the child
        frame, carrier = (parent_at @ before, parent) if seen == 1 and count > 1 else (child_at @ after.inverse() @ before, child)
        for geometry, at in _sign(motion, size, o.sides):
            yield Part(name, "joints", geometry, colour, carrier, matrix(frame) @ at)
        if motion.kind in (stage.TURN, stage.SLIDE, stage.SCREW) and len(o.lengths) <= FEW:
            for geometry, at in _axis(size):
                yield Part(name, "joints", geometry, colour, carrier, matrix(frame) @ at)
    rail = next((m for m in joint.motions if m.kind == stage.SLIDE), None)
    if rails and rail is not None and count == 1:
        at = matrix(parent_at @ _fixed_part(joint.motions[: joint.motions.index(rail)]))
        yield Part(name, "joints", cylinder(0.0, 8), PALE, parent, at @ _scaled(0.35 * size, 0.35 * size, 6.0 * size))
        ends = o.anchor(joint.parent, joint.at.position), o.anchor(joint.child, joint.child_at.position)
        yield Span(name, "joints", rod(8), PALE, 0.35 * size, *ends)


def _sign(motion: ElementaryMotion, size: float, sides: int) -> Iterator[tuple[Geometry, FloatArray]]:
    """The sign of a motion, along the z axis of its frame."""
    if motion.kind == stage.TURN:
        yield cylinder(0.0, sides), _scaled(size, size, 2.6 * size)
    elif motion.kind == stage.SLIDE:
        yield box(), _scaled(2.0 * size, 2.0 * size, 3.2 * size)
    elif motion.kind == stage.SCREW:
        yield cylinder(0.0, sides), _scaled(0.7 * size, 0.7 * size, 4.0 * size)
        for k in (-1.2, -0.4, 0.4, 1.2):
            yield ring(0.25, sides), _scaled(size, size, size) @ _shifted(k)
    elif motion.kind == stage.BALL:
        yield sphere(sides), _scaled(1.5 * size, 1.5 * size, 1.5 * size)
    else:  # a motion given by functions has no sign of its own
        yield sphere(8), _scaled(1.4 * size, 1.4 * size, 1.4 * size)


def _axis(size: float) -> Iterator[tuple[Geometry, FloatArray]]:
    """A thin line along the axis with a tip in its positive direction, beyond what hides the sign."""
    yield rod(6), _scaled(0.14 * size, 0.14 * size, 6.0 * size) @ _shifted(-0.5)
    yield cone(8), _shifted(3.0 * size) @ _scaled(0.45 * size, 0.45 * size, 1.1 * size)


def _fixed_part(motions: list[ElementaryMotion]) -> Pose:
    """Product of all fixed steps of a joint, its coordinates being zero."""
    pose = Pose()
    for motion in motions:
        if motion.kind == stage.FIXED:
            assert motion.placement is not None
            pose = pose @ motion.placement
    return pose


def _scaled(x: float, y: float, z: float) -> FloatArray:
    return np.diag([x, y, z, 1.0])


def _shifted(z: float) -> FloatArray:
    out = np.eye(4)
    out[2, 3] = z
    return out
