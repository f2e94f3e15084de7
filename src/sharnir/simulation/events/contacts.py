"""The contacts of a run: a model with a constraint for each impact, switched by a parameter, and where these are."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ...equations.rows.one_constraint import label_of
from ...errors import MethodError, ModelError, StateError, known
from ...model.events import Event
from ...model.impacts import APART, PRESSED, Impact, Touching, near, pressed
from ...model.model import Model
from ...model.motion import Motion
from ...model.per_structure import per_structure
from ...programs.methods import METHODS
from ...trace import Number

if TYPE_CHECKING:
    from ..systems.motion_system import MotionSystem

TOUCH = 1e-8
"""m or rad: bodies this near touch, and no gap falls further below zero than this before it is noticed."""


KEPT = 4
"""Copies of a model that are kept with it."""


def divided(events: Event | Impact | Sequence[Event | Impact]) -> tuple[list[Any], list[Impact]]:
    """Events, not yet checked, and impacts, every one with a name of its own."""
    found = list(events) if np.iterable(events) else [events]
    given = [x for x in found if isinstance(x, Impact)]
    impacts = [one if one.name else one.replaced(name=f"impact {k + 1}") for k, one in enumerate(given)]
    names = [one.name for one in impacts]
    if twice := [name for name in names if names.count(name) > 1]:
        raise StateError(f"two impacts are called {twice[0]!r}: give them names, Impact(…, name=…)")
    return [x for x in found if not isinstance(x, Impact)], impacts


def check_impacts(impacts: Sequence[Impact], method: str, stabilisation: str | None, sensitivities: Sequence[str]) -> None:
    """Refuse what impacts cannot be computed with."""
    if not impacts:
        return
    if method in METHODS and not METHODS[method].constrains:
        able = known(name for name, other in METHODS.items() if other.constrains)
        raise MethodError(
            f"{impacts[0].label}: contacts at rest are constraints, which method {method!r} does not handle; choose {able}"
        )
    if stabilisation == "partitioning":
        raise MethodError(f"{impacts[0].label}: 'partitioning' cannot follow contacts that come and go; take 'projection'")
    if len(sensitivities):
        raise MethodError(f"{impacts[0].label}: sensitivities are not carried through impacts")


def with_contacts(model: Model, impacts: Sequence[Impact]) -> Model:
    """A copy with a switched constraint for each impact; the same one for the same impacts, so that it is compiled once."""
    kept, key = _models_with_contacts(model), tuple(impacts)
    if key not in kept:
        out = model.copy()
        for one in impacts:
            switch = switch_of(one)
            try:
                out.add_parameter(switch, APART)
                out.add_constraint(Touching(one, switch), one.name)
            except ModelError as error:
                raise ModelError(f"{one.label}: {error}; give it another name") from None
        kept[key] = out
        if len(kept) > KEPT:
            del kept[next(iter(kept))]
    return kept[key]


@per_structure
def _models_with_contacts(model: Model) -> dict[tuple[Impact, ...], Model]:
    """Copies of a model with contacts, by the impacts."""
    return {}


def switch_of(impact: Impact) -> str:
    return f"{impact.name}.contact"


def known_contacts(model: Model, names: Sequence[str]) -> tuple[Impact, ...] | None:
    """The impacts of these names that a copy of the model has been made for; None where there are none, or others too."""
    found = [impacts for impacts in _models_with_contacts(model) if [one.name for one in impacts] == list(names)]
    return found[0] if len(found) == 1 else None


@dataclass(frozen=True)
class Contacts:
    """Where the contacts of a run are among the rows of the constraints and among the parameters."""

    impacts: tuple[Impact, ...]
    rows: np.ndarray
    switches: np.ndarray

    @classmethod
    def of(cls, model: Model, impacts: Sequence[Impact], rows: Sequence[object]) -> Contacts:
        owners = [getattr(row, "owner", "") for row in rows]
        labels = [label_of(one.name, model.constraints[one.name]) for one in impacts]
        for one, label in zip(impacts, labels, strict=True):
            if label not in owners:
                raise StateError(f"{one.label}: nothing that moves changes its gap")
        names = list(model.structure.parameters)
        return cls(
            tuple(impacts),
            np.array([owners.index(label) for label in labels], dtype=np.int64),
            np.array([names.index(switch_of(one)) for one in impacts], dtype=np.int64),
        )

    def __len__(self) -> int:
        return len(self.impacts)

    def events(self) -> list[Event]:
        """Where gaps close to zero; where gaps of bodies that are near, zero but for rounding, fall a little below, slower than
        can be seen; and where such bodies part."""
        return [
            Event(_gap(one, what), direction=way)
            for what, way in (("closes", "falling"), ("falls", "falling"), ("opens", "rising"))
            for one in self.impacts
        ]

    def pushing(self, m: MotionSystem, t: float, x: np.ndarray) -> np.ndarray:
        """Functions of events that fall through zero where a contact would have to pull: the multipliers of those that are
        closed; 1 of the others."""
        closed, out = m.parameters[self.switches] == PRESSED, np.ones(len(self))
        if closed.any():
            q, v, z, _ = m.split(x)
            p = m.with_states(m.parameters, z)
            out[closed] = m.d.multipliers(q, v, m.tau, t, parameters=p)[self.rows[closed]]
        return out


def _gap(impact: Impact, what: str) -> Callable[[Motion], Number]:
    """The function of the event that a gap closes, falls a little below zero, or opens."""

    def gap(on: Motion) -> Number:
        contact = on.parameter(switch_of(impact))
        if what == "opens":
            beside = near(contact)
            return beside * (impact.gap(on) - TOUCH) - (1.0 - beside)
        held = pressed(contact)
        return (1.0 - held) * (impact.gap(on) + (TOUCH * near(contact) if what == "closes" else TOUCH)) + held

    return gap
