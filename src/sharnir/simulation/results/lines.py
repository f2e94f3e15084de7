"""Numbers over time with their labels and units; forces and moments as such lines."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...analysis.force_units import unit_of_force
from ...model.model import Model
from ...model.placed_joint import PlacedJoint
from ...types import FloatArray

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
    """What it may share a panel with beside what has its unit: energies do not go with works, nor violations with lengths."""


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
