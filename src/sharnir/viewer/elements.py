"""Forces and constraints: springs that stretch, dampers, cylinders, tendons, rods; contacts and the grounds they touch."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import pairwise

import numpy as np

from ..model.constraints import Distance, PointOnCurve, PointOnSurface, Rolling
from ..model.forces import Actuator, Bushing, Contact, HydraulicCylinder, SpringDamper, Tendon
from ..model.pose import Pose, Rotation, unit_axis
from ..model.shapes import HeightFunction, Plane, Points, Shape
from ..trace import at_values
from ..types import FloatArray
from .bodies import DARK, PALE, shape_part
from .glyphs import CUT
from .outline import Outline, matrix
from .scene import Anchor, Colour, Geometry, Part, Span
from .solids import cylinder, geometry, ring, rod, sphere, spring, square

SPRING: Colour = (0.24, 0.55, 0.36, 1.0)
TENDON: Colour = (0.78, 0.35, 0.16, 1.0)

End = tuple[str, Iterable[float]]


def force_parts(o: Outline, name: str, force: object) -> Iterator[Part | Span]:
    """Springs, dampers, cylinders, cables of a force that acts between points; shapes of a contact."""
    label = f"force {name}"
    if isinstance(force, SpringDamper):
        a, b = o.anchor(force.a, force.at_a), o.anchor(force.b, force.at_b)
        w = _spring_width(o, force)
        if force.stiffness or force.law is not None:
            yield Span(label, "springs", spring(8 if o.sides > 8 else 4), SPRING, w, a, b)
        if force.damping or not (force.stiffness or force.law is not None):
            yield from _telescope(label, a, b, 0.42 * w, 0.22 * w)
    elif isinstance(force, HydraulicCylinder):
        a, b, w = o.anchor(force.a, force.at_a), o.anchor(force.b, force.at_b), 0.02 * o.size
        yield from _telescope(label, a, b, w, 0.5 * w)
    elif isinstance(force, (Tendon, Actuator)):
        points = [o.anchor(body, at) for body, at in force.points]
        for a, b in pairwise(points):
            yield Span(label, "springs", rod(8), TENDON, 0.004 * o.size, a, b)
    elif isinstance(force, Contact):
        yield from contact_parts(o, name, force)
    elif isinstance(force, Bushing):
        r = 1.6 * o.width(o.carriers.index(force.b))
        yield Part(
            label, "springs", sphere(o.sides), (*SPRING[:3], 0.6), *o.carried(force.b, Pose(force.at_b.position), (r, r, r))
        )
        a, b = o.anchor(force.a, force.at_a.position), o.anchor(force.b, force.at_b.position)
        yield Span(label, "springs", rod(), SPRING, 0.4 * r, a, b)


def constraint_parts(o: Outline, name: str, constraint: object) -> Iterator[Part | Span]:
    label = f"constraint {name}"
    if isinstance(constraint, Distance):
        ends = ((constraint.a, constraint.at_a), (constraint.b, constraint.at_b))
        w = 0.5 * min(o.width(o.carriers.index(body)) for body, _ in ends)
        yield Span(label, "constraints", rod(), CUT, w, o.anchor(*ends[0]), o.anchor(*ends[1]))
        for body, at in ends:
            yield _ball(o, label, body, at, 1.8 * w)
    elif isinstance(constraint, Rolling):
        pose = Pose(constraint.centre, Rotation.align_z(unit_axis(constraint.axis, constraint.label)))
        carrier, wheel = o.carried(constraint.body, pose, (constraint.radius,) * 3)
        yield Part(label, "constraints", ring(0.02), CUT, carrier, wheel)
        yield Part(label, "constraints", cylinder(0.0, 48), (*PALE[:3], 0.35), carrier, wheel @ np.diag([0.98, 0.98, 0.02, 1.0]))
    elif isinstance(constraint, (PointOnSurface, PointOnCurve)):
        yield _ball(o, label, constraint.body, constraint.at, 0.01 * o.size)


def _telescope(label: str, a: Anchor, b: Anchor, outer: float, inner: float) -> Iterator[Span]:
    yield Span(label, "springs", rod(), PALE, outer, a, b, share=(0.0, 0.6))
    yield Span(label, "springs", rod(), DARK, inner, a, b)


def _ball(o: Outline, name: str, body: str, at: Iterable[float], radius: float) -> Part:
    return Part(name, "constraints", sphere(12), CUT, *o.carried(body, Pose(list(at)), (radius,) * 3))


def _spring_width(o: Outline, force: SpringDamper) -> float:
    """Width of a spring, in proportion to its free length and to the mechanism."""
    length = float(force.length) or 0.2 * o.size
    return float(np.clip(0.09 * length, 0.004 * o.size, 0.03 * o.size))


def axes_parts(name: str, layer: str, carrier: int, at: FloatArray, length: float) -> Iterator[Part]:
    """A frame: red x, green y, blue z."""
    colours: tuple[Colour, ...] = ((0.85, 0.22, 0.20, 1.0), (0.22, 0.62, 0.26, 1.0), (0.20, 0.38, 0.85, 1.0))
    for axis, colour in zip(("x", "y", "z"), colours, strict=True):
        turned = matrix(Pose(rotation=Rotation.align_z(unit_axis(axis, name))), (0.035 * length, 0.035 * length, length))
        yield Part(name, layer, rod(6), colour, carrier, at @ turned)


# --- contacts: grounds that are touched are in the layer of bodies, shapes that touch in that of collision shapes
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
