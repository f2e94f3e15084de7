"""Forces and constraints between points of bodies: springs that stretch, dampers, cylinders, tendons, rods."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import pairwise

import numpy as np

from ..model.constraints import Distance, PointOnCurve, PointOnSurface, Rolling
from ..model.forces import Actuator, Bushing, Contact, HydraulicCylinder, SpringDamper, Tendon
from ..model.pose import Pose, Rotation, unit_axis
from ..types import FloatArray
from .bodies import DARK, PALE
from .contacts import contact_parts
from .glyphs import CUT
from .outline import Outline, matrix
from .scene import Colour, Part, Span
from .solids import cylinder, ring, rod, sphere, spring

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
            yield Span(label, "springs", rod(), PALE, 0.42 * w, a, b, share=(0.0, 0.6))
            yield Span(label, "springs", rod(), DARK, 0.22 * w, a, b)
    elif isinstance(force, HydraulicCylinder):
        a, b, w = o.anchor(force.a, force.at_a), o.anchor(force.b, force.at_b), 0.02 * o.size
        yield Span(label, "springs", rod(), PALE, w, a, b, share=(0.0, 0.6))
        yield Span(label, "springs", rod(), DARK, 0.5 * w, a, b)
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
