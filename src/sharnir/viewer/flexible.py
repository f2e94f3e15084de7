"""Flexible bodies, drawn as they are deformed: beams in short pieces of their section, others by their nodes."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..model.flexible import FlexibleBeam, ModalBody
from ..model.pose import Pose
from ..types import FloatArray
from .outline import Outline
from .scene import Anchor, Colour, Part, Span
from .solids import prism, rod, sphere

PIECES, FEW_PIECES = 24, 8
"""Pieces of a beam; fewer in models of many bodies."""
OVERLAP = 1.02
"""Length of a piece over its share: at a bend the outer side stays closed."""
MOST_NODES = 100
"""Largest number of nodes that are drawn of a body."""


def flexible_parts(o: Outline, i: int, colour: Colour) -> Iterator[Part | Span]:
    body = o.model.bodies[i]
    if isinstance(body.flexible, FlexibleBeam):
        yield from _beam(o, f"body {body.name}", body.name, body.flexible, colour)
    elif isinstance(body.flexible, ModalBody):
        yield from _nodes(o, f"body {body.name}", i, body.flexible, colour)


def _beam(o: Outline, label: str, name: str, beam: FlexibleBeam, colour: Colour) -> Iterator[Part]:
    pieces = PIECES if o.sides > 8 else FEW_PIECES
    geometry = prism(tuple(beam.section.outline()))
    at = np.diag([OVERLAP * beam.length / pieces, 1.0, 1.0, 1.0])
    for k in range(pieces):
        carrier, _ = o.carriers.carry(name, Pose(((k + 0.5) * beam.length / pieces, 0.0, 0.0)))
        yield Part(label, "bodies", geometry, colour, carrier, at)


def _nodes(o: Outline, label: str, i: int, body: ModalBody, colour: Colour) -> Iterator[Part | Span]:
    """Small balls, joined to the root by rods."""
    name, r = o.model.bodies[i].name, 0.8 * o.width(i)
    points = list(body.nodes.values())[:: -(-len(body.nodes) // MOST_NODES)]
    root = _anchor(o, name, np.array(o.model.structure.deformations[i + 1].shapes.root))
    for point in points:
        end = _anchor(o, name, np.array(point, dtype=float))
        yield Part(label, "bodies", sphere(12), colour, end.carrier, np.diag([r, r, r, 1.0]))
        if end.carrier != root.carrier:
            yield Span(label, "bodies", rod(8), colour, 0.4 * r, root, end)


def _anchor(o: Outline, name: str, point: FloatArray) -> Anchor:
    carrier, at = o.carriers.carry(name, Pose(point.tolist()))
    return Anchor(carrier, np.array(at.position, dtype=float))
