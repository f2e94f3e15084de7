"""A copy of a model with other numbers in its bodies and joints."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from .body import make_body
from .joints import Compound, Joint

if TYPE_CHECKING:
    from .model import Model

MassValues = tuple[float, Sequence[float], Sequence[float]]
"""Mass, centre of mass, inertia about it (xx yy zz xy xz yz)."""


def revalued(
    model: Model,
    bodies: Mapping[str, MassValues],
    joints: Mapping[str, Mapping[str, Sequence[float]]],
    check_inertia: bool = True,
) -> Model:
    """The copy. `bodies` by name; `joints`: {joint: {option: a number for each of its speeds}}."""
    out = model.without_parameters() if model.parameters else model.copy()
    for k, body in enumerate(out._bodies):
        if body.name in bodies:
            mass, com, inertia = bodies[body.name]
            out._bodies[k] = make_body(body.name, mass, list(com), list(inertia), None, None, check_inertia)
    for k, placed in enumerate(out._joints):
        if placed.name in joints:
            out._joints[k] = replace(placed, type=_with_options(placed.type, joints[placed.name]))
    return out


def _with_options(joint: Joint, options: Mapping[str, Sequence[float]]) -> Joint:
    """A copy of a joint; options of a compound belong to its parts, in their order."""
    out = copy(joint)
    if isinstance(joint, Compound):
        parts, at = dict(joint.parts), 0
        for name, driven, _ in joint.moved_parts():
            n, (part, where) = len(driven.v_names()), parts[name]
            if n:
                parts[name] = (_with_options(part, {option: values[at : at + n] for option, values in options.items()}), where)
            at += n
        out.__dict__["parts"] = parts
        return out
    for option, values in options.items():
        value: Any = float(values[0]) if len(values) == 1 else tuple(float(x) for x in values)
        out.__dict__[option] = value
    return out
