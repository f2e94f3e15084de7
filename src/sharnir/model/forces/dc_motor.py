"""A direct-current motor: voltage, winding, torque constant, gear."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ...trace import Number, is_zero
from ..element import element, element_field, not_negative, number, positive
from ..motion import Motion
from ..values import FunctionOrElement, Label, Scalar
from .force_element import JointForce, Numbers, check_one_speed, limited, value_of
from .pid import PID, UNITS


@element("dc-motor")
class DCMotor(JointForce):
    """L·di/dt = u − R·i − k_e·gear·v, torque in the joint gear·k_t·i; without inductance i = (u − k_e·gear·v)/R.

    The current is a state; what the winding stores is ½L·i². The inertia of the rotor is the joint's option `armature`, gear²
    times that of the rotor itself.
    """

    voltage: float | Callable[[Any, Any, Any], Any] | PID = element_field(
        FunctionOrElement(("t", "x", "v"), or_number=True, classes=(PID,)),
        unit="V",
        meaning="u: a number, a function of t, x, v (of the joint), or a PID whose command it is",
    )
    resistance: float = positive(unit="ohm", meaning="R: of the winding")
    torque_constant: float = number(unit="N m/A, N/A", meaning="k_t: torque of the rotor per current")
    inductance: float = not_negative(default=0.0, unit="H", meaning="L: of the winding; 0: the current follows at once")
    back_emf: float | None = number(
        default=None, unit="V s/rad, V s/m", meaning="k_e: voltage per speed of the rotor; k_t by default"
    )
    gear: float = element_field(Scalar(nonzero=True), default=1.0, meaning="turns of the rotor per turn of the joint")
    limit: float | None = positive(default=None, unit="V", meaning="largest voltage")
    name: str | None = element_field(Label(), default=None, key="")

    def joints(self) -> Sequence[str]:
        read = (self.voltage.joint,) if isinstance(self.voltage, PID) else ()
        return tuple(dict.fromkeys((self.joint, *read)))

    @property
    def has_function(self) -> bool:
        return super().has_function or (isinstance(self.voltage, PID) and self.voltage.has_function)

    def states(self, on: Motion) -> Mapping[str, float]:
        own = {} if is_zero(self.inductance) else {"current": 0.0}
        return {**own, **(self.voltage.states(on) if isinstance(self.voltage, PID) else {})}

    @property
    def units_of_states(self) -> Mapping[str, str]:
        return {"current": "A", **UNITS}

    def numbers(self, on: Motion) -> Numbers:
        check_one_speed(self, on, "DC motor")
        constant = self.torque_constant if self.back_emf is None else self.back_emf
        return {**super().numbers(on), "back_emf": constant, "limit": self.limit}

    def formula(self, on: Motion, n: Numbers) -> Number:
        x, v = on.coordinates(self.joint)[0], on.speeds(self.joint)[0]
        if isinstance(self.voltage, PID):
            u = self.voltage.command(on, self.voltage.numbers_of(on, self.limit))
        else:
            u = value_of(n.get("voltage", self.voltage), on.t, x, v)
        if n["limit"] is not None:
            u = limited(u, n["limit"])
        emf = n["back_emf"] * n["gear"] * v
        stored: Number = 0.0
        if is_zero(n["inductance"]):
            i = (u - emf) / n["resistance"]
        else:
            i = on.state("current")
            on.rate("current", (u - n["resistance"] * i - emf) / n["inductance"])
            stored = 0.5 * n["inductance"] * i * i
        on.torque(self.joint, n["gear"] * n["torque_constant"] * i)
        on.observe("current", i, "A")
        on.observe("voltage", u, "V")
        on.observe("back emf", emf, "V")
        return stored
