"""The numbers of a pose that can be set, and between what limits: coordinates, and orientations as roll, pitch and yaw."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ...analysis.limits import Limits
from ...equations.assembly.fixed_coordinates import angles, own_speeds
from ...model.model import Model
from ...model.pose import Rotation, quaternion_of, roll_pitch_yaw
from ...types import FloatArray

RPY = ("roll", "pitch", "yaw")
UPRIGHT = math.pi / 2 - 1e-3
"""The largest pitch: at a right angle roll and yaw are the same turn."""


@dataclass(frozen=True)
class Slider:
    """One number that can be set."""

    name: str
    """Name of the coordinate as in `Model.q_names`, or "joint.roll"."""
    joint: str
    low: float
    high: float
    is_angle: bool
    place: int
    """Index of the coordinate in q; for an angle of an orientation, that of the quaternion's first."""
    turn: int | None = None
    """0, 1, 2: roll, pitch, yaw of the quaternion at `place`."""


def sliders_of(model: Model, size: float, q: FloatArray) -> list[Slider]:
    """Sliders of all coordinates. Without a limit: ± half a turn, ± the size of the mechanism about the present value."""
    s, limits, out = model.structure, Limits(model), list[Slider]()
    own, turning = own_speeds(s), angles(s)
    quaternions, names = set(s.quaternions.tolist()), model.q_names
    k, joint_of = 0, [j.name for j in model.joints for _ in j.q_names]
    while k < model.nq:
        if k in quaternions:
            base = names[k].rsplit(".", 1)[0]
            ends = (math.pi, UPRIGHT, math.pi)
            out += [Slider(f"{base}.{RPY[i]}", joint_of[k], -end, end, True, k, i) for i, end in enumerate(ends)]
            k += 4
            continue
        v = own[k]
        is_angle = bool(v >= 0 and turning[v])
        low, high = (float(limits.low[v]), float(limits.high[v])) if v >= 0 else (-math.inf, math.inf)
        reach, at = (math.pi, 0.0) if is_angle else (max(size, 1e-6), float(q[k]))
        low, high = low if math.isfinite(low) else min(at - reach, high), high if math.isfinite(high) else max(at + reach, low)
        low, high = min(low, float(q[k])), max(high, float(q[k]))  # a value beyond a limit is shown
        out.append(Slider(names[k], joint_of[k], low, high, is_angle, k))
        k += 1
    return out


def angles_of(q: FloatArray, at: int, near: tuple[float, ...] | None = None) -> tuple[float, ...]:
    """Roll, pitch, yaw of a quaternion; those of a moment before where they still mean the same turn."""
    w = q[at : at + 4]
    if near is not None and abs(float(np.dot(quaternion_of(Rotation.rpy(*near)), w))) > 1.0 - 1e-12:
        return near
    return roll_pitch_yaw(Rotation.quaternion(*(float(x) for x in w / np.linalg.norm(w))))
