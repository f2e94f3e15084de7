"""Coordinates, speeds and accelerations of any joint of a motion: free, driven, following another, or cut."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ...errors import ModelError, no_such
from ...model.joints import Joint
from ...model.joints.traced import Segment
from ...model.model import Model
from ...model.placed_joint import PlacedJoint
from ...model.references import is_name_in, names_of_parts, readings
from .cut_joints import measured, pose_values
from .derived import Derived, at_states

COORDINATE, SPEED, ACCELERATION = 0, 1, 2
"""Orders of derivatives: a coordinate, its first, its second."""


class Column(NamedTuple):
    """One coordinate or speed of a joint."""

    name: str
    """The joint's, followed by `.part` where it has several."""
    at: int
    """Which of the joint's it is."""
    unit: str
    is_own: bool
    """Whether it is an entry of q or v."""


class Values(NamedTuple):
    """One quantity at every state."""

    values: np.ndarray
    unit: str


def all_joints(model: Model) -> dict[str, PlacedJoint]:
    """Joints of the tree, then those that are cut, by name."""
    return {joint.name: joint for joint in (*model.joints, *model.closing_joints)}


def find_joint(model: Model, name: str) -> PlacedJoint:
    """A joint of the tree, or one that is cut."""
    number = model.structure.joint_number
    if is_name_in(number, name):
        return model.joints[number[name]]
    every = all_joints(model)
    if is_name_in(every, name):
        return every[name]
    raise ModelError(no_such("joint", name, every))


def is_cut(model: Model, joint: PlacedJoint) -> bool:
    return joint.name not in model.structure.joint_number


def columns(model: Model, joint: PlacedJoint, order: int) -> list[Column]:
    """The coordinates, speeds or accelerations of a joint by name, driven and dependent ones too."""
    parts = _parts(joint, order)
    free = not joint.follows and not is_cut(model, joint)
    found: list[tuple[str, bool]] = []
    for run in joint.type.segments(_label(joint)):
        units = run.q_units if order == COORDINATE else run.v_units
        found += [(unit + "²" if order == ACCELERATION and unit else unit, free and run.is_free) for unit in units]
    names = names_of_parts(joint.name, parts)
    return [Column(name, k, unit, own) for k, (name, (unit, own)) in enumerate(zip(names, found, strict=True))]


def dependent_values(r: Derived, order: int) -> dict[str, Values]:
    """Coordinates that are no entries of q or v, by name: driven ones, those of followers and of cut joints."""
    found: dict[str, Values] = {}
    for joint in all_joints(r.model).values():
        if is_cut(r.model, joint) and not has_coordinates(joint.type):
            continue
        if dependent := [column for column in columns(r.model, joint, order) if not column.is_own]:
            values = _values(r, joint, order)
            found |= {column.name: Values(values[..., column.at], column.unit) for column in dependent}
    return found


def has_coordinates(joint: Joint) -> bool:
    """Whether those of a cut joint can be told from the poses of its bodies, or are driven."""
    runs = joint.segments(joint.label)
    return joint.motion is not None or all(run.twist is not None for run in runs) or type(joint).measured is not Joint.measured


def values_of(r: Derived, name: str, order: int) -> np.ndarray:
    """(…, T, n) of a joint, or (…, T, 1) of "joint.part", one of several."""
    joint, part = _named(r.model, name)
    values = _values(r, joint, order)
    if not part:
        return values
    places = {column.name: column.at for column in columns(r.model, joint, order)}
    if name not in places:
        raise ModelError(no_such("coordinate" if order == COORDINATE else "speed", name, places))
    return values[..., places[name], None]


def _named(model: Model, name: str) -> tuple[PlacedJoint, str]:
    """A joint, and what follows its name and a dot; a joint of that whole name comes first."""
    if not is_name_in(model.structure.joint_number, name):
        every = all_joints(model)
        for owner, part in readings(name, every):
            return every[owner], part
    return find_joint(model, name), ""


def _values(r: Derived, joint: PlacedJoint, order: int) -> np.ndarray:
    """All values of a joint; those not found in q, v, a are computed once."""
    cut = is_cut(r.model, joint)
    if not cut and (joint.nq if order == COORDINATE else joint.nv) == len(_parts(joint, order)):
        return _own(r, joint.name, order)
    if (joint.name, order) not in r.joint_values:
        r.joint_values[joint.name, order] = _computed(r, joint, order, cut)
    return r.joint_values[joint.name, order]


def _computed(r: Derived, joint: PlacedJoint, order: int, cut: bool) -> np.ndarray:
    if joint.follows is not None:
        ratio, offset = at_states(r, joint.follows.ratio), at_states(r, joint.follows.offset)
        led = ratio[..., None] * _values(r, find_joint(r.model, joint.follows.leader), order)
        return led + offset[..., None] if order == COORDINATE else led
    runs = joint.type.segments(_label(joint))
    if cut and joint.type.motion is None:
        return measured(r, joint, runs, order)
    parts, at = [], 0
    for run in runs:
        if run.is_free:  # never where it is cut: what is cut is free or driven as a whole
            n = len(run.q_units if order == COORDINATE else run.v_units)
            parts.append(_own(r, joint.name, order)[..., at : at + n])
            at += n
        else:
            parts.append(_law(r, run, order))
    return np.concatenate(parts, axis=-1) if parts else np.zeros((*r.shape, 0))


def _own(r: Derived, joint: str, order: int) -> np.ndarray:
    if order == COORDINATE:
        return r.q[..., r.model.q_slice(joint)]
    where = r.model.v_slice(joint)
    return (r.v if order == SPEED else r.a)[..., where]


def _law(r: Derived, run: Segment, order: int) -> np.ndarray:
    """A run that is driven, from its law of time."""
    if run.drive is not None:
        return np.array(np.broadcast_to(_floats(run.drive(r.t, parameters=r.named_parameters)[order]), r.shape))[..., None]
    assert run.given is not None
    found = run.given(r.t, parameters=r.named_parameters)[:24]
    values = np.stack([np.broadcast_to(_floats(x), r.shape) for x in found], axis=-1)
    rotation = values[..., 3:12].reshape(*r.shape, 3, 3).swapaxes(-1, -2)
    u, w = values[..., 12:15], values[..., 15:18]
    rates = np.concatenate([values[..., 18:21] - np.cross(w, u), values[..., 21:24]], axis=-1)  # in the moved axes
    return pose_values(run, values[..., :3], rotation, values[..., 12:18], rates, order)


def _floats(x: Any) -> np.ndarray:
    return np.asarray(x, dtype=float)


def _parts(joint: PlacedJoint, order: int) -> tuple[str, ...]:
    """Names of all coordinates or speeds, before any is driven."""
    return joint.type.coordinates if order == COORDINATE else joint.type.speeds


def _label(joint: PlacedJoint) -> str:
    return f"joint {joint.name!r}"
