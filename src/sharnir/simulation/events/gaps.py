"""Gaps that forces watch: a step of a run ends where one closes, so that no contact is passed over."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import Any

from ...integrate.trajectory import Event as Root
from ...model.events import Event
from ...model.forces.force_element import Force
from ...model.forces.force_states import parts_of
from ...model.motion import Motion
from ...model.structure import Structure
from ...trace.functions import minimum


def gap_events(structure: Structure) -> list[Event]:
    """An event for every part of a force that watches gaps."""
    return [
        Event(_least_gap(part, structure.states_of.get((name, k), {})))
        for name, force in structure.forces.forces.items()
        for k, part in enumerate(parts_of(structure, force))
        if part.watches
    ]


def gap_root() -> Root:
    """A gap for the integrator."""
    return Root(dips=True)


def _least_gap(force: Force, states: dict[str, str]) -> Callable[[Motion], Any]:
    def gap(on: Motion) -> Any:
        probe = Motion(on.structure, on._graph, states)  # its forces are not applied
        probe._read = on._read
        force.act(probe)
        return reduce(minimum, probe.watched)

    return gap
