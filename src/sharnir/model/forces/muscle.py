"""A muscle as MuJoCo has it: force by length, by speed and passive, and the dynamics of its activation."""

from __future__ import annotations

from collections.abc import Sequence

from ...errors import ModelError
from ...trace import Number
from ...trace.functions import maximum, minimum, select
from ..element import Element, element, element_field
from ..values import Scalar, Vector


@element("muscle")
class Muscle(Element):
    """Force = −peak·(FL(L)·FV(V)·activation + FP(L)), L and V the length and speed in units of the optimal length: the curves of
    MuJoCo's documentation (Computation: Muscle actuators), of which they have the names."""

    lengths: Sequence[float] = element_field(Vector(2), unit="m", meaning="of the actuator where L is at the ends of `range`")
    peak: float = element_field(Scalar(at_least=0.0), unit="N", meaning="active force at the optimal length and at rest")
    range: Sequence[float] = element_field(Vector(2), default=(0.75, 1.05), meaning="L at the ends of `lengths`")
    lmin: float = element_field(Scalar(), default=0.5, meaning="L below which FL is zero")
    lmax: float = element_field(Scalar(above=1.0), default=1.6, meaning="L above which FL is zero")
    vmax: float = element_field(Scalar(above=0.0), default=1.5, unit="1/s", meaning="speed of shortening at which FV is zero")
    fpmax: float = element_field(Scalar(), default=1.3, meaning="FP at lmax")
    fvmax: float = element_field(Scalar(above=1.0), default=1.2, meaning="FV of fast lengthening")
    time_constants: Sequence[float] = element_field(
        Vector(2, Scalar(above=0.0)), default=(0.01, 0.04), unit="s", meaning="of activation and of deactivation"
    )
    smooth: float = element_field(
        Scalar(at_least=0.0), default=0.0, meaning="width over which the two time constants blend; 0: they switch"
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.lengths[0] >= self.lengths[1] or self.range[0] >= self.range[1] or self.lmin >= 1.0:
            raise ModelError("muscle: lengths and range must rise, and lmin be below 1")

    def gain(self, length: Number, rate: Number) -> Number:
        """Force per activation."""
        L, optimal = self._relative(length)
        V, y = rate / (optimal * self.vmax), self.fvmax - 1.0
        above = select(y >= V, self.fvmax - (y - V) * (y - V) / y, self.fvmax)
        FV = select(V <= -1.0, 0.0, select(V <= 0.0, (V + 1.0) * (V + 1.0), above))
        return -self.peak * self._active(L) * FV

    def bias(self, length: Number) -> Number:
        """Passive force."""
        L, _ = self._relative(length)
        half = 0.5 * (self.lmax - 1.0)
        x = (L - 1.0) / half
        return -self.peak * self.fpmax * select(L <= 1.0, 0.0, select(x <= 1.0, 0.5 * x * x, x - 0.5))

    def activation_rate(self, control: Number, activation: Number) -> Number:
        held = maximum(0.0, minimum(1.0, activation))
        scale = 0.5 + 1.5 * held
        rising, falling = self.time_constants[0] * scale, self.time_constants[1] / scale
        missing = maximum(0.0, minimum(1.0, control)) - activation
        if isinstance(self.smooth, float) and self.smooth == 0.0:
            return missing / select(missing > 0.0, rising, falling)
        x = maximum(0.0, minimum(1.0, missing / self.smooth + 0.5))
        return missing / (falling + (rising - falling) * x * x * x * (6.0 * x * x - 15.0 * x + 10.0))

    def _relative(self, length: Number) -> tuple[Number, Number]:
        """Length in units of the optimal one, and that."""
        optimal = (self.lengths[1] - self.lengths[0]) / (self.range[1] - self.range[0])
        return self.range[0] + (length - self.lengths[0]) / optimal, optimal

    def _active(self, L: Number) -> Number:
        """FL: four arcs of parabolas between lmin, the middle, 1, the middle, lmax."""
        a, b = 0.5 * (self.lmin + 1.0), 0.5 * (1.0 + self.lmax)
        arcs = (
            (a, 0.5 * _square((L - self.lmin) / (a - self.lmin))), (1.0, 1.0 - 0.5 * _square((1.0 - L) / (1.0 - a))),
            (b, 1.0 - 0.5 * _square((L - 1.0) / (b - 1.0))), (self.lmax, 0.5 * _square((self.lmax - L) / (self.lmax - b))),
        )  # fmt: skip
        out: Number = 0.0
        for end, arc in reversed(arcs):
            out = select(end >= L, arc, out)
        return select(self.lmin > L, 0.0, out)


def _square(x: Number) -> Number:
    return x * x
