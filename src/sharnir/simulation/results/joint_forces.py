"""Reaction of a joint on the body it is named to carry, and the power of its drive."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...errors import StateError, brief, unknown
from ...model.body import GROUND
from ...model.placed_joint import PlacedJoint
from ...model.references import is_name_in
from .derived import turned
from .joint_motion import SPEED, is_cut, values_of
from .released import Wrench, has_links, wrench_of

if TYPE_CHECKING:
    from .named_motion import NamedMotion

AXES, POINTS = ("body", "world", "joint"), ("origin", "joint")


def reaction(r: NamedMotion, joint: PlacedJoint, axes: str, at: str) -> np.ndarray:
    """(…, T, 6): force and moment on the joint's child."""
    for what, value, known in (("axes", axes, AXES), ("at", at, POINTS)):
        if not is_name_in(known, value):
            raise StateError(unknown(f"{what}={brief(value)}", value, known, f"values of {what}"))
    i = r.model.structure.joint_number.get(joint.name)
    if i is not None and axes == "body" and at == "origin" and not r.model.tree.reversed[i] and not has_links(r):
        return r.reactions[..., i, :]
    wrench, body, own = wrench_on_child(r, joint), r.body_frame(joint.child), r.place((joint.child, joint.child_at))
    moment = wrench.about((own if at == "joint" else body)[1])
    if axes == "world":
        return np.concatenate([wrench.force, moment], axis=-1)
    back = (own if axes == "joint" else body)[0].swapaxes(-1, -2)
    return np.concatenate([turned(back, wrench.force), turned(back, moment)], axis=-1)


def wrench_on_child(r: NamedMotion, joint: PlacedJoint) -> Wrench:
    """The wrench of a joint on its child, also where the tree carries the parent: a joint has no mass, its two wrenches are
    opposite. Forces of constraints and couplings in its coordinates are not counted."""
    i = r.model.structure.joint_number.get(joint.name)
    if i is not None:
        body, numbers = r.model.bodies[i].name, r.reactions[..., i, :]
    else:
        ends = r.forces_on_bodies.get(joint.name, {})
        body = next((end for end in (joint.child, joint.parent) if end in ends), "")
        if not body:
            return Wrench(*np.zeros((3, *r.shape, 3)))  # a joint that forbids nothing
        numbers = ends[body]
    sign = 1.0 if body == joint.child else -1.0
    R, origin = r.body_frame(body)
    found = Wrench(sign * turned(R, numbers[..., :3]), sign * turned(R, numbers[..., 3:]), origin)
    borne = r.joint_loads.borne(joint.name) if i is not None and has_links(r) else None
    if borne is None:
        return found
    links = wrench_of(r, joint, r.joint_loads.columns[joint.name], borne)
    return Wrench(found.force - links.force, found.moment - links.about(origin), origin)


def reactions_of_links(r: NamedMotion) -> dict[str, dict[str, np.ndarray]]:
    """{constraint or coupling that acts in coordinates of joints: {body: (…, T, 6) at its origin, in its axes}}."""
    out: dict[str, dict[str, np.ndarray]] = {}
    for name, forces in r.joint_loads.links.items() if has_links(r) else ():
        for joint in (j for j in r.model.joints if j.name in forces):
            wrench = wrench_of(r, joint, r.joint_loads.columns[joint.name], forces[joint.name])
            for body, sign in ((joint.child, 1.0), (joint.parent, -1.0)):
                if body != GROUND:
                    R, origin = r.body_frame(body)
                    parts = [turned(R.swapaxes(-1, -2), x) for x in (wrench.force, wrench.about(origin))]
                    bodies = out.setdefault(name, {})
                    bodies[body] = bodies.get(body, 0.0) + sign * np.concatenate(parts, axis=-1)
    return out


def power(r: NamedMotion, joint: PlacedJoint) -> np.ndarray:
    """(…, T): power of the joint force τ, and of the drive that moves the joint as a given function of time."""
    if is_cut(r.model, joint):
        return _power_between(r, joint) if joint.type.motion is not None else np.zeros(r.shape)  # an ideal joint does no work
    if joint.follows or joint.nv == len(joint.type.speeds):
        where = r.model.v_slice(joint.name)
        return (np.broadcast_to(r.tau, r.v.shape)[..., where] * r.v[..., where]).sum(axis=-1)
    return (r.joint_loads.own[joint.name] * values_of(r, joint.name, SPEED)).sum(axis=-1)


def _power_between(r: NamedMotion, joint: PlacedJoint) -> np.ndarray:
    """Power of the reaction in the motion of the child relative to the parent."""
    (_, point), wrench = r.place((joint.child, joint.child_at)), wrench_on_child(r, joint)
    parent, child = r.velocity_of((joint.parent, joint.at)), r.velocity_of((joint.child, joint.child_at))
    arm = point - r.place((joint.parent, joint.at))[1]
    slip = child[..., :3] - parent[..., :3] - np.cross(parent[..., 3:], arm)
    spin = child[..., 3:] - parent[..., 3:]
    total: np.ndarray = (wrench.force * slip).sum(axis=-1) + (wrench.about(point) * spin).sum(axis=-1)
    return total
