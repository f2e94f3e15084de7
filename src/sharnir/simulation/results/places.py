"""Points of a mechanism by name: a body's origin, a point on it, a named frame, and one of their components."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ...errors import StateError, brief
from ...model.model import Model
from ...model.pose import Pose
from ...types import FloatArray

if TYPE_CHECKING:
    from .named_motion import NamedMotion

_POINT = re.compile(r"@ ?\(([^)]*)\)$")


@dataclass(frozen=True)
class Place:
    """A point that moves."""

    name: str
    where: Any
    """As `Dynamics.velocity` takes it: a body, or (body, Pose)."""
    axis: str = ""
    """One of x, y, z; "" for all."""

    def motion(self, r: NamedMotion, order: int) -> FloatArray:
        """(T, 3) in the world: position, velocity or acceleration."""
        if order == 0:
            return r.place(self.where)[1]
        return (r.velocity_of if order == 1 else r.acceleration_of)(self.where)[..., :3]


def place_names(model: Model) -> list[str]:
    return [*(body.name for body in model.bodies), *model.frames]


def place_named(model: Model, text: str) -> Place | None:
    """ "piston", "piston.x", "piston@(0.1, 0, 0).y", "body piston", "frame tip.z"; None where nothing has that name.

    A body comes before a frame of the same name.
    """
    if (place := _point(model, text)) is not None:
        return place
    head, dot, axis = text.rpartition(".")
    if dot and axis in ("x", "y", "z") and (place := _point(model, head)) is not None:
        return Place(place.name, place.where, axis)
    return None


def _point(model: Model, text: str) -> Place | None:
    found = _POINT.search(text)
    if found is None:
        return _named(model, text)
    base = _named(model, text[: found.start()].rstrip())
    if base is None:
        return None
    try:
        x, y, z = (float(word) for word in found[1].split(","))
    except ValueError:
        example = f"{base.name}@(0.1, 0, 0)"
        raise StateError(f"a point is given by three numbers, such as {example}; got {brief(text)}") from None
    body, at = base.where if isinstance(base.where, tuple) else (base.where, Pose())
    return Place(f"{base.name}@({x:g}, {y:g}, {z:g})", (body, at @ Pose((x, y, z))))


def _named(model: Model, text: str) -> Place | None:
    bodies = {body.name for body in model.bodies}
    for name in (text, text.removeprefix("body ")):
        if name in bodies:
            return Place(name, name)
    for name in (text, text.removeprefix("frame ")):
        if name in model.frames:
            return Place(name, model.frames[name])
    return None
