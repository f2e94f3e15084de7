"""Springs and dampers in joints, elastic forces of flexible bodies, rotors of driven coordinates."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...errors import ModelError
from ...kernels.algebra import add, cross, dot, scale
from ...trace import Number, is_zero
from ...trace.functions import atan2, cos, select, sin, sqrt
from ..element import element, element_field
from ..joints.joint_type import ANY, OneOrMore, per_coordinate
from ..motion import JointOptions, Motion
from ..values import Function
from .force_element import Force, JointForce, Numbers

if TYPE_CHECKING:
    from ..deformation import Deformation


# --- the elastic forces of a flexible body
class Elasticity(Force):
    """Stiffness and structural damping: −K e − C ė on the elastic coordinates, which store ½ eᵀK e."""

    def __init__(self, joint: str, deformation: Deformation) -> None:
        self.joint = joint
        self.stiffness, self.damping = deformation.shapes.stiffness, deformation.shapes.damping

    def joints(self) -> Sequence[str]:
        return (self.joint,)

    def act(self, on: Motion) -> Number:
        e, rates = on.coordinates(self.joint), on.speeds(self.joint)
        pull = _times(self.stiffness, e)
        drag = _times(self.damping, rates)
        on.torque(self.joint, [-(p + d) for p, d in zip(pull, drag, strict=True)])
        return 0.5 * sum((p * x for p, x in zip(pull, e, strict=True)), 0.0)


def _times(K: np.ndarray, x: Sequence[Number]) -> list[Number]:
    """K x, without the entries that are zero."""
    return [sum((k * y for k, y in zip(row, x, strict=True) if k), 0.0) for row in K.tolist()]


# --- springs, dampers and rotors
@element("joint-spring")
class JointSpring(JointForce):
    """Spring and damper on the coordinates of a joint: τ = −stiffness·(x − rest) − damping·ẋ, or `law(x, v)` in its place.

    On a ball joint the spring acts along the rotation vector from the rest position.
    """

    stiffness: OneOrMore = element_field(ANY, default=0.0, unit="N m/rad, N/m", meaning="one number, or one per speed")
    damping: OneOrMore = element_field(ANY, default=0.0, unit="N m s/rad, N s/m", meaning="one number, or one per speed")
    rest: OneOrMore | None = element_field(
        ANY,
        default=None,
        unit="rad, m",
        meaning="coordinate at which the spring is free, the reference position by default; of a ball joint a quaternion",
    )
    law: Callable[[Any, Any], Any] | None = element_field(
        Function(("x", "v")),
        default=None,
        unit="N m, N",
        meaning="force as a function of x and v, for a joint of one coordinate, in place of the three",
    )

    def numbers(self, on: Motion) -> Numbers:
        label = f"spring of joint {self.joint!r}"
        n = on.speed_count(self.joint)
        if not n:
            raise ModelError(f"{label}: the joint has no freedom, a spring in it would move nothing")
        if self.law is not None:
            if n != 1:
                raise ModelError(f"{label}: a law needs a joint of one coordinate, this one has {n} speeds")
            return {}
        stiffness = per_coordinate(self.stiffness, n, f"{label}: stiffness")
        # negative, so that −cv is one product, shared with its power
        damping = [-c for c in per_coordinate(self.damping, n, f"{label}: damping")]
        if is_zero(stiffness):
            return {"stiffness": None, "damping": damping, "rest": None}
        return {"stiffness": stiffness, "damping": damping, "rest": _rest(on.joint(self.joint), self.rest, n, label)}

    def formula(self, on: Motion, n: Numbers) -> Number:
        x, v = on.coordinates(self.joint), on.speeds(self.joint)
        if self.law is not None:
            on.torque(self.joint, self.law(x[0], v[0]))
            return 0.0
        tau = [c * speed for c, speed in zip(n["damping"], v, strict=True)]
        stored: Number = 0.0
        if n["stiffness"] is not None:
            stretch, balls = _stretch(on.joint(self.joint), x, n["rest"])
            pull = [k * d for k, d in zip(n["stiffness"], stretch, strict=True)]
            stored = sum((0.5 * p * d for p, d in zip(pull, stretch, strict=True)), 0.0)
            for a in balls:
                pull[a : a + 3] = moment_of_turn(stretch[a : a + 3], pull[a : a + 3], -1.0)
            tau = [x - p for x, p in zip(tau, pull, strict=True)]
        on.torque(self.joint, tau)
        return stored


def _rest(joint: JointOptions, rest: Any, n: int, label: str) -> Sequence[float]:
    """Coordinates at which the spring is free, a number for each; a driven joint has n, which have no names."""
    names = joint.q_names()
    if {"x", "y", "z", "qw"} <= set(names):
        raise ModelError(f"{label}: a free joint has no axes of its own for a spring; use a Bushing")
    if names and (rest is None or (not hasattr(rest, "__len__") and is_zero(rest))):
        rest = joint.neutral()
    return per_coordinate(0.0 if rest is None else rest, len(names) or n, f"{label}: rest")


def _stretch(joint: JointOptions, x: Sequence[Number], rest: Sequence[Number]) -> tuple[list[Number], list[int]]:
    """How far every coordinate is from rest; for a quaternion the rotation vector, in the moved axes. And where those are."""
    names = joint.q_names()
    out: list[Number] = []
    balls: list[int] = []
    at = 0
    while at < len(x):
        if names and names[at].rsplit(".", 1)[-1] == "qw":
            balls.append(len(out))
            out += rotation_vector(_relative(rest[at : at + 4], x[at : at + 4]))
            at += 4
        else:
            out.append(x[at] - rest[at])
            at += 1
    return out, balls


def _relative(p: Sequence[Number], q: Sequence[Number]) -> tuple[Number, ...]:
    """p⁻¹q: the rotation from p to q, in the axes of p (and of q, which share the axis of rotation)."""
    w, x, y, z = p[0], -p[1], -p[2], -p[3]
    return (
        w * q[0] - x * q[1] - y * q[2] - z * q[3],
        w * q[1] + x * q[0] + y * q[3] - z * q[2],
        w * q[2] - x * q[3] + y * q[0] + z * q[1],
        w * q[3] + x * q[2] - y * q[1] + z * q[0],
    )


def rotation_vector(q: Sequence[Number]) -> tuple[Number, Number, Number]:
    """Axis times angle (at most π) of a quaternion of any length."""
    sign = select(q[0] < 0.0, -1.0, 1.0)
    square = q[1] * q[1] + q[2] * q[2] + q[3] * q[3]
    small = square < 1e-24 * q[0] * q[0]
    length = sqrt(select(small, 1.0, square))  # its derivative stays finite at zero
    factor = select(small, 2.0 / select(small, sign * q[0], 1.0), 2.0 * atan2(length, sign * q[0]) / length)
    return tuple(sign * factor * x for x in q[1:])


def moment_of_turn(turn: Sequence[Number], slope: Sequence[Number], sign: float) -> tuple[Number, Number, Number]:
    """The moment whose work is the change of an energy with gradient `slope` in the rotation vector `turn`.

    M = (E + sign·½φ̃ + c φ̃²) dU/dφ, c = (1 − (θ/2)cot(θ/2))/θ²; sign +1 in the axes turned from, −1 in the turned ones.
    Equal to `slope` where that is along the turn, so that it matters only to springs with unlike stiffnesses.
    """
    square = dot(turn, turn)
    small = square < 1e-6
    half = 0.5 * sqrt(select(small, 1.0, square))
    c = select(small, 1.0 / 12.0 + square / 720.0, (1.0 - half * cos(half) / sin(half)) / select(small, 1.0, square))
    once = cross(turn, slope)
    return add(add(slope, scale(once, 0.5 * sign)), scale(cross(turn, once), c))


class DriveRotor(Force):
    """The rotor of a driven coordinate: its drive turns it too. It stores kinetic energy."""

    kinetic = True

    def __init__(self, joint: str, inertia: Number) -> None:
        self.joint, self.inertia = joint, inertia

    def joints(self) -> Sequence[str]:
        return (self.joint,)

    def act(self, on: Motion) -> Number:
        (v,), (a,) = on.speeds(self.joint), on.accelerations(self.joint)
        on.torque(self.joint, -self.inertia * a)
        return 0.5 * self.inertia * v * v
