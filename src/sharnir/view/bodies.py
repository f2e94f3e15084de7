"""What a body looks like: its own visuals, its shape, and where it has neither, bars between its joints."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np

from ..errors import ModelError
from ..model.body import Body
from ..model.pose import Pose, Rotation
from ..model.shapes import Box, Cylinder, Rod, Shape, Sphere
from ..types import FloatArray
from .outline import Outline, matrix
from .scene import Colour, Geometry, Part
from .solids import ROUND, box, cylinder, rod, sphere

PALETTE: tuple[Colour, ...] = (
    (0.29, 0.47, 0.66, 1.0), (0.88, 0.56, 0.25, 1.0), (0.42, 0.62, 0.42, 1.0), (0.75, 0.38, 0.36, 1.0), (0.53, 0.46, 0.66, 1.0),
    (0.36, 0.62, 0.66, 1.0), (0.80, 0.68, 0.35, 1.0), (0.60, 0.52, 0.46, 1.0),
)  # fmt: skip
"""Of bodies that have no colour, in turn: neighbours differ."""

DARK: Colour = (0.20, 0.22, 0.25, 1.0)
PALE: Colour = (0.55, 0.58, 0.62, 1.0)


def shape_part(body: Body, shape: Shape, sides: int = ROUND) -> tuple[Geometry, FloatArray]:
    """The solid of a shape and where it is in the body."""
    at = shape.placement()
    match shape:
        case Box():
            return box(), matrix(at, shape.size)
        case Cylinder():
            return cylinder(round(shape.hole / shape.radius, 3), sides), matrix(at, (shape.radius, shape.radius, shape.length))
        case Sphere():
            return sphere(sides), matrix(at, (shape.radius,) * 3)
        case Rod():
            length = float(shape.length())
            radius = shape.radius or 0.015 * length  # a thin rod must be seen
            return cylinder(0.0, sides), matrix(at, (radius, radius, length))
    raise ModelError(f"body {body.name!r}: a shape {type(shape).__name__} has no picture")


def bars(o: Outline, i: int, colour: Colour) -> Iterator[Part]:
    """A body of which only joints and masses are known: bars between its joints; one that carries nothing, by its inertia."""
    body, w = o.model.bodies[i], o.width(i)
    points = _distinct(o.attached[i], 1e-6 * o.size)
    com = np.array(body.com, dtype=float)
    name = f"body {body.name}"
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
        if far is None and body.mass > 0.0:
            geometry, at = ellipsoid(body, 0.02 * o.size, o.sides)
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
    yield Part(
        f"centre of mass of {body.name}", "mass", sphere(o.sides), (0.95, 0.75, 0.10, 1.0), i, matrix(Pose(body.com), (r, r, r))
    )  # fmt: skip
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
        semi = np.maximum(semi, 0.03 * semi.max())  # a rod has no thickness, its ellipsoid must be seen all the same
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
