"""Dry friction in a joint: Coulomb's law with Stribeck's dip, made smooth."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ...errors import ModelError
from ...trace import Number, is_zero
from ...trace.functions import exp, tanh
from ..element import element, not_negative, positive
from ..motion import Motion
from .force_element import JointForce, Numbers

if TYPE_CHECKING:
    from .bristle_friction import BristleFriction


@element("joint-friction")
class JointFriction(JointForce):
    """τ = −(C + (S − C)·exp(−(v/v_s)²))·tanh(v/slip) − viscous·v on every speed of a joint.

    Below the slip speed the joint creeps instead of sticking: smooth friction does not hold a position indefinitely. Small
    values make the equations stiff: choose "radau" then.
    """

    coulomb: float | None = not_negative(
        default=None, unit="N m, N", meaning="C: force when sliding; the joint's own friction by default"
    )
    static: float | None = not_negative(
        default=None, unit="N m, N", meaning="S: force at breakaway; C by default, which means no dip"
    )
    stribeck: float = positive(default=0.1, unit="rad/s, m/s", meaning="v_s: speed at which the dip is over")
    viscous: float = not_negative(default=0.0, unit="N m s/rad, N s/m", meaning="force per speed in addition")
    slip: float = positive(default=1e-3, unit="rad/s, m/s", meaning="speed at which tanh is near one")

    def numbers(self, on: Motion) -> Numbers:
        sliding, dip = sliding_and_dip(self, on)
        if all(x is None or is_zero(x) for x in (sliding, self.static, self.viscous)):
            raise without_friction(self.joint)
        return {**super().numbers(on), "coulomb": sliding, "static": dip}

    def formula(self, on: Motion, n: Numbers) -> None:
        tau = []
        for speed, C, dip in zip(on.speeds(self.joint), n["coulomb"], n["static"], strict=True):
            x = speed / n["stribeck"]
            level = C + dip * exp(-x * x)
            tau.append(-level * tanh(speed / n["slip"]) - n["viscous"] * speed)
        on.torque(self.joint, tau)


def sliding_and_dip(friction: JointFriction | BristleFriction, on: Motion) -> tuple[Sequence[Number], list[Number]]:
    """C, by default the joint's own friction, and S − C, on every speed."""
    joint, C, S = friction.joint, friction.coulomb, friction.static
    n = on.speed_count(joint)
    sliding = [C] * n if C is not None else on.joint(joint).per_speed("friction", n, f"joint {joint!r}")
    return sliding, [0.0 if S is None else S - x for x in sliding]


def without_friction(joint: str) -> ModelError:
    return ModelError(f"friction in joint {joint!r}: specify coulomb=…, or the joint's own option `friction`")
