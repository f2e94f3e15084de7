"""A motor: a torque law or a controller, with its limit."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...trace.functions import tanh
from ..element import element, element_field, not_negative, positive
from ..motion import Motion
from ..values import Flag, Function
from .force_element import JointForce, Numbers, check_one_speed, limited, value_of


@element("motor")
class Motor(JointForce):
    """τ = torque + kp·(target − x) + kd·(target_speed − v), held within ±limit. For a joint of one coordinate."""

    torque: float | Callable[[Any, Any, Any], Any] = element_field(
        Function(("t", "x", "v"), or_number=True), default=0.0, unit="N m, N", meaning="a number, or a function of t, x, v"
    )
    kp: float = not_negative(default=0.0, unit="N m/rad, N/m", meaning="gain of position")
    kd: float = not_negative(default=0.0, unit="N m s/rad, N s/m", meaning="gain of speed")
    target: float | Callable[[Any], Any] = element_field(
        Function(("t",), or_number=True), default=0.0, unit="rad, m", meaning="a number, or a function of t"
    )
    target_speed: float | Callable[[Any], Any] = element_field(
        Function(("t",), or_number=True), default=0.0, unit="rad/s, m/s", meaning="a number, or a function of t"
    )
    limit: float | None = positive(default=None, unit="N m, N", meaning="largest force; the joint's own effort by default")
    soft: bool = element_field(
        Flag(), default=False, meaning="reach the limit smoothly, limit·tanh(τ/limit), for stiff or high-order integrators"
    )

    def numbers(self, on: Motion) -> Numbers:
        check_one_speed(self, on, "motor")
        return {**super().numbers(on), "limit": self.limit if self.limit is not None else on.joint(self.joint).effort}

    def formula(self, on: Motion, n: Numbers) -> None:
        x, v = on.coordinates(self.joint), on.speeds(self.joint)
        t, limit = on.t, n["limit"]
        given = {"torque": self.torque, "target": self.target, "target_speed": self.target_speed, **n}
        tau = value_of(given["torque"], t, x[0], v[0])
        tau = tau + n["kp"] * (value_of(given["target"], t) - x[0])
        tau = tau + n["kd"] * (value_of(given["target_speed"], t) - v[0])
        if limit is not None:
            tau = limit * tanh(tau / limit) if self.soft else limited(tau, limit)
        on.torque(self.joint, tau)
