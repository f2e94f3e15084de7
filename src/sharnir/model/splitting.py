"""A loop closed by splitting a body instead of cutting a joint: `Model.split`."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ..errors import ModelError, no_such
from .joints import Weld
from .references import is_name_in, pair
from .values import check_name

if TYPE_CHECKING:
    from .model import Model


def split(model: Model, joint: str) -> None:
    """The child of the joint becomes two halves of half the mass; the joint carries the second, a cut weld ties them."""
    places = model._joint_names
    if not is_name_in(places, joint):
        raise ModelError(no_such("joint", joint, places))
    placed = model._joints[places[joint]]
    body = next((k for k, b in enumerate(model._bodies) if b.name == placed.child), None)
    if body is None:
        raise ModelError(f"cannot split at {joint!r}: its child is the ground; name the joint the other way round")
    whole = model._bodies[body]
    if whole.flexible is not None or whole.name in model._deformations.values():
        raise ModelError(f"cannot split at {joint!r}: its child {whole.name!r} is flexible; split where it is rigid")
    half = replace(whole, mass=0.5 * whole.mass, inertia=tuple(0.5 * x for x in whole.inertia))
    other, tie = check_name(f"{whole.name} (half of {joint})", "body"), check_name(f"{joint} tie", "joint")
    model._bodies[body] = half
    model._bodies.append(replace(half, name=other))
    model._body_names.add(other)
    moved = model._joints[places[joint]] = replace(placed, child=other, cut=False)
    model._joined.pop(pair(placed.parent, placed.child), None)
    model._joined[pair(placed.parent, other)] = moved
    model.add_joint(tie, Weld(), whole.name, other, cut=True)
