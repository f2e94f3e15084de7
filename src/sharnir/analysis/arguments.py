"""Checks of the arguments of analyses, and units of joint forces."""

from __future__ import annotations

import math
import operator
from collections.abc import Mapping, Sequence
from itertools import islice

import numpy as np

from ..errors import NOT_A_NUMBER, ModelError, StateError, brief
from ..model.coordinates import entries
from ..model.model import Model
from ..model.references import is_name_in, listed_names
from ..model.states import check_array, check_finite
from ..reporting.formats import plural
from ..reporting.notebook import Fact
from ..types import State, real_array

SHOWN = 12
"""Coordinates that a summary lists."""


def positive(x: object, what: str) -> float:
    """A finite number above zero."""
    try:
        value = float(x)  # type: ignore[arg-type]
    except NOT_A_NUMBER:
        value = math.nan
    if isinstance(x, (str, bytes, bool)) or not math.isfinite(value) or value <= 0.0:
        raise StateError(f"{what}: expected a number above zero, got {brief(x)}")
    return value


def whole(x: object, what: str) -> int:
    """A whole number of at least one."""
    try:
        value = 0 if isinstance(x, bool) else operator.index(x)  # type: ignore[arg-type]
    except NOT_A_NUMBER:
        value = 0
    if value < 1:
        raise StateError(f"{what}: expected a whole number of at least 1, got {brief(x)}")
    return value


def speeds_of(model: Model, names: Sequence[str], what: str) -> np.ndarray:
    """(nv,): which speeds belong to the named joints (of a follower: its leader's), or to one coordinate of a joint
    (joint.coordinate)."""
    s, out = model.structure, np.zeros(model.nv, dtype=bool)
    joints = {j.name: j.follows.leader if j.follows else j.name for j in model.joints}
    for name in listed_names(names, what, StateError):
        if is_name_in(joints, name):
            out[model.v_slice(joints[name])] = True
        elif (where := entries(s, name, "v")) is not None and entries(s, name, "q") is not None:
            out[where] = True
        else:
            coordinates = set(model.q_names)
            every = [*joints, *(x for x in model.v_names if x in coordinates and x not in joints)]
            raise ModelError(f"{what}: no joint {brief(name)}; {model.structure.where_is(name, every)}")
    return out


def steady_speeds(model: Model, speeds: State) -> tuple[np.ndarray, np.ndarray]:
    """(nv,): the speeds, and which of them are given: those named, or in an array those that are not zero."""
    if speeds is None:
        return np.zeros(model.nv), np.zeros(model.nv, dtype=bool)
    if not isinstance(speeds, Mapping):
        v = check_array(speeds, "speeds", model.nv)
        check_finite(v, lambda: model.v_names, "speeds")
        return v, v != 0.0
    v, given = np.zeros(model.nv), np.zeros(model.nv, dtype=bool)
    for name, value in speeds.items():
        which = speeds_of(model, [name], "speeds")
        numbers = np.atleast_1d(real_array(value, f"speeds of {brief(name)}"))
        if numbers.shape != (int(which.sum()),) or not np.isfinite(numbers).all():
            raise StateError(f"speeds of {brief(name)}: expected {plural(int(which.sum()), 'finite number')}, got {brief(value)}")
        v[which], given = numbers, given | which
    return v, given


_FORCES = {"m/s": "N", "rad/s": "N m"}
"""Units of forces, by that of the speed whose product with the force is a power."""


def with_values(model: Model, parameters: Mapping[str, float] | None, states: Mapping[str, float] | None = None) -> Model:
    model = model if parameters is None else model.with_parameters(parameters)
    return model if states is None else model.with_states(states)


def first_lines(names: Sequence[str], values: np.ndarray, width: int) -> list[str]:
    """Lines of a summary: the first coordinates, and how many more there are."""
    lines = [f"  {name:<{width}} {x: .9g}" for name, x in zip(names[:SHOWN], values, strict=False)]
    return lines + [f"  and {len(names) - SHOWN} more coordinates"] * (len(names) > SHOWN)


def coordinate_facts(model: Model, q: np.ndarray) -> list[Fact]:
    """The first coordinates with their units, for a notebook."""
    free = [run for joint in model.joints if not joint.follows for run in joint.type.segments(joint.name) if run.is_free]
    units = ("" if unit == "1" else unit for run in free for unit in run.q_units)
    return [*islice(zip(model.q_names, (q.round(15) + 0.0).tolist(), units, strict=True), SHOWN)]


def unit_of_force(model: Model, k: int) -> str:
    """Unit of entry k of τ; empty where it has no single unit."""
    for joint in model.joints:
        where = model.v_slice(joint.name)
        if where.start <= k < where.stop and not joint.follows:
            free = [unit for run in joint.type.segments(joint.name) if run.is_free for unit in run.v_units]
            return _FORCES.get(free[k - where.start], "")
    return ""
