"""Bodies as they are drawn: by their shapes, else as bars between joints; flexible ones deformed; ellipsoids of inertia."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np

from ..model.body import Body
from ..model.constraints import Rolling
from ..model.flexible import FlexibleBeam, ModalBody
from ..model.pose import Pose, Rotation
from ..model.shapes import Shape
from ..model.visual import primitive_of
from ..types import FloatArray
from .outline import Outline, matrix
from .scene import Colour, Geometry, Part, Span
from .solids import ROUND, box, capsule, cylinder, prism, ring, rod, sphere, square

PALETTE: tuple[Colour, ...] = (
    (0.29, 0.47, 0.66, 1.0), (0.88, 0.56, 0.25, 1.0), (0.42, 0.62, 0.42, 1.0), (0.75, 0.38, 0.36, 1.0), (0.53, 0.46, 0.66, 1.0),
    (0.36, 0.62, 0.66, 1.0), (0.80, 0.68, 0.35, 1.0), (0.60, 0.52, 0.46, 1.0),
)  # fmt: skip
"""Colours of bodies without one, in turn: neighbours differ."""
SIZES = {
    "box": (3,), "cylinder": (2, 3), "capsule": (2,), "sphere": (1,), "torus": (2,), "ellipsoid": (3,), "plane": (2,),
    "hfield": (4,),
}  # fmt: skip
"""Numbers of sizes that each kind may have."""
DARK: Colour = (0.20, 0.22, 0.25, 1.0)
PALE: Colour = (0.55, 0.58, 0.62, 1.0)


def shape_part(shape: Shape, sides: int = ROUND) -> tuple[Geometry, FloatArray]:
    """The solid of a shape and where it is in the body."""
    kind, sizes = primitive_of(shape)
    made = solid(kind, shape.placement(), sizes, sides)
    assert made is not None, kind
    return made


def solid(kind: str, at: Pose, given: Sequence[float], sides: int = ROUND) -> tuple[Geometry, FloatArray] | None:
    """The solid of a primitive and where it is in its body; None where its kind or sizes say none."""
    sizes = [abs(float(x)) for x in given]
    if len(sizes) not in SIZES.get(kind, ()) or (not any(sizes) and kind != "plane"):
        return None
    sizes = sizes if kind == "plane" else [max(x, 1e-4 * max(sizes)) for x in sizes]  # what is flat still has two sides
    match kind, sizes:
        case "box", [x, y, z]:
            return box(), matrix(at, (x, y, z))
        case "cylinder", [r, length, *hole]:
            return cylinder(round(hole[0] / r, 3) if hole else 0.0, sides), matrix(at, (r, r, length))
        case "capsule", [r, length]:
            return capsule(round(length / r, 3), sides), matrix(at, (r, r, r))
        case "sphere", [r]:
            return sphere(sides), matrix(at, (r, r, r))
        case "torus", [r, tube]:
            return ring(round(tube / r, 3), 2 * sides), matrix(at, (r, r, r))
        case "ellipsoid", [x, y, z]:
            return sphere(sides), matrix(at, (x, y, z))
        case "plane", [x, y]:
            return square(), matrix(at, (x or 1.0, y or 1.0, 1.0))
        case "hfield", [x, y, _, below]:
            return box(), matrix(at @ Pose((0.0, 0.0, -0.5 * below)), (2.0 * x, 2.0 * y, below))
    return None


def bars(o: Outline, i: int, colour: Colour) -> Iterator[Part]:
    """Bars between the joints of a body without a shape; a body that carries nothing is drawn by its inertia."""
    body, w = o.model.bodies[i], o.width(i)
    points, com, name = _distinct(o.attached[i], 1e-6 * o.size), np.array(body.com, dtype=float), f"body {body.name}"
    if len(points) >= 3:
        hub = com if body.mass > 0.0 else np.mean(points, axis=0)
        for x in points:
            yield from _bar(o, name, i, hub, x, w, colour)
    elif len(points) == 2:
        yield from _bar(o, name, i, points[0], points[1], w, colour)
    else:
        root = points[0] if points else com
        far = _end_of_rod(body, root, com)
        yield from _bar(o, name, i, root, com if far is None else far, w, colour)
        rolls = any(isinstance(c, Rolling) and c.body == body.name for c in o.model.constraints.values())
        if far is None and body.mass > 0.0 and not rolls:  # a wheel is drawn by its constraint
            geometry, at = ellipsoid(body, min(0.02 * o.size, 0.5 * o.length(i)), o.sides)
            yield Part(name, "bodies", geometry, colour, i, at)


def struts(o: Outline, shape: Part) -> Iterator[Part]:
    """Thin bars from a shape to the joints and forces of its body that are outside it: a load and its rope."""
    i, at, back = shape.carrier, shape.at, np.linalg.inv(shape.at)
    low, high = shape.geometry.vertices.min(axis=0), shape.geometry.vertices.max(axis=0)
    for point in _distinct(o.attached[i], 1e-6 * o.size):
        nearest = np.clip(back[:3, :3] @ point + back[:3, 3], low, high)
        nearest = at[:3, :3] @ nearest + at[:3, 3]
        if np.linalg.norm(nearest - point) > o.width(i):
            yield from _bar(o, shape.name, i, point, nearest, 0.4 * o.width(i), shape.colour)


def mass_parts(o: Outline, i: int) -> Iterator[Part]:
    """Centre of mass and ellipsoid of inertia."""
    body = o.model.bodies[i]
    if body.mass <= 0.0:
        return
    r = 0.9 * o.width(i)
    at = matrix(Pose(body.com), (r, r, r))
    yield Part(f"centre of mass of {body.name}", "mass", sphere(o.sides), (0.95, 0.75, 0.10, 1.0), i, at)
    geometry, at = ellipsoid(body, 0.0, o.sides)
    if min(np.linalg.norm(at[:3, :3], axis=0)) > 0.0:
        yield Part(f"inertia of {body.name}", "mass", geometry, (0.95, 0.75, 0.10, 0.35), i, at)


def ellipsoid(body: Body, least: float, sides: int) -> tuple[Geometry, FloatArray]:
    """The uniform solid ellipsoid of the same mass and inertia: semi-axes √(5(J₂ + J₃ − J₁)/2m). Semi-axes are at least as
    given: a point mass must be seen."""
    moments, axes = np.linalg.eigh(np.asarray(body.inertia_matrix(), dtype=float))
    if np.linalg.det(axes) < 0.0:
        axes[:, 2] = -axes[:, 2]
    squares = 2.5 * (moments.sum() - 2.0 * moments) / body.mass
    semi = np.maximum(np.sqrt(np.maximum(squares, 0.0)), least)
    if least == 0.0:
        semi = np.maximum(semi, 0.03 * semi.max())  # a rod has no thickness, its ellipsoid must still be seen
    at = np.eye(4)
    at[:3, :3], at[:3, 3] = axes * semi, body.com
    return sphere(sides), at


def _end_of_rod(body: Body, root: FloatArray, com: FloatArray) -> FloatArray | None:
    """The far end, where the inertia is that of a uniform rod which begins at the joint: J = m(2d)²/12 across it."""
    d = com - root
    length = float(np.linalg.norm(d))
    if body.mass <= 0.0 or length == 0.0:
        return None
    J = np.asarray(body.inertia_matrix(), dtype=float)
    along = float(d @ J @ d) / length**2
    across = (np.trace(J) - along) / 2
    thin, like_rod = along < 0.1 * across, 0.7 < math.sqrt(3.0 * across / body.mass) / length < 1.3
    return root + 2.0 * d if thin and like_rod else None


def _bar(o: Outline, name: str, i: int, a: FloatArray, b: FloatArray, width: float, colour: Colour) -> Iterator[Part]:
    length = float(np.linalg.norm(b - a))
    if length > 1e-6 * o.size:
        at = Pose(a.tolist(), Rotation.align_z(((b - a) / length).tolist()))
        yield Part(name, "bodies", rod(min(o.sides, 12)), colour, i, matrix(at, (width, width, length)))


def _distinct(points: Sequence[FloatArray], apart: float) -> list[FloatArray]:
    found: list[FloatArray] = []
    for x in points:
        if all(np.linalg.norm(x - y) > apart for y in found):
            found.append(x)
    return found


# --- flexible bodies as they are deformed: beams in short pieces of their section, others by their nodes
PIECES, FEW_PIECES = 24, 8
"""Pieces of a beam; fewer in models of many bodies."""
OVERLAP = 1.02
"""Length of a piece over its share: at a bend the outer side stays closed."""
MOST_NODES = 100
"""Largest number of nodes that are drawn of a body."""


def flexible_parts(o: Outline, i: int, colour: Colour) -> Iterator[Part | Span]:
    """Pieces of a beam; nodes as small balls, joined to the root by rods."""
    name, flexible = o.model.bodies[i].name, o.model.bodies[i].flexible
    label, r = f"body {name}", 0.8 * o.width(i)
    if isinstance(flexible, FlexibleBeam):
        pieces, geometry = PIECES if o.sides > 8 else FEW_PIECES, prism(tuple(flexible.section.outline()))
        at = np.diag([OVERLAP * flexible.length / pieces, 1.0, 1.0, 1.0])
        for k in range(pieces):
            carrier, _ = o.carriers.carry(name, Pose(((k + 0.5) * flexible.length / pieces, 0.0, 0.0)))
            yield Part(label, "bodies", geometry, colour, carrier, at)
    elif isinstance(flexible, ModalBody):
        root = o.anchor(name, o.model.structure.deformations[i + 1].shapes.root)
        for point in list(flexible.nodes.values())[:: -(-len(flexible.nodes) // MOST_NODES)]:
            end = o.anchor(name, point)
            yield Part(label, "bodies", sphere(12), colour, end.carrier, np.diag([r, r, r, 1.0]))
            if end.carrier != root.carrier:
                yield Span(label, "bodies", rod(8), colour, 0.4 * r, root, end)
