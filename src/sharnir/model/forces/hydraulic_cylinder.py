"""A hydraulic cylinder between two points, with the oil in its chambers, its valve and its accumulators. Pressures are above the
atmosphere's."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import sqrt as root
from typing import Any

from ...errors import ModelError
from ...kernels.algebra import ZERO3, scale
from ...trace import Number, is_parametric, is_zero
from ...trace.functions import exp, log, maximum, minimum, power, select, sqrt
from ..element import Element, element, element_field, not_negative, number, positive
from ..motion import Motion
from ..values import Choice, Elements, FunctionOrElement, Label, Name, OneOf, Scalar, Vector
from .force_element import ForceElement, Numbers, limited, value_of
from .pid import PID
from .pid import UNITS as PID_UNITS
from .spring_damper import line_between

ATMOSPHERE = 101325.0
"""Pa: absolute pressure of a gas where a gauge shows zero."""
CUT_OFF = 0.05
"""Share of the set pressure over which a pressure-compensated pump goes from full flow to none."""


def compressed(p: Number, volume: Number, modulus: Number) -> Number:
    """Energy of oil under pressure: V·β·(eˣ − 1 − x), x = p/β: with dρ/ρ = dp/β exactly the work done on a closed chamber.
    The series is for small x, where the formula would lose its digits."""
    x = p / modulus
    series: Number = 0.0
    for k in range(10, 2, -1):
        series = (1.0 + series) * x / k
    return volume * modulus * select(abs(x) < 0.1, 0.5 * x * x * (1.0 + series), exp(x) - 1.0 - x)


@element("valve")
class Valve(Element):
    """A four-way valve without overlap: the opening u, within ±1, leads supply to chamber a and b to the tank where it is above
    zero, supply to b and a to the tank below. Each edge is an orifice: Q = C·area·|u|·√(2/ρ)·Δp/(Δp² + laminar²)^¼, which is
    C·area·|u|·√(2Δp/ρ) with the sign of Δp, smooth where Δp is small."""

    opening: float | Callable[[Any], Any] | PID = element_field(
        FunctionOrElement(("t",), or_number=True, classes=(PID,)),
        default=0.0,
        meaning="u asked for: a number, a parameter, a function of t, or a PID whose command it is",
    )
    area: float = positive(unit="m²", meaning="of each edge where it is fully open", kw_only=True)
    supply: float = number(unit="Pa", meaning="pressure of the supply", kw_only=True)
    tank: float = number(default=0.0, unit="Pa", meaning="pressure of the tank")
    lag: float = not_negative(default=0.0, unit="s", meaning="time constant of the spool; 0: none")
    discharge: float = positive(default=0.7, meaning="C: discharge coefficient")
    density: float = positive(default=850.0, unit="kg/m³", meaning="ρ: of the oil")
    laminar: float = positive(default=1e4, unit="Pa", meaning="Δp below which the flow is about linear")

    @property
    def has_function(self) -> bool:
        return self.pid.has_function if self.pid else callable(self.opening) and not is_parametric(self.opening)

    @property
    def pid(self) -> PID | None:
        return self.opening if isinstance(self.opening, PID) else None

    def asked(self, on: Motion) -> Number:
        """The opening asked for, within ±1."""
        u = self.pid.command(on, self.pid.numbers_of(on, 1.0)) if self.pid else value_of(self.opening, on.t)
        return limited(u, 1.0)

    def flows(self, u: Number, a: Number, b: Number, supply: Number) -> tuple[Number, Number, Number]:
        """Flows into chamber a, into chamber b, out of the supply; `a`, `b`: their pressures."""
        forward = u > 0.0
        into_a = u * select(forward, self._edge(supply - a), self._edge(a - self.tank))
        into_b = -u * select(forward, self._edge(b - self.tank), self._edge(supply - b))
        return into_a, into_b, select(forward, into_a, into_b)

    def _edge(self, drop: Number) -> Number:
        fully = self.discharge * self.area * root(2.0) / sqrt(self.density)
        return fully * drop / sqrt(sqrt(drop * drop + self.laminar * self.laminar))


@element()
class Accumulator(Element):
    """Gas behind a membrane, p·Vⁿ = constant in absolute pressures, connected to a chamber of a cylinder or to the supply of its
    valve. It takes no oil below its precharge. At the supply, a pump fills the line: full flow up to 95 % of the valve's supply
    pressure, none at it."""

    volume: float = positive(unit="m³", meaning="of the gas without oil")
    precharge: float = positive(unit="Pa", meaning="pressure of the gas without oil")
    at: str = element_field(Choice(("a", "b", "supply")), default="supply", meaning="what it is connected to")
    exponent: float = element_field(Scalar(at_least=1.0), default=1.4, meaning="n: 1 for slow changes, 1.4 for fast ones")
    pump: float = not_negative(default=0.0, unit="m³/s", meaning="full flow of the pump, at the supply")
    line: float = positive(default=1e-3, unit="m³", meaning="oil in the line, at the supply")
    pressure: float = number(default=0.0, unit="Pa", meaning="of the line at the start, at the supply")

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.at != "supply" and self.pump:
            raise ModelError(f"Accumulator: a pump feeds the supply, not chamber {self.at!r}")

    def gas(self, p: Number) -> Number:
        """Volume of the gas at a pressure."""
        ratio = (self.precharge + ATMOSPHERE) / (maximum(p, self.precharge) + ATMOSPHERE)
        return self.volume * power(ratio, 1.0 / self.exponent)

    def compliance(self, p: Number) -> Number:
        """Oil that it takes per pressure."""
        return select(p > self.precharge, self.gas(p) / (self.exponent * (maximum(p, self.precharge) + ATMOSPHERE)), 0.0)

    def energy(self, p: Number) -> Number:
        """Energy of the oil in it: ∫ p dV of the oil that came in."""
        gas, P, P0 = self.gas(p), maximum(p, self.precharge) + ATMOSPHERE, self.precharge + ATMOSPHERE
        slow = isinstance(self.exponent, float) and self.exponent == 1.0
        inner = P0 * self.volume * log(self.volume / gas) if slow else (P * gas - P0 * self.volume) / (self.exponent - 1.0)
        return inner - ATMOSPHERE * (self.volume - gas)

    def delivered(self, p: Number, supply: Number) -> Number:
        """Flow delivered by the pump."""
        return self.pump * maximum(0.0, minimum(1.0, (supply - p) / (CUT_OFF * supply)))


UNITS = {"pressure_a": "Pa", "pressure_b": "Pa", "supply": "Pa", "spool": ""}


@element("hydraulic-cylinder")
class HydraulicCylinder(ForceElement):
    """Pushes two points apart by p_a·area_a − p_b·area_b − friction·ṡ, s = distance − length. The pressures are states:
    (V_a/β + C_a)·dp_a/dt = Q_a − area_a·ṡ − leakage·(p_a − p_b), V_a = dead_a + area_a·s; chamber b likewise, V_b = dead_b +
    area_b·(stroke − s).

    Q is the flow of the valve, C the compliance of an accumulator. At the ends of the stroke the piston meets stops of
    `end_stiffness`. Pressures are above the atmosphere's, and may fall below it: there is no cavitation.
    """

    a: str = element_field(Name("body"), meaning="body (or ground) that carries the barrel")
    b: str = element_field(Name("body"), meaning="body (or ground) at the end of the rod")
    at_a: Sequence[float] = element_field(Vector(3), default=ZERO3, unit="m", meaning="the point on a, in its axes")
    at_b: Sequence[float] = element_field(Vector(3), default=ZERO3, unit="m", meaning="the point on b, in its axes")
    area_a: float = positive(unit="m²", meaning="of the piston, in the chamber that lengthens", kw_only=True)
    area_b: float = not_negative(unit="m²", meaning="of the piston less the rod, in the chamber that shortens", kw_only=True)
    stroke: float = positive(unit="m", meaning="from end to end", kw_only=True)
    length: float = not_negative(default=0.0, unit="m", meaning="distance of the points where s is zero")
    dead_a: float = positive(default=1e-4, unit="m³", meaning="oil beside the stroke: pipes, ports")
    dead_b: float = positive(default=1e-4, unit="m³", meaning="the same in chamber b")
    bulk_modulus: float = positive(default=1.4e9, unit="Pa", meaning="β: of the oil, with its air")
    end_stiffness: float = positive(
        default=1e8, unit="N/m", meaning="of the ends of the stroke, against which the piston comes to a stop"
    )
    leakage: float = not_negative(default=0.0, unit="m³/(s Pa)", meaning="past the piston")
    friction: float = not_negative(default=0.0, unit="N s/m", meaning="of the seals, viscous")
    pressure_a: float = number(default=0.0, unit="Pa", meaning="at the start")
    pressure_b: float = number(default=0.0, unit="Pa", meaning="at the start")
    valve: Valve | None = element_field(OneOf((Valve,)), default=None, meaning="what feeds it; without one it is closed")
    accumulators: Sequence[Accumulator] = element_field(
        Elements(Accumulator), default=(), meaning="at most one at each chamber and at the supply"
    )
    name: str | None = element_field(Label(), default=None, key="")
    at_places = True

    def __post_init__(self) -> None:
        super().__post_init__()
        places = [one.at for one in self.accumulators]
        if self.a == self.b:
            raise ModelError(f"{self.label}: both ends are on {self.a!r}; it would push nothing")
        if len(set(places)) < len(places):
            raise ModelError(f"{self.label}: at most one accumulator at each of a, b, supply; got {', '.join(places)}")
        if "supply" in places and self.valve is None:
            raise ModelError(f"{self.label}: an accumulator at the supply needs a valve")

    def joints(self) -> Sequence[str]:
        return () if self.valve is None or self.valve.pid is None else self.valve.pid.joints()

    @property
    def has_function(self) -> bool:
        return super().has_function or (self.valve is not None and self.valve.has_function)

    def states(self, on: Motion) -> Mapping[str, float]:
        out = {"pressure_a": self.pressure_a, "pressure_b": self.pressure_b}
        if self.valve is not None and not is_zero(self.valve.lag):
            out["spool"] = 0.0
        if self.valve is not None and self.valve.pid is not None:
            out |= self.valve.pid.states(on)
        return out | ({"supply": line.pressure} if (line := self._at("supply")) is not None else {})

    @property
    def units_of_states(self) -> Mapping[str, str]:
        return UNITS | PID_UNITS

    def numbers(self, on: Motion) -> Numbers:
        return {field: x for field, x in super().numbers(on).items() if field != "accumulators"}

    def formula(self, on: Motion, n: Numbers) -> Number:
        distance, rate, along = line_between(on, (self.a, n["at_a"]), (self.b, n["at_b"]))
        s = distance - n["length"]
        pressures = {"a": on.state("pressure_a"), "b": on.state("pressure_b")}
        volumes = {
            "a": n["dead_a"] + n["area_a"] * maximum(s, 0.0),
            "b": n["dead_b"] + n["area_b"] * maximum(n["stroke"] - s, 0.0),
        }
        flows, stored = self._valve(on, n, pressures)
        leak = n["leakage"] * (pressures["a"] - pressures["b"])
        inflow = {"a": flows["a"] - n["area_a"] * rate - leak, "b": flows["b"] + n["area_b"] * rate + leak}
        for side, p in pressures.items():
            change, kept = self._chamber(side, p, volumes[side], n["bulk_modulus"])
            on.rate(f"pressure_{side}", inflow[side] / change)
            stored = stored + kept
            on.observe(f"flow {side}", flows[side], "m³/s")
        beyond = maximum(s - n["stroke"], 0.0) - maximum(-s, 0.0)
        stop = n["end_stiffness"] * beyond
        stored = stored + 0.5 * stop * beyond
        force = pressures["a"] * n["area_a"] - pressures["b"] * n["area_b"] - n["friction"] * rate - stop
        on.push(self.a, scale(along, -force), n["at_a"])
        on.push(self.b, scale(along, force), n["at_b"])
        on.observe("stroke", s, "m")
        on.observe("force", force, "N")
        return stored

    def _valve(self, on: Motion, n: Numbers, pressures: Mapping[str, Number]) -> tuple[dict[str, Number], Number]:
        """Flows into the chambers, and the energy stored in the supply line."""
        valve, line = self.valve, self._at("supply")
        if valve is None:
            return {"a": 0.0, "b": 0.0}, 0.0
        u = valve.asked(on)
        if not is_zero(valve.lag):
            spool = on.state("spool")
            on.rate("spool", (u - spool) / valve.lag)
            u = spool
        on.observe("opening", u)
        supply = valve.supply if line is None else on.state("supply")
        into_a, into_b, drawn = valve.flows(u, pressures["a"], pressures["b"], supply)
        stored: Number = 0.0
        if line is not None:
            change, stored = self._chamber("supply", supply, line.line, n["bulk_modulus"])
            on.rate("supply", (line.delivered(supply, valve.supply) - drawn) / change)
        return {"a": into_a, "b": into_b}, stored

    def _chamber(self, at: str, p: Number, volume: Number, modulus: Number) -> tuple[Number, Number]:
        """Oil per pressure that a volume takes, with its accumulator, and the energy stored."""
        gas = self._at(at)
        change, stored = volume / modulus, compressed(p, volume, modulus)
        return (change, stored) if gas is None else (change + gas.compliance(p), stored + gas.energy(p))

    def _at(self, place: str) -> Accumulator | None:
        return next((one for one in self.accumulators if one.at == place), None)
