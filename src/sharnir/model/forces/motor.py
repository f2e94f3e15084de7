"""A motor: a torque law or a controller, with its limit."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ...errors import ModelError
from ...trace.functions import maximum, minimum, tanh
from ..motion import Motion
from .base import Force, Numbers, positive, value_of


class Motor(Force):
    """τ = torque + kp·(target − x) + kd·(target_speed − v), held within ±limit.

    torque         a number, or a function (t, x, v)
    target, target_speed   numbers, or functions of t
    limit          largest force (default: the joint's own `effort`; None there too: no limit)
    soft           True: the limit is reached smoothly (limit·tanh(τ/limit)), for stiff or high-order integrators
    For a joint of one coordinate.
    """

    def __init__(
        self,
        joint: str,
        torque: float | Callable[[Any, Any, Any], Any] = 0.0,
        kp: float = 0.0,
        kd: float = 0.0,
        target: float | Callable[[Any], Any] = 0.0,
        target_speed: float | Callable[[Any], Any] = 0.0,
        limit: float | None = None,
        soft: bool = False,
    ) -> None:
        self.joint, self.torque, self.target, self.target_speed, self.soft = joint, torque, target, target_speed, soft
        self.kp, self.kd = positive(kp, "motor: kp"), positive(kd, "motor: kd")
        self.limit = None if limit is None else positive(limit, "motor: limit", zero=False)

    def joints(self) -> Sequence[str]:
        return (self.joint,)

    def numbers(self, on: Motion) -> Numbers:
        placed = on._joint(self.joint)
        if on._speed_count(placed) != 1:
            raise ModelError(f"motor of joint {self.joint!r}: it needs one speed, the joint has {on._speed_count(placed)}")
        given = {name: getattr(self, name) for name in ("torque", "target", "target_speed")}
        limit = self.limit if self.limit is not None else placed.type.effort
        return {"kp": self.kp, "kd": self.kd, "limit": limit, **{name: x for name, x in given.items() if not callable(x)}}

    def formula(self, on: Motion, n: Numbers) -> None:
        placed = on._joint(self.joint)
        x, v = on._coordinates(placed, 0), on._coordinates(placed, 1)
        t, limit = on.t, n["limit"]
        given = {"torque": self.torque, "target": self.target, "target_speed": self.target_speed, **n}
        tau = value_of(given["torque"], t, x[0], v[0])
        tau = tau + n["kp"] * (value_of(given["target"], t) - x[0])
        tau = tau + n["kd"] * (value_of(given["target_speed"], t) - v[0])
        if limit is not None:
            tau = limit * tanh(tau / limit) if self.soft else maximum(-limit, minimum(limit, tau))
        on.torque(self.joint, tau)
