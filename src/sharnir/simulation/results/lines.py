"""Numbers over time with labels and units: lines of points by name, of forces and moments, of flexible bodies."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ...analysis.arguments import unit_of_force
from ...errors import StateError, brief
from ...model.body import GROUND
from ...model.forces import SpringDamper
from ...model.model import Model
from ...model.placed_joint import PlacedJoint
from ...model.pose import Pose
from ...types import FloatArray

if TYPE_CHECKING:
    from .named_motion import NamedMotion


# --- points of a mechanism by name: a body's origin, a point on it, a named frame, and one of their components
_POINT = re.compile(r"@ ?\(([^)]*)\)$")


@dataclass(frozen=True)
class MovingPoint:
    """A point that moves."""

    name: str
    where: Any
    """As `Dynamics.velocity` takes it: a body, or (body, Pose)."""
    axis: str = ""
    """One of x, y, z; "" for all."""


def place_names(model: Model) -> list[str]:
    return [*(body.name for body in model.bodies), *model.frames]


def place_named(model: Model, text: str) -> MovingPoint | None:
    """ "piston", "piston.x", "piston@(0.1, 0, 0).y", "body piston", "frame tip.z"; None where nothing has that name.

    A body comes before a frame of the same name.
    """
    if (place := _point(model, text)) is not None:
        return place
    head, dot, axis = text.rpartition(".")
    if dot and axis in ("x", "y", "z") and (place := _point(model, head)) is not None:
        return MovingPoint(place.name, place.where, axis)
    return None


def _point(model: Model, text: str) -> MovingPoint | None:
    found = _POINT.search(text)
    base = _named(model, text[: found.start()].rstrip() if found else text)
    if found is None or base is None:
        return base
    try:
        x, y, z = (float(word) for word in found[1].split(","))
    except ValueError:
        example = f"{base.name}@(0.1, 0, 0)"
        raise StateError(f"a point is given by three numbers, such as {example}; got {brief(text)}") from None
    body, at = base.where if isinstance(base.where, tuple) else (base.where, Pose())
    return MovingPoint(f"{base.name}@({x:g}, {y:g}, {z:g})", (body, at @ Pose((x, y, z))))


def _named(model: Model, text: str) -> MovingPoint | None:
    for prefix, places in (("body ", {body.name: body.name for body in model.bodies}), ("frame ", model.frames)):
        for name in (text, text.removeprefix(prefix)):
            if name in places:
                return MovingPoint(name, places[name])
    return None


# --- lines
WRENCH = ("F", "Fx", "Fy", "Fz", "M", "Mx", "My", "Mz")
"""A force and a moment: their magnitudes and components."""


@dataclass(frozen=True, eq=False)
class Line:
    """One number over time."""

    label: str
    unit: str
    """SI; "1" of a pure number, "" where only the user knows."""
    values: FloatArray
    """(…, T): of one motion, or of many."""
    topic: str = ""
    """Lines of one unit share a panel if their topics agree: energies do not go with works, nor violations with lengths."""


def joint_forces(model: Model, joint: PlacedJoint, values: FloatArray, label: str, part: str = "") -> list[Line]:
    """(…, T, n) forces on the speeds of a joint."""
    first, names = model.v_slice(joint.name).start, joint.v_names
    full = [label if len(names) == 1 else f"{label}.{name}" for name in names]
    lines = zip(names, full, np.moveaxis(values, -1, 0), strict=True)
    return [Line(name, unit_of_force(model, first + k), x) for k, (own, name, x) in enumerate(lines) if part in ("", own)]


def wrench(values: FloatArray, label: str, part: str) -> list[Line]:
    """(…, T, 6) force and moment: all magnitudes and components, or the one named."""
    halves = (values[..., :3], values[..., 3:])
    columns = [x for half in halves for x in (np.linalg.norm(half, axis=-1), *np.moveaxis(half, -1, 0))]
    shown = {name: f"|{name}|" if len(name) == 1 else name for name in WRENCH}
    return [
        Line(f"{label}, {shown[name]}", "N" if name[0] == "F" else "N m", x)
        for name, x in zip(WRENCH, columns, strict=True)
        if part in ("", name)
    ]


def of_spring(r: NamedMotion, name: str, spring: SpringDamper, what: str) -> FloatArray:
    """(…, T) of a spring between two points: its "length", or its "tension", positive where it pulls them together."""
    a, b = (r.place((body, Pose(at)))[1] for body, at in ((spring.a, spring.at_a), (spring.b, spring.at_b)))
    length: FloatArray = np.linalg.norm(b - a, axis=-1)
    if what == "length":
        return length
    body, toward = (spring.b, -1.0) if spring.b != GROUND else (spring.a, 1.0)
    force = np.einsum("...ij,...j->...i", r.body_frame(body)[0], r.force(name)[body][..., :3])
    tension: FloatArray = toward * (force * (b - a)).sum(axis=-1) / np.where(length > 0.0, length, 1.0)
    return tension


# --- lines of a flexible body by name: "deformation of arm@(1, 0, 0)", "resultants of arm@(0.5, 0, 0).moment_z"
Quantity = Callable[["NamedMotion"], list[Line]]
RESULTANTS = {"axial": "N", "torque": "N m", "moment_y": "N m", "moment_z": "N m", "shear_y": "N", "shear_z": "N"}


def _flexible(model: Model, text: str) -> tuple[str, MovingPoint, tuple[float, ...]] | None:
    """A flexible body and a point of it; None where the text names none."""
    place = place_named(model, text)
    if place is None:
        return None
    body, at = place.where if isinstance(place.where, tuple) else (place.where, Pose())
    flexible = {b.name for b in model.bodies if b.flexible is not None}
    return (body, place, tuple(map(float, at.position))) if body in flexible else None


def deformation_lines(model: Model, text: str) -> Quantity | None:
    """Components of the displacement of a point, in the axes of the body's frame."""
    found = _flexible(model, text)
    if found is None:
        return None
    body, place, point = found

    def lines(r: NamedMotion) -> list[Line]:
        moved, name = r.deformation(body, point), f"deformation of {place.name}"
        return [Line(f"{name}.{axis}", "m", moved[..., k]) for k, axis in enumerate("xyz") if place.axis in ("", axis)]

    return lines


def resultant_lines(model: Model, text: str) -> Quantity | None:
    """Forces and moments in the section of a beam at a point: all, or one by its name after a dot."""
    head, _, part = text.rpartition(".")
    found = _flexible(model, text) or (_flexible(model, head) if part in RESULTANTS else None)
    if found is None or found[1].axis:
        return None
    body, place, point = found
    shown = [part] if text.endswith(f").{part}") or text == f"{place.name}.{part}" else list(RESULTANTS)

    def lines(r: NamedMotion) -> list[Line]:
        values = r.resultants(body, point[0])
        return [Line(f"{name} of {place.name}", RESULTANTS[name], values[name]) for name in shown]

    return lines
