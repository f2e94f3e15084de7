"""An actuator: a control, its activation, a gain and a bias, and a transmission to joints, a tendon or a place on a body."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ...errors import ModelError
from ...kernels.algebra import dot, scale
from ...trace import Number
from ...trace.functions import maximum, minimum, select
from ..element import element, element_field
from ..motion import Motion
from ..pose import Pose
from ..values import HERE, Choice, Function, Label, Name, OneOf, PoseValue, Rows, Scalar, Vector
from .force_element import ForceElement, value_of
from .muscle import Muscle
from .path import POINT, POINTS, TERM, TERMS, Path

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
    activation: float = element_field(Scalar(), default=0.0, meaning="at the start, where there is one")
    time_constant: float = element_field(Scalar(above=0.0), default=1.0, unit="s", meaning="T of the filter")
    muscle: Muscle | None = element_field(OneOf((Muscle,)), default=None, meaning="in place of gain, bias and dynamics")
    control_range: Sequence[float] | None = element_field(ENDLESS, default=None, meaning="the control is held within")
    activation_range: Sequence[float] | None = element_field(ENDLESS, default=None, meaning="the activation is held within")
    force_range: Sequence[float] | None = element_field(ENDLESS, default=None, unit="N, N m", meaning="the force is held within")
    gear: float = element_field(Scalar(), default=1.0, meaning="l per length of `terms` or `points`; times `wrench`")
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
