"""Brackets where joints hold a mechanism to the ground: a foot, a plate, and the hatching that drawings of mechanisms have."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..kernels import joint_stage as stage
from ..model.joints.elastic import Elastic
from ..model.placed_joint import PlacedJoint
from ..model.pose import Pose
from ..types import FloatArray
from .bodies import PALE
from .elements import fixed_part, sign_size
from .outline import Outline, matrix
from .scene import GROUND, Part
from .solids import prism

TEETH = 5
HATCHED = [point for k in range(TEETH) for y in (0.4 * k - 1.0,) for point in (
    (y + 0.06, -0.2), (y - 0.22, -0.62), (y - 0.08, -0.62), (y + 0.2, -0.2))]  # fmt: skip
PLATE = ((-1.0, 0.0), (-1.0, -0.2), *HATCHED, (1.0, -0.2), (1.0, 0.0))
"""A plate and strips that lean to one side, below z = 0."""
FOOT = ((-0.7, -1.0), (0.7, -1.0), (0.25, 0.0), (-0.25, 0.0))
"""From the plate at z = −1 to the joint."""
WIDE, HIGH, LOWEST = 2.2, 2.4, 0.3
"""Half the width of the plate, its distance from the joint, and the least one with a foot; in sizes of the joint's sign."""


def bracket_parts(o: Outline, R: FloatArray, x: FloatArray, up: FloatArray, floor: float | None) -> Iterator[Part]:
    """Brackets of the joints to a ground that stands still: above a joint on which its body hangs, below one on which it stands,
    down to the floor where that is near. R, x: poses of the bodies over time."""
    there = set[tuple[float, ...]]()
    for joint in (*o.model.joints, *o.model.closing_joints):
        grounded = [o.carriers.index(body) == GROUND for body in (joint.parent, joint.child)]
        if not any(grounded) or isinstance(joint.type, Elastic) or any(m.kind == stage.FREE for m in joint.motions):
            continue
        at, body = (joint.at, joint.child) if grounded[0] else (joint.child_at, joint.parent)
        centre = np.array(at.position, dtype=float)
        key = tuple(np.round(centre / o.size, 6).tolist())
        if key not in there and body != "ground":
            there.add(key)
            yield from _bracket(o, joint, at, _away(o, body, R, x, centre, up, joint), floor, up)


def _away(
    o: Outline, body: str, R: FloatArray, x: FloatArray, joint_at: FloatArray, up: FloatArray, joint: PlacedJoint
) -> FloatArray:
    """From the plate to the joint: up if the body is above the joint, or slides beside it; else down."""
    i = o.model.body_index(body)
    middle = x[:, i] + R[:, i] @ np.array(o.model.bodies[i].com, dtype=float)
    height = float(np.mean((middle - joint_at) @ up))
    slides = any(m.kind == stage.SLIDE for m in joint.motions)
    return up if height > 0.02 * o.size or (slides and height > -0.02 * o.size) else -up


def _bracket(o: Outline, joint: PlacedJoint, at: Pose, away: FloatArray, floor: float | None, up: FloatArray) -> Iterator[Part]:
    size, centre = sign_size(o, joint), np.array(at.position, dtype=float)
    first = next((k for k, m in enumerate(joint.motions) if m.kind != stage.FIXED), 0)
    axis = matrix(at @ fixed_part(joint.motions[:first]))[:3, 2]
    axis = axis - (axis @ away) * away
    axis = axis if np.linalg.norm(axis) > 0.1 else np.cross(away, np.eye(3)[int(np.argmin(np.abs(away)))])
    axis = axis / np.linalg.norm(axis)
    height = HIGH * size
    if floor is not None and away @ up > 0.0:
        height = float(np.clip(centre @ up - floor, 0.0, height))
    turned = np.stack([axis, np.cross(away, axis), away], axis=1)
    for outline, shift, scale in ((PLATE, height, (3.2, WIDE, WIDE)), (FOOT, 0.0, (1.4, WIDE, height / size))):
        if outline is PLATE or height > LOWEST * size:
            place = np.eye(4)
            place[:3, :3], place[:3, 3] = turned * np.array(scale) * size, centre - shift * away
            yield Part(f"ground at joint {joint.name}", "joints", prism(outline), PALE, GROUND, place)
