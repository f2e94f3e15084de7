"""Dry friction in a joint that sticks: the elasto-plastic bristle model, with the bristles' deflection as a state."""

from __future__ import annotations

from collections.abc import Mapping
from math import pi

from ...errors import ModelError
from ...trace import Number, is_zero
from ...trace.functions import exp, maximum, select, sin
from ..element import element, not_negative, positive
from ..motion import Motion
from .force_element import JointForce, Numbers, limited
from .friction import sliding_and_dip, without_friction

ELASTIC = 0.7
"""Share of the sliding force up to which bristles only bend: nothing slips, however long or often the load acts."""


@element("bristle-friction")
class BristleFriction(JointForce):
    """Friction by bristles of stiffness σ₀ and damping σ₁ that bend by z and slip when bent too far: on every speed of a joint
    τ = −(σ₀z + σ₁ż + viscous·v), ż = v − α(z, v)·|v|·z/z_s (Dupont, Hayward, Armstrong, Altpeter 2002). α = 0: they bend, the
    joint sticks; α = 1: they slip, and τ is the sliding force g(v) = C + (S − C)·exp(−(v/v_s)²) = σ₀·z_s.

    A load below C holds still for good. σ₀ = C/presliding, σ₁ = σ₀·settling, fading with the speed as the dip does.
    """

    coulomb: float | None = positive(
        default=None, unit="N m, N", meaning="C: force when sliding; the joint's own friction by default"
    )
    static: float | None = positive(
        default=None, unit="N m, N", meaning="S: force at breakaway, at least C; C by default: no dip"
    )
    stribeck: float = positive(default=0.01, unit="rad/s, m/s", meaning="v_s: speed at which the dip is over")
    viscous: float = not_negative(default=0.0, unit="N m s/rad, N s/m", meaning="force per speed in addition")
    presliding: float = positive(default=1e-4, unit="rad, m", meaning="how far bristles bend under the sliding force C")
    settling: float = not_negative(
        default=0.01, unit="s", meaning="damping per stiffness of the bristles: about the time of coming to rest"
    )

    def states(self, on: Motion) -> Mapping[str, float]:
        return dict.fromkeys(self._names(on), 0.0)

    @property
    def units_of_states(self) -> Mapping[str, str]:
        return {"bristle": "rad, m"}

    def _names(self, on: Motion) -> tuple[str, ...]:
        """Names of the states: one for each speed."""
        n = on.speed_count(self.joint)
        return ("bristle",) if n == 1 else tuple(f"bristle {k + 1}" for k in range(n))

    def numbers(self, on: Motion) -> Numbers:
        sliding, dip = sliding_and_dip(self, on)
        if any(x is None or is_zero(x) for x in sliding):
            raise without_friction(self.joint)
        if any(isinstance(x, float) and x < 0.0 for x in dip):
            raise ModelError(f"friction in joint {self.joint!r}: static={self.static} is below the sliding force {sliding}")
        return {**super().numbers(on), "coulomb": sliding, "static": dip}

    def formula(self, on: Motion, n: Numbers) -> Number:
        tau: list[Number] = []
        stored: Number = 0.0
        for name, v, C, dip in zip(self._names(on), on.speeds(self.joint), n["coulomb"], n["static"], strict=True):
            z, stiffness = on.state(name), C / n["presliding"]
            x = v / n["stribeck"]
            fade = exp(-x * x)
            limit = (C + dip * fade) / stiffness
            rate = v - slipping(z, v, limit, ELASTIC * n["presliding"]) * maximum(v, -v) * z / limit
            on.rate(name, rate)
            tau.append(-stiffness * (z + n["settling"] * fade * rate) - n["viscous"] * v)
            stored = stored + 0.5 * stiffness * z * z
        on.torque(self.joint, tau)
        return stored


def slipping(z: Number, v: Number, limit: Number, elastic: Number) -> Number:
    """α: 0 while bristles bend (up to `elastic`, and where they are relieved), 1 where they slip (at `limit`), smooth between."""
    bent = maximum(z, -z)
    s = (bent - 0.5 * (limit + elastic)) / (limit - elastic)
    return select(z * v > 0.0, 0.5 + 0.5 * sin(pi * limited(s, 0.5)), 0.0)
