"""Coordinates, speeds and accelerations of any joint of a motion: free, driven, following another, or cut.

A cut joint has no coordinates of its own: they are read off the motion of its two bodies. Their rates follow from the velocities
and accelerations of the bodies, not from differences over time.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ...errors import ModelError, no_such
from ...model.joints import Joint
from ...model.joints.traced import Segment
from ...model.model import Model
from ...model.placed_joint import PlacedJoint
from ...model.pose import Pose, unchecked_rotation
from ...model.quaternions import quaternions_of, without_jumps
from ...model.references import is_name_in, names_of_parts, readings
from ...trace import Expression, Graph, check_numbers, tangent
from .derived import Derived, at_states, turned

COORDINATE, SPEED, ACCELERATION = 0, 1, 2
"""Orders of derivatives: a coordinate, its first, its second."""

TURN = 2.0 * np.pi


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
    free, found = not joint.follows and not is_cut(model, joint), list[tuple[str, bool]]()
    for run in joint.type.segments(f"joint {joint.name!r}"):
        units = run.q_units if order == COORDINATE else run.v_units
        found += [(unit + "²" if order == ACCELERATION and unit else unit, free and run.is_free) for unit in units]
    names = names_of_parts(joint.name, joint.type.coordinates if order == COORDINATE else joint.type.speeds)
    return [Column(name, k, unit, own) for k, (name, (unit, own)) in enumerate(zip(names, found, strict=True))]


def dependent_values(r: Derived, order: int) -> dict[str, Values]:
    """Coordinates that are no entries of q or v, by name: driven ones, those of followers and of cut joints."""
    found: dict[str, Values] = {}
    for joint in all_joints(r.model).values():
        kind, runs = joint.type, joint.type.segments(joint.type.label)
        told = kind.motion is not None or all(run.twist is not None for run in runs) or type(kind).measured is not Joint.measured
        if is_cut(r.model, joint) and not told:  # from the poses of its bodies
            continue
        if dependent := [column for column in columns(r.model, joint, order) if not column.is_own]:
            values = _values(r, joint, order)
            found |= {column.name: Values(values[..., column.at], column.unit) for column in dependent}
    return found


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
    own, every = (joint.nq, joint.type.coordinates) if order == COORDINATE else (joint.nv, joint.type.speeds)
    if not is_cut(r.model, joint) and own == len(every):
        return _own(r, joint.name, order)
    if (joint.name, order) not in r.joint_values:
        r.joint_values[joint.name, order] = _computed(r, joint, order)
    return r.joint_values[joint.name, order]


def _computed(r: Derived, joint: PlacedJoint, order: int) -> np.ndarray:
    if joint.follows is not None:
        ratio, offset = at_states(r, joint.follows.ratio), at_states(r, joint.follows.offset)
        led = ratio[..., None] * _values(r, find_joint(r.model, joint.follows.leader), order)
        return led + offset[..., None] if order == COORDINATE else led
    runs = joint.type.segments(f"joint {joint.name!r}")
    if is_cut(r.model, joint) and joint.type.motion is None:
        return _measured(r, joint, runs, order) if runs else np.zeros((*r.shape, 0))
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
    return (r.v if order == SPEED else r.a)[..., r.model.v_slice(joint)]


def _law(r: Derived, run: Segment, order: int) -> np.ndarray:
    """A run that is driven, from its law of time."""
    if run.drive is not None:
        found = np.asarray(run.drive(r.t, parameters=r.named_parameters)[order], dtype=float)
        return np.array(np.broadcast_to(found, r.shape))[..., None]
    assert run.given is not None
    given = run.given(r.t, parameters=r.named_parameters)[:24]
    values = np.stack([np.broadcast_to(np.asarray(x, dtype=float), r.shape) for x in given], axis=-1)
    if order == COORDINATE:
        return _pose_coordinates(run, values[..., :3], values[..., 3:12].reshape(*r.shape, 3, 3).swapaxes(-1, -2))
    twist, u, w = values[..., 12:18], values[..., 12:15], values[..., 15:18]
    rates = np.concatenate([values[..., 18:21] - np.cross(w, u), values[..., 21:24]], axis=-1)  # in the moved axes
    return _components(run, twist if order == SPEED else rates)


def _pose_coordinates(run: Segment, position: np.ndarray, rotation: np.ndarray) -> np.ndarray:
    quaternion = without_jumps(quaternions_of(rotation))
    return np.concatenate([position, quaternion], axis=-1) if len(run.q_units) == 7 else quaternion


def _components(run: Segment, x: np.ndarray) -> np.ndarray:
    """Components of a velocity in the moved axes, or of its rates, that are speeds of a run."""
    assert run.twist is not None
    return x[..., list(run.twist)]


# --- cut joints -------------------------------------------------------------------------------------------------------------
def _measured(r: Derived, joint: PlacedJoint, runs: Sequence[Segment], order: int) -> np.ndarray:
    """(…, T, n) of a cut joint that is not driven."""
    if runs[0].twist is not None:
        (position, rotation), *rates = relative_motion(r, joint, order)
        if order == COORDINATE:
            return _pose_coordinates(runs[0], position, rotation)
        (u, w), back = rates[0], rotation.swapaxes(-1, -2)
        linear, angular = (u, w) if order == SPEED else (rates[1][0] - np.cross(w, u), rates[1][1])
        return _components(runs[0], np.concatenate([turned(back, linear), turned(back, angular)], axis=-1))
    angles = [k for k, run in enumerate(runs) if run.q_units == ("rad",)] if order == COORDINATE else []
    values = _read_off(joint, relative_motion(r, joint, SPEED if angles else order))  # speeds count turns between two times
    for k in angles:
        values[0][..., k] = _unwrapped(values[0][..., k], values[1][..., k], r.t)
    return values[order]


def relative_motion(r: Derived, joint: PlacedJoint, order: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """The child's joint frame seen from the parent's, in the parent's axes: position and rotation; the velocity of its origin and
    the angular velocity; their rates."""
    ends = (joint.parent, joint.at), (joint.child, joint.child_at)
    (R1, r1), (R2, r2) = map(r.place, ends)
    back, d = R1.swapaxes(-1, -2), r2 - r1
    found = [(turned(back, d), back @ R2)]
    if order > COORDINATE:
        v1, v2 = map(r.velocity_of, ends)
        w1, w2 = v1[..., 3:], v2[..., 3:]
        u = v2[..., :3] - v1[..., :3] - np.cross(w1, d)
        found.append((turned(back, u), turned(back, w2 - w1)))
    if order > SPEED:
        a1, a2 = map(r.acceleration_of, ends)
        e1, e2 = a1[..., 3:], a2[..., 3:]
        du = a2[..., :3] - a1[..., :3] - np.cross(e1, d) - np.cross(w1, np.cross(w1, d)) - 2.0 * np.cross(w1, u)
        found.append((turned(back, du), turned(back, e2 - e1 - np.cross(w1, w2))))
    return found


def _unwrapped(angle: np.ndarray, speed: np.ndarray, t: np.ndarray) -> np.ndarray:
    """Angles known but for whole turns, as they follow each other at these speeds."""
    step = 0.5 * (speed[..., 1:] + speed[..., :-1]) * np.diff(t)
    turns = np.round((step - np.diff(angle, axis=-1)) / TURN)
    out = angle.copy()
    out[..., 1:] += TURN * np.cumsum(turns, axis=-1)
    return out


def _read_off(joint: PlacedJoint, motion: Sequence[tuple[np.ndarray, np.ndarray]]) -> list[np.ndarray]:
    """Values of the coordinates that a joint reads off its relative pose, and derivatives as many as the motion has."""
    (position, R), *rates = motion
    inputs, shape = [(position, R)], R.shape[:-2]
    if rates:
        u, w = rates[0]
        spin = np.cross(w[..., :, None], R, axis=-2)
        inputs.append((u, spin))
    if len(rates) > 1:
        du, dw = rates[1]
        inputs.append((du, np.cross(dw[..., :, None], R, axis=-2) + np.cross(w[..., :, None], spin, axis=-2)))
    numbers = [x for at, turn in inputs for x in (at, turn.reshape(*shape, 9))]
    graph, label = Graph(), f"joint {joint.name!r}"
    symbols = [graph.inputs(12) for _ in inputs]
    pose = Pose(symbols[0][:3], unchecked_rotation(symbols[0][3:]))
    values = [check_numbers(joint.type.measured(pose, label), graph, label)]
    flow = [pair for low, high in itertools.pairwise(symbols) for pair in zip(low, high, strict=True)]
    for _ in rates:
        values.append(tangent(values[-1], flow))
    found = Expression(graph, [s for run in symbols for s in run], [y for run in values for y in run])(
        *np.moveaxis(np.concatenate(numbers, axis=-1), -1, 0)
    )
    flat = np.stack([np.broadcast_to(np.asarray(y, dtype=float), shape) for y in found], axis=-1)
    n = len(values[0])
    return [flat[..., k * n : (k + 1) * n].copy() for k in range(len(inputs))]
