"""Lines of a flexible body by name: "deformation of arm@(1, 0, 0)", "resultants of arm@(0.5, 0, 0).moment_z"."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ...model.model import Model
from ...model.pose import Pose
from .lines import Line
from .places import Place, place_named

if TYPE_CHECKING:
    from .named_motion import NamedMotion

Quantity = Callable[["NamedMotion"], list[Line]]
RESULTANTS = {"axial": "N", "torque": "N m", "moment_y": "N m", "moment_z": "N m", "shear_y": "N", "shear_z": "N"}


def _flexible(model: Model, text: str) -> tuple[str, Place, tuple[float, ...]] | None:
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
    """All, or one by its name after a dot, in the section of a beam at a point."""
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
