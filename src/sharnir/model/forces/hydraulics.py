"""Parts of hydraulic drives: the flow through a valve, the compliance of an accumulator. Pressures are above the atmosphere's."""

from __future__ import annotations

from collections.abc import Callable
from math import sqrt as root
from typing import Any

from ...errors import ModelError
from ...trace import Number, is_parametric
from ...trace.functions import exp, log, maximum, minimum, power, select, sqrt
from ..element import Element, element, element_field
from ..motion import Motion
from ..values import Choice, FunctionOrElement, Scalar
from .force_element import limited, value_of
from .pid import PID

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
    area: float = element_field(Scalar(above=0.0), unit="m²", meaning="of each edge where it is fully open", kw_only=True)
    supply: float = element_field(Scalar(), unit="Pa", meaning="pressure of the supply", kw_only=True)
    tank: float = element_field(Scalar(), default=0.0, unit="Pa", meaning="pressure of the tank")
    lag: float = element_field(Scalar(at_least=0.0), default=0.0, unit="s", meaning="time constant of the spool; 0: none")
    discharge: float = element_field(Scalar(above=0.0), default=0.7, meaning="C: discharge coefficient")
    density: float = element_field(Scalar(above=0.0), default=850.0, unit="kg/m³", meaning="ρ: of the oil")
    laminar: float = element_field(Scalar(above=0.0), default=1e4, unit="Pa", meaning="Δp below which the flow is about linear")

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

    volume: float = element_field(Scalar(above=0.0), unit="m³", meaning="of the gas without oil")
    precharge: float = element_field(Scalar(above=0.0), unit="Pa", meaning="pressure of the gas without oil")
    at: str = element_field(Choice(("a", "b", "supply")), default="supply", meaning="what it is connected to")
    exponent: float = element_field(Scalar(at_least=1.0), default=1.4, meaning="n: 1 for slow changes, 1.4 for fast ones")
    pump: float = element_field(Scalar(at_least=0.0), default=0.0, unit="m³/s", meaning="full flow of the pump, at the supply")
    line: float = element_field(Scalar(above=0.0), default=1e-3, unit="m³", meaning="oil in the line, at the supply")
    pressure: float = element_field(Scalar(), default=0.0, unit="Pa", meaning="of the line at the start, at the supply")

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
