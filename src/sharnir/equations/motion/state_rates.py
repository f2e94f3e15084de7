"""States of forces on loops: their rates as native code, and their values carried to where the equations read them."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ...backends.compiled_programs import CompiledPrograms
from ...backends.grouped import GroupedCode, native_copy
from ...backends.grouped_forces import flat_motion
from ...dialect.cache import Cache
from ...dialect.native import Native
from ...model.structure import Structure
from ..rows.evaluation import with_bodies


def native_state_rates(programs: CompiledPrograms, at: Mapping[str, np.ndarray]) -> list[Native]:
    """Native functions that fill the first numbers of at["more"] for one state: only forces that have states are evaluated."""
    s = programs.structure
    if not s.states:
        return []
    layout = s.forces.layout
    groups = [group for group in s.forces.groups if (group.places >= layout.rate_at).any()]
    code = GroupedCode(groups, programs.store)
    reads_bodies = any((group.reads >= layout.at["r"]).any() for group in groups)
    bodies = programs.runner("motion", backend="loops") if reads_bodies else None
    flat, natives = flat_motion(layout, at, bodies, code)
    push = np.zeros(layout.pushes)
    found = code.copied([(push[layout.rate_at :], at["more"][: len(s.states)])])
    return [*natives, *code.chain(flat, {"push": push}), found]


def state_rates(structure: Structure, t: float, q: np.ndarray, v: np.ndarray, parameters: np.ndarray) -> list[float]:
    """The same interpreted; `parameters` end with the states."""
    values = {"t": [t], "q": q.tolist(), "v": v.tolist(), "parameter": parameters.tolist()}
    motion = with_bodies(structure, values, float) if structure.forces.kinematic else values
    return [float(x) for x in structure.forces.rates(motion)]


def native_carry(structure: Structure, states: np.ndarray, parameters: np.ndarray, store: Cache) -> list[Native]:
    """Copy states of forces from rows (n, …) of the state, which begin with them, to the ends of rows of parameters."""
    nz = len(structure.states)
    if not nz:
        return []
    rows = parameters.reshape(len(states), -1)
    return [native_copy([(x[:nz], p[-nz:]) for x, p in zip(states, rows, strict=True)], store)]
