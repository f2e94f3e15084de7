"""Dry friction in a joint: Coulomb's law with Stribeck's dip, made smooth."""

from __future__ import annotations

from collections.abc import Sequence

from ...errors import ModelError
from ...trace.functions import exp, tanh
from ..motion import Motion
from .base import Force, Numbers, positive


class JointFriction(Force):
    """τ = −(C + (S − C)·exp(−(v/v_s)²))·tanh(v/slip) − viscous·v on every speed of a joint.

    coulomb   C: force when sliding (default: the joint's own `friction`)
    static    S: force at breakaway (default C: no dip);  stribeck  v_s: speed at which the dip is over
    slip      speed at which tanh is near one. Below it the joint creeps instead of sticking: friction that is smooth
              holds no position for ever. Small values make the equations stiff: choose "radau" then.
    """

    def __init__(
        self,
        joint: str,
        coulomb: float | None = None,
        static: float | None = None,
        stribeck: float = 0.1,
        viscous: float = 0.0,
        slip: float = 1e-3,
    ) -> None:
        self.joint = joint
        self.coulomb = None if coulomb is None else positive(coulomb, "friction: coulomb")
        self.static = None if static is None else positive(static, "friction: static")
        self.stribeck = positive(stribeck, "friction: stribeck speed", zero=False)
        self.viscous = positive(viscous, "friction: viscous")
        self.slip = positive(slip, "friction: slip speed", zero=False)

    def joints(self) -> Sequence[str]:
        return (self.joint,)

    def numbers(self, on: Motion) -> Numbers:
        placed = on._joint(self.joint)
        n = on._speed_count(placed)
        own = placed.type
        sliding = [self.coulomb] * n if self.coulomb is not None else own.per_speed("friction", n, f"joint {self.joint!r}")
        if not any(sliding) and not self.static and not self.viscous:
            raise ModelError(f"friction in joint {self.joint!r}: say how much: coulomb=…, or the joint's own option `friction`")
        dip = [0.0 if self.static is None else self.static - C for C in sliding]
        own_fields = {name: getattr(self, name) for name in ("stribeck", "viscous", "slip")}
        return {"coulomb": sliding, "static": dip, **own_fields}

    def formula(self, on: Motion, n: Numbers) -> None:
        tau = []
        for speed, C, dip in zip(on._coordinates(on._joint(self.joint), 1), n["coulomb"], n["static"], strict=True):
            x = speed / n["stribeck"]
            level = C + dip * exp(-x * x)
            tau.append(-level * tanh(speed / n["slip"]) - n["viscous"] * speed)
        on.torque(self.joint, tau)
