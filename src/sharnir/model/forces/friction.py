"""Dry friction in a joint: Coulomb's law with Stribeck's dip, made smooth."""

from __future__ import annotations

from ...errors import ModelError
from ...trace import is_zero
from ...trace.functions import exp, tanh
from ..element import element, element_field
from ..motion import Motion
from ..values import Name, Scalar
from .force_element import ForceElement, Numbers


@element("joint-friction")
class JointFriction(ForceElement):
    """τ = −(C + (S − C)·exp(−(v/v_s)²))·tanh(v/slip) − viscous·v on every speed of a joint.

    Below the slip speed the joint creeps instead of sticking: smooth friction does not hold a position indefinitely. Small
    values make the equations stiff: choose "radau" then.
    """

    joint: str = element_field(Name("joint"), meaning="the joint, or one coordinate of it: joint.coordinate")
    coulomb: float | None = element_field(
        Scalar(at_least=0.0), default=None, unit="N m, N", meaning="C: force when sliding; the joint's own friction by default"
    )
    static: float | None = element_field(
        Scalar(at_least=0.0), default=None, unit="N m, N", meaning="S: force at breakaway; C by default, which means no dip"
    )
    stribeck: float = element_field(
        Scalar(above=0.0), default=0.1, unit="rad/s, m/s", meaning="v_s: speed at which the dip is over"
    )
    viscous: float = element_field(
        Scalar(at_least=0.0), default=0.0, unit="N m s/rad, N s/m", meaning="force per speed in addition"
    )
    slip: float = element_field(Scalar(above=0.0), default=1e-3, unit="rad/s, m/s", meaning="speed at which tanh is near one")

    def numbers(self, on: Motion) -> Numbers:
        n, own = on.speed_count(self.joint), on.joint(self.joint)
        sliding = [self.coulomb] * n if self.coulomb is not None else own.per_speed("friction", n, f"joint {self.joint!r}")
        if all(x is None or is_zero(x) for x in (sliding, self.static, self.viscous)):
            raise ModelError(f"friction in joint {self.joint!r}: specify coulomb=…, or the joint's own option `friction`")
        dip = [0.0 if self.static is None else self.static - C for C in sliding]
        return {**super().numbers(on), "coulomb": sliding, "static": dip}

    def formula(self, on: Motion, n: Numbers) -> None:
        tau = []
        for speed, C, dip in zip(on.speeds(self.joint), n["coulomb"], n["static"], strict=True):
            x = speed / n["stribeck"]
            level = C + dip * exp(-x * x)
            tau.append(-level * tanh(speed / n["slip"]) - n["viscous"] * speed)
        on.torque(self.joint, tau)
