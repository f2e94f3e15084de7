"""Contacts: grounds that are touched are in the layer of bodies, shapes that touch in that of collision shapes."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..model.forces import Contact
from ..model.pose import Pose
from ..model.shapes import Shape
from ..model.surfaces import HeightFunction, Plane, Points
from ..trace import at_values
from ..types import FloatArray
from .bodies import PALE, shape_part
from .outline import Outline, matrix
from .scene import Colour, Geometry, Part
from .solids import geometry, sphere, square

TOUCHING: Colour = (0.85, 0.45, 0.20, 0.6)
CELLS = 48
"""Cells along an edge of the ground of a height function."""
EDGE = 4.0
"""Edge of a plane or a ground, in sizes of the mechanism."""


def contact_parts(o: Outline, name: str, contact: Contact) -> Iterator[Part]:
    label, carrier = f"contact {name}", o.carriers.index(contact.body)
    if isinstance(contact.shape, Shape):
        solid, at = shape_part(contact.shape, o.sides)
        yield Part(label, "collision", solid, TOUCHING, carrier, at)
    elif isinstance(contact.shape, Points):
        r = 0.008 * o.size
        for point in contact.shape.points:
            place = matrix(Pose(contact.shape.at @ point), (r, r, r))
            yield Part(label, "collision", sphere(8), TOUCHING, carrier, place)
    others = (c for c in o.model.forces.values() if isinstance(c, Contact) and (c.on, c.against) == (contact.on, contact.against))
    if next(others) is contact:  # a ground that many touch is drawn once
        yield from _touched(o, label, contact)


def _touched(o: Outline, label: str, contact: Contact) -> Iterator[Part]:
    under, surface = o.carriers.index(contact.on), contact.against
    edge = EDGE * o.size
    if isinstance(surface, Plane):
        if contact.on != "ground" or abs(surface.at.rotation.entries[8]) < 0.999:  # else the floor itself, see `floor_heights`
            yield Part(label, "bodies", square(), PALE, under, matrix(surface.at, (edge, edge, 1.0)))
    elif isinstance(surface, HeightFunction):
        yield Part(label, "bodies", _relief(surface, edge), PALE, under, matrix(surface.at))
    elif contact.on == "ground":  # of a body, its own shape is drawn
        solid, at = shape_part(surface, o.sides)
        yield Part(label, "bodies", solid, PALE, under, at)


def floor_heights(o: Outline, up: FloatArray) -> list[float]:
    """Heights of horizontal planes of the ground that something touches."""
    planes = [c.against for c in o.model.forces.values() if isinstance(c, Contact) and c.on == "ground"]
    planes = [p for p in planes if isinstance(p, Plane) and np.dot(p.at.rotation.entries[2::3], up) > 0.999]
    return [float(np.dot(p.at.position, up)) for p in planes]


def _relief(ground: HeightFunction, edge: float) -> Geometry:
    line = np.linspace(-0.5 * edge, 0.5 * edge, CELLS + 1)
    x, y = np.meshgrid(line, line, indexing="ij")
    heights = np.array([at_values(ground.derivatives(a, b)[:3]) for a, b in zip(x.flat, y.flat, strict=True)], dtype=float)
    heights = np.where(np.isfinite(heights), heights, 0.0)
    normals = np.column_stack([-heights[:, 1], -heights[:, 2], np.ones(len(heights))])
    k = np.arange((CELLS + 1) * CELLS).reshape(CELLS, CELLS + 1)[:, :-1].ravel()
    faces = np.concatenate([np.stack([k, k + CELLS + 1, k + 1], 1), np.stack([k + 1, k + CELLS + 1, k + CELLS + 2], 1)])
    return geometry(
        np.column_stack([x.ravel(), y.ravel(), heights[:, 0]]), faces, normals / np.linalg.norm(normals, axis=1)[:, None]
    )
