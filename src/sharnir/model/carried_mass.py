"""Whether a joint moves mass in all its freedoms where one body is all that it carries: a hinge through a point mass does not."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ..kernels.joint_stage import BALL, FREE, GIVEN
from .body import Body
from .joints.base import ElementaryMotion
from .placed_joint import PlacedJoint
from .pose import Pose

NOTHING = 1e-12
"""An inertia, relative to the largest that the joint might have with such a body."""


def idle_ends(bodies: Sequence[Body], joints: Sequence[PlacedJoint]) -> list[tuple[bool, bool]]:
    """Of every joint: whether some motion of it moves nothing where its parent, or its child, is all that it carries. At neutral
    coordinates; what depends on parameters, and joints of the user's own, are taken to move mass. Empty where none is idle."""
    found: dict[object, bool] = {}  # large models have many equal bodies and joints

    def once(key: tuple[object, ...], find: Callable[[], bool]) -> bool:
        if key not in found:
            found[key] = find()
        return found[key]

    def is_hollow(body: Body) -> bool:
        plain = all(type(x) is float for x in (body.mass, *body.com, *body.inertia))
        return plain and once((body.mass, body.inertia), lambda: not body.is_solid)

    hollow = {body.name: body for body in bodies if is_hollow(body)}
    if not hollow:
        return []

    def at_end(end: str, joint: PlacedJoint, at: Pose) -> bool:
        body = hollow.get(end)
        if body is None:
            return False
        return once((body.mass, body.com, body.inertia, *joint.motions, at), lambda: _is_idle(body, joint.motions, at))

    out = [(at_end(j.parent, j, j.at), at_end(j.child, j, j.child_at)) for j in joints]
    return out if any(map(any, out)) else []


def _is_idle(body: Body, motions: Sequence[ElementaryMotion], at: Pose) -> bool:
    columns = _columns(motions, at, np.array(body.com))
    if not columns:
        return False
    V, W = (np.array(x) for x in zip(*columns, strict=True))
    J, reach = body.inertia_matrix(), np.square([*body.com, *at.position]).sum()
    inertia = np.linalg.eigvalsh(body.mass * V @ V.T + W @ J @ W.T)
    largest = max(inertia[-1], np.square(W).sum() * (body.mass * reach + np.trace(J)))  # where rounding is all there is
    return bool(inertia[0] <= NOTHING * largest)


def _columns(motions: Sequence[ElementaryMotion], at: Pose, com: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
    """Velocity of the centre of mass and angular velocity at unit speed in each freedom, in the body, where the joint is at `at`;
    an empty list where they are not plain numbers."""
    out, here = list[tuple[np.ndarray, np.ndarray]](), at
    for motion in motions:
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
