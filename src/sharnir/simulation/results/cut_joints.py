"""Coordinates of a joint that closes a loop, read off the motion of its two bodies: it has none of its own.

Speeds and accelerations follow from the velocities and accelerations of the bodies, not from differences over time.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ...model.joints.traced import Segment
from ...model.placed_joint import PlacedJoint
from ...model.pose import Pose, unchecked_rotation
from ...model.quaternions import quaternions_of, without_jumps
from ...trace import Expression, Graph, check_numbers, tangent
from .derived import Derived, turned

TURN = 2.0 * np.pi


class Relative(NamedTuple):
    """The child's joint frame seen from the parent's, all in the parent's axes; `None` where a derivative was not asked for."""

    position: np.ndarray
    rotation: np.ndarray
    u: np.ndarray | None = None
    """Velocity of the origin."""
    w: np.ndarray | None = None
    """Angular velocity."""
    du: np.ndarray | None = None
    dw: np.ndarray | None = None


def measured(r: Derived, joint: PlacedJoint, runs: Sequence[Segment], order: int) -> np.ndarray:
    """(…, T, n): coordinates (order 0), speeds or accelerations of a cut joint that is not driven."""
    if not runs:
        return np.zeros((*r.shape, 0))
    if runs[0].twist is not None:
        x = relative_motion(r, joint, order)
        back = x.rotation.swapaxes(-1, -2)
        twist, rates = None, None
        if x.u is not None and x.w is not None:
            twist = np.concatenate([turned(back, x.u), turned(back, x.w)], axis=-1)
            if x.du is not None and x.dw is not None:
                rates = np.concatenate([turned(back, x.du - np.cross(x.w, x.u)), turned(back, x.dw)], axis=-1)
        return pose_values(runs[0], x.position, x.rotation, twist, rates, order)
    angles = [k for k, run in enumerate(runs) if run.q_units == ("rad",)]
    needed = max(order, 1) if angles and order == 0 else order  # speeds tell how many turns there were between two times
    values = _read_off(joint, relative_motion(r, joint, needed), needed)
    out = values[order]
    for k in angles if order == 0 else ():
        out[..., k] = unwrapped(out[..., k], values[1][..., k], r.t)
    return out


def relative_motion(r: Derived, joint: PlacedJoint, order: int) -> Relative:
    """With its first derivatives for order 1, its second ones too for order 2."""
    ends = (joint.parent, joint.at), (joint.child, joint.child_at)
    (R1, r1), (R2, r2) = map(r.place, ends)
    back, d = R1.swapaxes(-1, -2), r2 - r1
    position, rotation = turned(back, d), back @ R2
    if order == 0:
        return Relative(position, rotation)
    v1, v2 = map(r.velocity_of, ends)
    w1, w2 = v1[..., 3:], v2[..., 3:]
    u = v2[..., :3] - v1[..., :3] - np.cross(w1, d)
    first = turned(back, u), turned(back, w2 - w1)
    if order == 1:
        return Relative(position, rotation, *first)
    a1, a2 = map(r.acceleration_of, ends)
    e1, e2 = a1[..., 3:], a2[..., 3:]
    du = a2[..., :3] - a1[..., :3] - np.cross(e1, d) - np.cross(w1, np.cross(w1, d)) - 2.0 * np.cross(w1, u)
    return Relative(position, rotation, *first, turned(back, du), turned(back, e2 - e1 - np.cross(w1, w2)))


def pose_values(
    run: Segment,
    position: np.ndarray,
    rotation: np.ndarray,
    twist: np.ndarray | None,
    rates: np.ndarray | None,
    order: int,
) -> np.ndarray:
    """Values of coordinates that describe a pose; `twist`, `rates`: velocity in the moved axes and its rates."""
    assert run.twist is not None
    if order == 0:
        quaternion = without_jumps(quaternions_of(rotation))
        return np.concatenate([position, quaternion], axis=-1) if len(run.q_units) == 7 else quaternion
    found = twist if order == 1 else rates
    assert found is not None
    return found[..., list(run.twist)]


def unwrapped(angle: np.ndarray, speed: np.ndarray, t: np.ndarray) -> np.ndarray:
    """Angles known but for whole turns, as they follow each other at these speeds."""
    step = 0.5 * (speed[..., 1:] + speed[..., :-1]) * np.diff(t)
    turns = np.round((step - np.diff(angle, axis=-1)) / TURN)
    out = angle.copy()
    out[..., 1:] += TURN * np.cumsum(turns, axis=-1)
    return out


def _read_off(joint: PlacedJoint, x: Relative, order: int) -> list[np.ndarray]:
    """Values and derivatives up to `order` of the coordinates that a joint reads off its relative pose."""
    R = x.rotation.reshape(*x.rotation.shape[:-2], 9)
    inputs = [np.concatenate([x.position, R], axis=-1)]
    if x.u is not None and x.w is not None:
        inputs.append(np.concatenate([x.u, _spun(x.w, x.rotation)], axis=-1))
        if x.du is not None and x.dw is not None:
            spin = np.cross(x.w[..., :, None], x.rotation, axis=-2)
            twice = _spun(x.dw, x.rotation) + _spun(x.w, spin)
            inputs.append(np.concatenate([x.du, twice], axis=-1))
    graph, label = Graph(), f"joint {joint.name!r}"
    symbols = [graph.inputs(12) for _ in range(order + 1)]
    pose = Pose(symbols[0][:3], unchecked_rotation(symbols[0][3:]))
    values = [check_numbers(joint.type.measured(pose, label), graph, label)]
    flow = [pair for low, high in itertools.pairwise(symbols) for pair in zip(low, high, strict=True)]
    for _ in range(order):
        values.append(tangent(values[-1], flow))
    n = len(values[0])
    found = Expression(graph, [s for run in symbols for s in run], [y for run in values for y in run])(
        *(np.moveaxis(np.concatenate(inputs, axis=-1), -1, 0))
    )
    flat = np.stack([np.broadcast_to(np.asarray(y, dtype=float), R.shape[:-1]) for y in found], axis=-1)
    return [flat[..., k * n : (k + 1) * n].copy() for k in range(order + 1)]


def _spun(w: np.ndarray, R: np.ndarray) -> np.ndarray:
    """w × R, column by column, as nine numbers."""
    return np.cross(w[..., :, None], R, axis=-2).reshape(*R.shape[:-2], 9)
