"""A PID controller of a joint, with its integral and the filter of its derivative as states."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ...errors import ModelError
from ...trace import Number, Symbol, is_zero, tangent
from ...trace.functions import minimum, select
from ..element import element, element_field, not_negative, number, positive
from ..motion import Motion
from ..values import Choice, Function, Label
from .force_element import JointForce, Numbers, check_one_speed, limited, value_of

FADE = 0.01
"""Clamping: integration has faded out where the demand is this share of the limit beyond it."""
UNITS = {"integral": "rad s, m s", "derivative": "rad/s, m/s"}


@element("pid")
class PID(JointForce):
    """u = kp·e + ki·∫e dt + kd·ė with e = target − x, held within ±limit: a force in the joint, or the voltage of a `DCMotor`.

    The rate of the error is that of the target minus the speed of the joint; with `filter` it passes a lag of that time
    constant. With a limit the integral must not wind up: "back-calculation" leads what is beyond the limit back to it,
    d∫/dt = e + (u − demand)/(ki·tracking); "clamping" stops integration that leads further beyond, within 1 % of the limit;
    "none" lets it run.
    """

    kp: float = number(default=0.0, unit="N m/rad, N/m", meaning="gain of the error")
    ki: float = number(default=0.0, unit="N m/(rad s), N/(m s)", meaning="gain of its integral")
    kd: float = number(default=0.0, unit="N m s/rad, N s/m", meaning="gain of its rate")
    target: float | Callable[[Any], Any] = element_field(
        Function(("t",), or_number=True), default=0.0, unit="rad, m", meaning="a number, or a function of t"
    )
    filter: float = not_negative(default=0.0, unit="s", meaning="time constant of the rate; 0: no filter")
    limit: float | None = positive(default=None, unit="N m, N", meaning="largest command; the joint's own effort by default")
    anti_windup: str = element_field(
        Choice(("back-calculation", "clamping", "none")), default="back-calculation", meaning="what a limit does to the integral"
    )
    tracking: float | None = positive(default=None, unit="s", meaning="time constant of back-calculation; kp/ki by default")
    name: str | None = element_field(Label(), default=None, key="")

    def states(self, on: Motion) -> Mapping[str, float]:
        own = {"integral": self.ki, "derivative": self.filter}
        return {name: 0.0 for name, needs in own.items() if not is_zero(needs)}

    @property
    def units_of_states(self) -> Mapping[str, str]:
        return UNITS

    def numbers(self, on: Motion) -> Numbers:
        return self.numbers_of(on, on.joint(self.joint).effort)

    def numbers_of(self, on: Motion, limit: float | None) -> dict[str, Any]:
        """Its numbers with the limit of whatever it drives, where it has none of its own."""
        check_one_speed(self, on, "PID")
        limit, tracking = self.limit if self.limit is not None else limit, self.tracking
        if limit is not None and not is_zero(self.ki) and self.anti_windup == "back-calculation" and tracking is None:
            if is_zero(self.kp):
                raise ModelError(f"PID of joint {self.joint!r}: without kp, back-calculation needs tracking=…, a time constant")
            tracking = abs(self.kp / self.ki)
        return {**super().numbers(on), "limit": limit, "tracking": tracking}

    def formula(self, on: Motion, n: Numbers) -> None:
        on.torque(self.joint, self.command(on, n))

    def command(self, on: Motion, n: Numbers) -> Number:
        """The command, within the limit; sets the rates of its states."""
        x, v = on.coordinates(self.joint)[0], on.speeds(self.joint)[0]
        target = value_of(n.get("target", self.target), on.t)
        error, rate = target - x, _rate(target, on) - v
        if not is_zero(n["filter"]):
            slow = on.state("derivative")
            on.rate("derivative", (rate - slow) / n["filter"])
            rate = slow
        integral = 0.0 if is_zero(n["ki"]) else on.state("integral")
        demand = n["kp"] * error + n["ki"] * integral + n["kd"] * rate
        limit = n["limit"]
        command = demand if limit is None else limited(demand, limit)
        if not is_zero(n["ki"]):
            on.rate("integral", self._integrated(error, demand, command, n))
        on.observe("error", error, "rad, m")
        on.observe("command", command)
        return command

    def _integrated(self, error: Number, demand: Number, command: Number, n: Numbers) -> Number:
        """The rate of the integral: the error without the part that would wind it up."""
        if n["limit"] is not None and self.anti_windup == "back-calculation":
            return error + (command - demand) / (n["ki"] * n["tracking"])
        if n["limit"] is not None and self.anti_windup == "clamping":
            beyond = minimum(abs(demand - command) / (FADE * n["limit"]), 1.0)
            return select(n["ki"] * error * demand > 0.0, error * (1.0 - beyond), error)
        return error


def _rate(target: Any, on: Motion) -> Number:
    """The derivative of a function of time; 0 where it is a number, or a parameter."""
    t = on.t
    of_time = isinstance(target, Symbol) and isinstance(t, Symbol) and target.graph is t.graph
    return tangent((target,), [(t, 1.0)])[0] if of_time else 0.0
