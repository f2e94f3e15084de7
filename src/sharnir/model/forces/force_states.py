"""States of forces and their names, and states without a force."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ...errors import ModelError
from ...trace import Graph, Number, call_traced
from ..motion import Motion
from ..parameters import parameter_value
from .force_element import Force

if TYPE_CHECKING:
    from ..structure import Structure

Own = dict[tuple[str, int], dict[str, str]]
"""States of every part of every force, by its name and the number of the part: {local name: full name}."""


class AddedState(Force):
    """A state of `Model.add_state`: it has a rate and applies no force."""

    noun = "state"

    def __init__(self, initial: float, rate: Callable[[Motion], Number], unit: str = "") -> None:
        self.initial, self.function, self.unit = initial, rate, unit

    def states(self, on: Motion) -> Mapping[str, float]:
        return {"": self.initial}

    @property
    def units_of_states(self) -> Mapping[str, str]:
        return {"": self.unit}

    def act(self, on: Motion) -> None:
        on.rate("", self.function(on))
        if on.pushed:
            raise ModelError("the function of a state returns its rate and pushes nothing; use add_force for that")


def parts_of(structure: Structure, force: Force) -> Sequence[Force]:
    """The forces that are traced for a force: its parts, where it is of the library, else itself."""
    return force.parts(structure) if force.alike else (force,)


def declared_states(structure: Structure, forces: Mapping[str, Force]) -> tuple[dict[str, float], dict[str, str], Own]:
    """Initial values and units of all states, and whose they are."""
    on = Motion(structure, Graph())
    values: dict[str, float] = {}
    units: dict[str, str] = {}
    own: Own = {}
    for name, whole in forces.items():
        if not has_states(whole):
            continue
        parts = parts_of(structure, whole)
        for k, force in enumerate(parts):
            found = call_traced(force.states, [on], f"force {name!r}")
            middle = f".{force.name or k + 1}" if len(parts) > 1 else ""
            full = {local: f"{name}{middle}{'.' * bool(local)}{local}" for local in found}
            for local, state in full.items():
                if state in structure.parameters or state in values:
                    raise ModelError(
                        f"{whole.noun} {name!r}: there is a parameter or a state {state!r} already; give it another name"
                    )
                values[state] = parameter_value(state, found[local])
                units[state] = force.units_of_states.get(local, "")
            if full:
                own[name, k] = full
    return values, units, own


def has_states(force: Any) -> bool:
    """Whether it may have states: it defines `states`, or consists of parts that do."""
    return type(force).states is not Force.states
