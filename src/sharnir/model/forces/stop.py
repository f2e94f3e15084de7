"""The end of a joint's travel: an elastic stop."""

from __future__ import annotations

from typing import Any

from ...errors import ModelError
from ...trace import Number, at_values, is_zero
from ...trace.functions import maximum, select
from ..element import element, element_field, not_negative, positive
from ..motion import Motion
from ..values import Scalar, coordinate_limits
from .force_element import JointForce, Numbers


@element("joint-stop")
class JointStop(JointForce):
    """Springs and dampers at both ends of the travel of a joint of one coordinate. The force sets in smoothly, with a
    continuous slope, so that integrators of high order need not reduce their step."""

    low: float | None = element_field(
        Scalar(endless=True),
        default=None,
        unit="rad, m",
        meaning="lower end; none where only high is given; by default both ends are the joint's own limits",
    )
    high: float | None = element_field(
        Scalar(endless=True), default=None, unit="rad, m", meaning="upper end; none where only low is given"
    )
    stiffness: float = positive(default=1e5, unit="N m/rad, N/m", meaning="stiffness of the stop beyond the onset")
    damping: float = not_negative(default=1e2, unit="N m s/rad, N s/m", meaning="damping of the stop beyond the onset")
    onset: float = positive(default=1e-3, unit="rad, m", meaning="depth over which the force sets in")

    @property
    def loses_unseen(self) -> bool:
        return not is_zero(self.damping)  # it does not pull: its spring relaxes behind a joint that leaves faster

    def numbers(self, on: Motion) -> Numbers:
        n = len(on.coordinates(self.joint))
        if n != 1:
            raise ModelError(f"stop in joint {self.joint!r}: it needs one coordinate, the joint has {n}")
        low, high = self._ends(on.joint(self.joint).limits)
        return {**super().numbers(on), "low": low, "high": high}

    def formula(self, on: Motion, n: Numbers) -> Number:
        (x,), (v,) = on.coordinates(self.joint), on.speeds(self.joint)
        tau: Number = 0.0
        stored: Number = 0.0
        for end, sign in ((n["low"], 1.0), (n["high"], -1.0)):
            if end is None:
                continue
            depth = end - x if sign > 0.0 else x - end  # positive beyond the end
            push, energy = self._push(depth, -sign * v, n)
            tau, stored = tau + sign * push, stored + energy
        on.torque(self.joint, tau)
        return stored

    def _push(self, depth: Number, rate: Number, n: Numbers) -> tuple[Number, Number]:
        """Force and stored energy: cubic up to `onset`, straight beyond, twice differentiable; the damper sets in with it."""
        k, e = n["stiffness"], n["onset"]
        s = depth / e
        inside = depth > 0.0
        begun = depth < e
        # k·e·f(s), f = s³ − s⁴/2 up to one (f = 1/2, f' = 1, f'' = 0 there), s − 1/2 beyond; f is the integral of 3s² − 2s³
        f = select(begun, s * s * s * (1.0 - 0.5 * s), s - 0.5)
        F = select(begun, s * s * s * s * (0.25 - 0.1 * s), 0.5 * s * s - 0.5 * s + 0.15)
        share = select(begun, s * s * (3.0 - 2.0 * s), 1.0)
        push = maximum(k * e * f + n["damping"] * share * rate, 0.0)  # a stop does not pull
        return select(inside, push, 0.0), select(inside, k * e * e * F, 0.0)

    def _ends(self, limits: Any) -> tuple[float | None, float | None]:
        low, high = self.low, self.high
        if low is None and high is None and limits is not None:
            low, high = (None if x is None or abs(x) == float("inf") else float(x) for x in coordinate_limits(limits))
        if low is None and high is None:
            raise ModelError(f"stop in joint {self.joint!r}: specify low=…, high=…, or the joint's own option `limits`")
        if low is not None and high is not None and not at_values(low) <= at_values(high):
            raise ModelError(f"stop in joint {self.joint!r}: low must not be above high, got {low}, {high}")
        return low, high
