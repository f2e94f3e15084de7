"""A rigid body: mass, centre of mass, inertia about it. Refuses what no body can be."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import ModelError
from .pose import vector3
from .shapes import Shape

GROUND = "ground"


@dataclass(frozen=True)
class Body:
    """Mass properties in the body's own frame; `inertia` is about the centre of mass: xx yy zz xy xz yz."""

    name: str
    mass: float
    com: tuple[float, float, float]
    inertia: tuple[float, ...]
    shape: Shape | None = None

    def inertia_matrix(self) -> np.ndarray:
        """3×3 about the centre of mass."""
        xx, yy, zz, xy, xz, yz = self.inertia
        return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])

    def inertia_at_origin(self) -> np.ndarray:
        """3×3 about the body's origin: J_O = J_c + m(c²E − ccᵀ)."""
        c = np.array(self.com)
        return self.inertia_matrix() + self.mass * (c @ c * np.eye(3) - np.outer(c, c))

    def mass_matrix(self) -> np.ndarray:
        """M = [mE −m r̃_c; m r̃_c J_O], 6×6 about the body's origin. [I] (3.3)"""
        x, y, z = np.array(self.com) * self.mass
        h = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
        return np.block([[self.mass * np.eye(3), -h], [h, self.inertia_at_origin()]])

    @property
    def is_solid(self) -> bool:
        """Whether the mass matrix can be inverted: mass, and inertia about every axis."""
        moments = np.linalg.eigvalsh(self.inertia_matrix())
        return self.mass > 0.0 and bool(moments[0] > 1e-14 * moments[2])


def make_body(
    name: str,
    mass: float | None,
    com: Any,
    inertia: Any,
    shape: Shape | None,
    density: float | None,
    check_inertia: bool = True,
) -> Body:
    label = f"body {name!r}"
    if not isinstance(name, str) or not name:
        raise ModelError(f"a body needs a name, got {name!r}")
    if shape is not None:
        if inertia is not None or com is not None:
            raise ModelError(f"{label}: a shape gives centre of mass and inertia; leave out com and inertia, or the shape")
        mass, com, inertia = shape.mass_properties(mass, density, label)
    elif density is not None:
        raise ModelError(f"{label}: a density needs a shape to fill, e.g. shape=sharnir.Box((0.1, 0.1, 0.5))")
    mass = _mass(0.0 if mass is None else mass, label)
    centre = vector3((0.0, 0.0, 0.0) if com is None else com, f"{label}: com")
    moments = _moments((0.0, 0.0, 0.0) if inertia is None else inertia, label)
    body = Body(name, mass, centre, moments, shape)
    fault = inertia_fault(body) if check_inertia else None
    if fault:
        raise ModelError(f"{label}: its inertia {fault}")
    return body


def _mass(mass: Any, label: str) -> float:
    try:
        mass = float(mass)
    except (TypeError, ValueError):
        raise ModelError(f"{label}: mass must be a number of kilograms, got {mass!r}") from None
    if not math.isfinite(mass) or mass < 0.0:
        raise ModelError(f"{label}: mass must be zero or positive, got {mass:g} kg")
    return mass


def _moments(inertia: Any, label: str) -> tuple[float, ...]:
    try:
        a = np.asarray(inertia, dtype=float)
    except (TypeError, ValueError):
        raise ModelError(f"{label}: inertia must be numbers, got {inertia!r}") from None
    if not np.isfinite(a).all():
        raise ModelError(f"{label}: inertia must be finite, got {inertia!r}")
    if a.shape == (3,):
        return (*a.tolist(), 0.0, 0.0, 0.0)
    if a.shape == (6,):
        return tuple(a.tolist())
    if a.shape == (3, 3):
        if np.abs(a - a.T).max() > 1e-9 * max(np.abs(a).max(), 1e-300):
            raise ModelError(f"{label}: the inertia matrix is not symmetric")
        a = (a + a.T) / 2
        return (a[0, 0], a[1, 1], a[2, 2], a[0, 1], a[0, 2], a[1, 2])
    raise ModelError(f"{label}: inertia must be 3 numbers, 6 (xx yy zz xy xz yz) or 3×3, got shape {a.shape}")


def inertia_fault(body: Body) -> str | None:
    """Principal moments are sums of squares of distances: none negative, none larger than the other two together.
    What is wrong with those of a body, as the end of a sentence about its inertia."""
    low, middle, high = np.linalg.eigvalsh(body.inertia_matrix())
    slack = 1e-6 * high
    shown = f"principal moments {low:.6g}, {middle:.6g}, {high:.6g} kg m²"
    if low < -slack:
        return f"is not that of any body, a moment is negative ({shown})"
    if low + middle < high - slack:
        return (
            f"breaks the triangle inequality ({shown}); no distribution of mass does that. "
            "Is it about the centre of mass, are the units kg m², are products of inertia of the right sign?"
        )
    return None
