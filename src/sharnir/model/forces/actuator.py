"""Actuators: a control, its activation, a gain and a bias, or a muscle, and a transmission to joints, a tendon or a place."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ...errors import ModelError
from ...kernels.algebra import dot, scale
from ...trace import Number
from ...trace.functions import maximum, minimum, select
from ..element import Element, element, element_field, not_negative, number, positive
from ..motion import Motion
from ..pose import Pose
from ..values import HERE, Choice, Function, Label, Name, OneOf, PoseValue, Rows, Scalar, Vector
from .force_element import ForceElement, value_of
from .tendon import POINT, POINTS, TERM, TERMS, Path


@element("muscle")
class Muscle(Element):
    """Force = −peak·(FL(L)·FV(V)·activation + FP(L)), L and V the length and speed in units of the optimal length: the curves of
    MuJoCo's documentation (Computation: Muscle actuators), of which they have the names."""

    lengths: Sequence[float] = element_field(Vector(2), unit="m", meaning="of the actuator where L is at the ends of `range`")
    peak: float = not_negative(unit="N", meaning="active force at the optimal length and at rest")
    range: Sequence[float] = element_field(Vector(2), default=(0.75, 1.05), meaning="L at the ends of `lengths`")
    lmin: float = number(default=0.5, meaning="L below which FL is zero")
    lmax: float = element_field(Scalar(above=1.0), default=1.6, meaning="L above which FL is zero")
    vmax: float = positive(default=1.5, unit="1/s", meaning="speed of shortening at which FV is zero")
    fpmax: float = number(default=1.3, meaning="FP at lmax")
    fvmax: float = element_field(Scalar(above=1.0), default=1.2, meaning="FV of fast lengthening")
    time_constants: Sequence[float] = element_field(
        Vector(2, Scalar(above=0.0)), default=(0.01, 0.04), unit="s", meaning="of activation and of deactivation"
    )
    smooth: float = not_negative(default=0.0, meaning="width over which the two time constants blend; 0: they switch")

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


ENDLESS = Vector(2, Scalar(endless=True))
NO_GEAR = (0.0,) * 6


@element("actuator")
class Actuator(ForceElement):
    """Force = (g₀ + g₁·l + g₂·l̇)·u + b₀ + b₁·l + b₂·l̇ along its length l, which it lengthens; u is the control, or the
    activation a that follows it: ȧ = control ("integrator"), T·ȧ = control − a ("filter"), or that of a `Muscle`, which gives
    gain and bias too.

    The actuators of MuJoCo's format MJCF are of this kind: motor, position, velocity, intvelocity, damper, cylinder, muscle and
    general; docs/mjcf.md says which are read.
    """

    name: str | None = element_field(Label(), default=None, key="")
    control: float | Callable[[Any], Any] = element_field(
        Function(("t",), or_number=True), default=0.0, meaning="a number, a parameter, or a function of t"
    )
    gain: Sequence[float] = element_field(Vector(3), default=(1.0, 0.0, 0.0), meaning="g₀, g₁, g₂")
    bias: Sequence[float] = element_field(Vector(3), default=(0.0, 0.0, 0.0), meaning="b₀, b₁, b₂")
    dynamics: str = element_field(Choice(("none", "integrator", "filter")), default="none", meaning="of the activation")
    activation: float = number(default=0.0, meaning="at the start, where there is one")
    time_constant: float = positive(default=1.0, unit="s", meaning="T of the filter")
    muscle: Muscle | None = element_field(OneOf((Muscle,)), default=None, meaning="in place of gain, bias and dynamics")
    control_range: Sequence[float] | None = element_field(ENDLESS, default=None, meaning="the control is held within")
    activation_range: Sequence[float] | None = element_field(ENDLESS, default=None, meaning="the activation is held within")
    force_range: Sequence[float] | None = element_field(ENDLESS, default=None, unit="N, N m", meaning="the force is held within")
    gear: float = number(default=1.0, meaning="l per length of `terms` or `points`; times `wrench`")
    terms: Sequence[tuple[str, int, int, float]] = element_field(Rows(TERM), default=(), meaning=TERMS)
    points: Sequence[tuple[str, Sequence[float]]] = element_field(Rows(POINT), default=(), meaning=POINTS)
    body: str | None = element_field(
        Name("body"), default=None, meaning="in place of terms and points, a body that `wrench` times the force acts on"
    )
    at: Pose = element_field(PoseValue(), default=HERE, meaning="the place on the body, and the axes of `wrench`")
    wrench: Sequence[float] = element_field(
        Vector(6), default=NO_GEAR, meaning="force and moment per force of the actuator; l is zero then"
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if sum(map(bool, (self.terms, self.points, self.body))) != 1:
            raise ModelError("actuator: give one of terms=…, points=… and body=…: what it acts on")

    def bodies(self) -> Sequence[str]:
        return [self.body] if self.body else [body for body, _ in self.points]

    def joints(self) -> Sequence[str]:
        return [joint for joint, _, _, _ in self.terms]

    def states(self, on: Motion) -> Mapping[str, float]:
        return {} if self.dynamics == "none" and self.muscle is None else {"activation": self.activation}

    def act(self, on: Motion) -> None:
        path = Path(on, self.terms, self.points) if self.body is None else _WrenchAt(on, self.body, self.at, self.wrench)
        length, rate = self.gear * path.length, self.gear * path.rate
        control = _held(value_of(self.control, on.t), self.control_range)
        drive = self._activation(on, control) if self.states(on) else control
        if self.muscle is not None:
            force = self.muscle.gain(length, rate) * drive + self.muscle.bias(length)
        else:
            force = _affine(self.gain, length, rate) * drive + _affine(self.bias, length, rate)
        force = _held(force, self.force_range)
        on.observe("force", force, "N, N m")
        path.pull(-self.gear * force)

    def _activation(self, on: Motion, control: Number) -> Number:
        """The activation; sets its rate, which leads out of the range nowhere."""
        a = on.state("activation")
        if self.muscle is not None:
            rate = self.muscle.activation_rate(control, a)
        else:
            rate = control if self.dynamics == "integrator" else (control - a) / self.time_constant
        if self.activation_range is not None:
            low, high = self.activation_range
            rate = select(a >= high, minimum(rate, 0.0), select(a <= low, maximum(rate, 0.0), rate))
        on.rate("activation", rate)
        return a


class _WrenchAt:
    """A wrench at a place on a body, in place of a path: it has no length, only a rate, its power per force."""

    length = 0.0

    def __init__(self, on: Motion, body: str, at: Pose, wrench: Sequence[Any]) -> None:
        self._on, self._body, self._at = on, body, at.position
        turn = on.pose(body).rotation @ at.rotation
        self._push, self._moment = turn @ wrench[:3], turn @ wrench[3:]
        self.rate: Number = dot(self._push, on.point(body, at.position)[1]) + dot(self._moment, on.spin(body))

    def pull(self, tension: Number) -> None:
        self._on.push(self._body, scale(self._push, -tension), self._at, scale(self._moment, -tension))


def _held(x: Number, within: Sequence[Any] | None) -> Number:
    return x if within is None else maximum(within[0], minimum(within[1], x))


def _affine(c: Sequence[Any], length: Number, rate: Number) -> Number:
    return c[0] + c[1] * length + c[2] * rate
