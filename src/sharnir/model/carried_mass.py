"""Whether a joint moves mass in all its freedoms where one body is all that it carries: a hinge through a point mass does not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ..kernels.joint_stage import BALL, FREE, GIVEN
from .body import Body
from .placed_joint import PlacedJoint
from .pose import Pose

NOTHING = 1e-12
"""An inertia, relative to the largest of the same joint."""


def idle_ends(bodies: Sequence[Body], joints: Sequence[PlacedJoint]) -> list[tuple[bool, bool]]:
    """Of every joint: whether some motion of it moves nothing where its parent, or its child, is all that it carries. At neutral
    coordinates; what depends on parameters, and joints of the user's own, are taken to move mass. Empty where none is idle."""
    hollow = {body.name: body for body in bodies if _is_hollow(body)}
    if not hollow:
        return []
    out = [(_at_end(hollow, j.parent, j, j.at), _at_end(hollow, j.child, j, j.child_at)) for j in joints]
    return out if any(map(any, out)) else []


def _at_end(hollow: Mapping[str, Body], end: str, joint: PlacedJoint, at: Pose) -> bool:
    return end in hollow and _is_idle(hollow[end], joint, at)


def _is_hollow(body: Body) -> bool:
    """Whether some motion of a body has no inertia."""
    m, x = body.mass, body.inertia
    if not all(type(y) is float for y in (m, *body.com, *x)):
        return False
    usual = m > 0.0 and x[3] == x[4] == x[5] == 0.0 and min(x[:3]) > 0.0
    return not usual and not body.is_solid


def _is_idle(body: Body, joint: PlacedJoint, at: Pose) -> bool:
    columns = _columns(joint, at, np.array(body.com))
    if not columns:
        return False
    V, W = (np.array(x) for x in zip(*columns, strict=True))
    inertia = np.linalg.eigvalsh(body.mass * V @ V.T + W @ body.inertia_matrix() @ W.T)
    return bool(inertia[0] <= NOTHING * inertia[-1])


def _columns(joint: PlacedJoint, at: Pose, com: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
    """Velocity of the centre of mass and angular velocity at unit speed in each freedom, in the body, where the joint is at `at`;
    an empty list where they are not plain numbers."""
    out, here = list[tuple[np.ndarray, np.ndarray]](), at
    for motion in joint.motions:
        if motion.placement is not None:
            here = here @ motion.placement
        if motion.kind == GIVEN and motion.given is not None:
            return []
        numbers = (*here.position, *here.rotation.entries, motion.turn, motion.slide)
        if not all(isinstance(x, (float, int)) for x in numbers):
            return []
        axes, arm = np.array(here.rotation.entries, dtype=float).reshape(3, 3).T, com - np.array(here.position)
        if motion.kind == FREE:
            out += [(axis, np.zeros(3)) for axis in axes]
        if motion.kind in (BALL, FREE):
            out += [(np.cross(axis, arm), axis) for axis in axes] if motion.nv else []
        elif motion.nv:
            axis = axes[2]
            out.append((motion.slide * axis + motion.turn * np.cross(axis, arm), motion.turn * axis))
    return out
