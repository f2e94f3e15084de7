"""Settings of a simulation, which a file may define beside the mechanism."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .element import Element, element, element_field, number, positive
from .events import Event
from .impacts import Impact
from .values import ByName, Choice, Elements, Flag, Names, Scalar, ScalarOrVector, State, Text, Times, Whole

Values = Mapping[str, Any] | tuple[float, ...]
STEPS = "steps"
LIMITS = (ACT, IGNORE, *ENDING) = ("act", "ignore", "stop", "error")
"""Ways to treat limits of joints; ENDING: a run ends there."""


@element()
class SimulationSettings(Element):
    """Arguments of `sharnir.simulate`; None where its default holds. `output="steps"`: every step."""

    duration: float | None = element_field(Scalar(nonzero=True), default=None, unit="s", meaning="duration of the simulation")
    q0: Values | None = element_field(
        State(), default=None, meaning="initial coordinates by joint, the others neutral; or all of them"
    )
    v0: Values | None = element_field(State(), default=None, meaning="initial speeds by joint, the others zero; or all of them")
    states: Mapping[str, float] | None = element_field(
        ByName(Scalar()), default=None, meaning="initial values of states by name, the others as they are defined"
    )
    fixed: tuple[str, ...] | None = element_field(
        Names(), default=None, meaning="joints, or coordinates (float.x), that keep q0 while the others close the loops"
    )
    t0: float | None = number(default=None, unit="s", meaning="initial time")
    tau: Values | None = element_field(
        State(), default=None, meaning="constant joint forces by joint, the others zero; or all of them"
    )
    method: str | None = element_field(Text(), default=None, meaning="a name of sharnir.methods()")
    backend: str | None = element_field(
        Choice(("auto", "llvm", "loops", "python", "numba")), default=None, meaning="how the equations are evaluated"
    )
    integrator: str | None = element_field(Text(), default=None, meaning="a name of sharnir.integrators()")
    rtol: float | None = number(default=None, meaning="relative tolerance")
    atol: float | tuple[float, ...] | None = element_field(
        ScalarOrVector(Scalar(endless=True)), default=None, meaning="absolute tolerance"
    )
    step: float | None = number(default=None, unit="s", meaning="step of integrators with a fixed step")
    max_step: float | None = element_field(Scalar(endless=True), default=None, unit="s", meaning="largest step")
    max_steps: int | None = element_field(Whole(1), default=None, meaning="steps after which the run ends")
    max_seconds: float | None = positive(default=None, unit="s", meaning="seconds of computing after which the run ends")
    output: float | str | tuple[float, ...] | None = element_field(
        Times(STEPS),
        default=None,
        unit="s",
        meaning="interval between the times of the result, or those times, or steps: every step",
    )
    every: int | None = element_field(Whole(1), default=None, meaning="every how many steps a step is stored")
    limits: str | None = element_field(Choice(LIMITS), default=None, meaning="what happens at limits of joints")
    stabilisation: str | None = element_field(
        Choice(("projection", "partitioning", "baumgarte", "ggl", "none")), default=None, meaning="how constraints are stabilized"
    )
    decay: float | tuple[float, ...] | None = element_field(
        ScalarOrVector(Scalar(above=0.0), most=2),
        default=None,
        unit="1/s",
        meaning="rate of decay of constraint violations: of baumgarte α and β or one number for both, of ggl one number",
    )
    balance: bool | None = element_field(Flag(), default=None, meaning="whether the energy balance is recorded")
    events: tuple[Event, ...] | None = element_field(Elements(Event), default=None, meaning="events to look for")
    impacts: tuple[Impact, ...] | None = element_field(
        Elements(Impact), default=None, meaning="gaps that must not close; in Python they are among the events"
    )

    def arguments(self, **others: Any) -> dict[str, Any]:
        """Keywords for `simulate`; `others` that are not None take precedence."""
        own = {name: x for name, x in self.fields().items() if name != "impacts"}
        if self.impacts:
            own["events"] = (*(self.events or ()), *self.impacts)
        out = {name: x for name, x in {**own, **{n: x for n, x in others.items() if x is not None}}.items() if x is not None}
        return {**out, "output": None} if out.get("output") == STEPS else out


def overridden(settings: SimulationSettings | None, given: Mapping[str, Any]) -> dict[str, Any]:
    """Keywords for `simulate`: those of a model's settings, overridden by what is given; values by name one by one."""
    out = settings.arguments() if settings is not None else {}
    if "integrator" in given:  # the step was meant for the integrator of the settings
        out.pop("step", None)
    if "stabilisation" in given:  # and the decay for their stabilisation
        out.pop("decay", None)
    for name, value in given.items():
        before = out.get(name)
        out[name] = {**before, **value} if isinstance(before, Mapping) and isinstance(value, Mapping) else value
    return out
