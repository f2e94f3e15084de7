"""What a joint of a motion does to the body it is named to carry, and the power of its drive."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..errors import StateError, brief, unknown
from ..model.placed_joint import PlacedJoint
from ..model.references import is_name_in
from .derived import Derived
from .joint_motion import is_cut

AXES, POINTS = ("body", "world", "joint"), ("origin", "joint")


class Wrench(NamedTuple):
    """World axes; the moment is about the point."""

    force: np.ndarray
    moment: np.ndarray
    point: np.ndarray

    def about(self, point: np.ndarray) -> np.ndarray:
        return self.moment + np.cross(self.point - point, self.force)


def reaction(r: Derived, joint: PlacedJoint, axes: str, at: str) -> np.ndarray:
    """(…, T, 6): force and moment on the joint's child."""
    for what, value, known in (("axes", axes, AXES), ("at", at, POINTS)):
        if not is_name_in(known, value):
            raise StateError(unknown(f"{what}={brief(value)}", value, known, f"values of {what}"))
    i = r.model.structure.joint_number.get(joint.name)
    if i is not None and axes == "body" and at == "origin" and not r.model.tree.reversed[i]:
        return r.reactions[..., i, :]
    wrench, body, own = wrench_on_child(r, joint), r.body_frame(joint.child), r.place((joint.child, joint.child_at))
    moment = wrench.about((own if at == "joint" else body)[1])
    if axes == "world":
        return np.concatenate([wrench.force, moment], axis=-1)
    back = (own if axes == "joint" else body)[0].swapaxes(-1, -2)
    return np.concatenate([_turned(back, wrench.force), _turned(back, moment)], axis=-1)


def wrench_on_child(r: Derived, joint: PlacedJoint) -> Wrench:
    """Whatever end of the joint the tree hangs on: a joint has no mass, what it does to one end is undone at the other."""
    i = r.model.structure.joint_number.get(joint.name)
    if i is not None:
        body, numbers = r.model.bodies[i].name, r.reactions[..., i, :]
    else:
        ends = r.closing_reactions.get(joint.name, {})
        body = next((end for end in (joint.child, joint.parent) if end in ends), "")
        if not body:
            return Wrench(*np.zeros((3, *r.shape, 3)))  # a joint that forbids nothing
        numbers = ends[body]
    sign = 1.0 if body == joint.child else -1.0
    R, origin = r.body_frame(body)
    return Wrench(sign * _turned(R, numbers[..., :3]), sign * _turned(R, numbers[..., 3:]), origin)


def power(r: Derived, joint: PlacedJoint) -> np.ndarray:
    """(…, T): of the joint force τ, and of what moves the joint as a given function of time."""
    if is_cut(r.model, joint):
        constrained = r.dynamics.constrained
        moves = constrained is not None and constrained.table.is_rheonomic
        return _power_between(r, joint, r.v) if moves else np.zeros(r.shape)  # an ideal joint does no work
    where = r.model.v_slice(joint.name)
    of_tau = (np.broadcast_to(r.tau, r.v.shape)[..., where] * r.v[..., where]).sum(axis=-1)
    motions = r.model.structure.motions_of(joint)
    if all(m.drive is None and m.given is None for m in motions):
        return of_tau
    return of_tau + _power_between(r, joint, np.zeros_like(r.v))  # at rest but for drives: what is free does no work


def _power_between(r: Derived, joint: PlacedJoint, v: np.ndarray) -> np.ndarray:
    """Of the reaction along the motion of the child relative to the parent, at speeds v."""
    (_, point), wrench = r.place((joint.child, joint.child_at)), wrench_on_child(r, joint)
    parent = r.velocity_of((joint.parent, joint.at), v)
    child = r.velocity_of((joint.child, joint.child_at), v)
    arm = point - r.place((joint.parent, joint.at))[1]
    slip = child[..., :3] - parent[..., :3] - np.cross(parent[..., 3:], arm)
    spin = child[..., 3:] - parent[..., 3:]
    total: np.ndarray = (wrench.force * slip).sum(axis=-1) + (wrench.about(point) * spin).sum(axis=-1)
    return total


def _turned(R: np.ndarray, x: np.ndarray) -> np.ndarray:
    return (R @ x[..., None])[..., 0]
