"""Distances of a point from the surfaces that bodies touch, and the normals there. Inside they are negative."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...kernels.algebra import dot, mtv, mv, scale, sub
from ...trace import Number
from ...trace.functions import maximum, minimum, select, sqrt
from ..motion import Motion, Vector
from ..pose import Pose
from ..shapes import Box, HeightFunction, Plane, Sphere
from .force_element import Numbers

NEWTON = 4
"""Steps to the nearest point of a height function: each doubles the digits."""


class Surface:
    """A surface fixed to a body: its numbers, and the distance of a point from it. All points are in the axes of the body."""

    numbers: dict[str, Any]
    varies = False
    """Whether its normal differs from place to place near a ring."""

    def distance(self, on: Motion, n: Numbers, p: Vector) -> tuple[Number, Vector]:
        """Distance of p, and the normal: the unit vector along which it grows."""
        raise NotImplementedError

    def normal(self, on: Motion, n: Numbers, p: Vector) -> Vector:
        """The normal of the surface near p."""
        return self.distance(on, n, p)[1]

    def key(self) -> tuple[Any, ...]:
        """The formula apart from its numbers: equal for surfaces that share it."""
        return (type(self),)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Surface) and self.key() == other.key()

    def __hash__(self) -> int:
        return hash(self.key())


class FlatSurface(Surface):
    def __init__(self, plane: Plane) -> None:
        up = plane.at.rotation.entries[2::3]
        self.numbers = {"up": up, "level": dot(up, plane.at.position)}

    def distance(self, on: Motion, n: Numbers, p: Vector) -> tuple[Number, Vector]:
        return dot(n["up"], p) - n["level"], n["up"]


class RoundSurface(Surface):
    def __init__(self, sphere: Sphere) -> None:
        self.numbers = {"middle": sphere.at.position, "round": sphere.radius}

    def distance(self, on: Motion, n: Numbers, p: Vector) -> tuple[Number, Vector]:
        x = sub(p, n["middle"])
        square = dot(x, x)
        size = sqrt(select(square > 0.0, square, 1.0))
        return select(square > 0.0, size, 0.0) - n["round"], scale(x, 1.0 / size)


class PlacedSurface(Surface):
    """A surface in axes of its own."""

    def __init__(self, at: Pose, **numbers: Any) -> None:
        self.numbers = {"place": at.position, "axes": at.rotation.entries, **numbers}

    def distance(self, on: Motion, n: Numbers, p: Vector) -> tuple[Number, Vector]:
        found, normal = self.own_distance(on, n, mtv(n["axes"], sub(p, n["place"])))
        return found, mv(n["axes"], normal)

    def own_distance(self, on: Motion, n: Numbers, p: Vector) -> tuple[Number, Vector]:
        raise NotImplementedError


class BoxSurface(PlacedSurface):
    def __init__(self, box: Box) -> None:
        super().__init__(box.at, half=tuple(0.5 * x for x in box.size))

    def own_distance(self, on: Motion, n: Numbers, p: Vector) -> tuple[Number, Vector]:
        """Distance and normal of the nearest point of the box where p is outside, of the nearest face inside."""
        sign = [select(x < 0.0, -1.0, 1.0) for x in p]
        q = [s * x - h for s, x, h in zip(sign, p, n["half"], strict=True)]
        beyond = [maximum(x, 0.0) for x in q]
        square = dot(beyond, beyond)
        outside = square > 0.0
        size = sqrt(select(outside, square, 1.0))
        on_x, on_y = (q[0] >= maximum(q[1], q[2])), q[1] >= q[2]
        face = (select(on_x, 1.0, 0.0), select(on_x, 0.0, select(on_y, 1.0, 0.0)), select(on_x, 0.0, select(on_y, 0.0, 1.0)))
        distance = select(outside, size, minimum(maximum(q[0], maximum(q[1], q[2])), 0.0))
        normal = tuple(s * select(outside, b / size, f) for s, b, f in zip(sign, beyond, face, strict=True))
        return distance, normal


class GroundSurface(PlacedSurface):
    """The graph of a function: the nearest point is found by Newton's method from the point below p, which needs a radius of
    curvature that is larger than the distance."""

    varies = True

    def __init__(self, ground: HeightFunction) -> None:
        super().__init__(ground.at)
        self.ground = ground

    def key(self) -> tuple[Any, ...]:
        return type(self), self.ground.height

    def own_distance(self, on: Motion, n: Numbers, p: Vector) -> tuple[Number, Vector]:
        x, y = p[0], p[1]
        for _ in range(NEWTON):
            x, y = self._nearer(on, x, y, p)
        f, up = self._up(on, x, y)
        return dot(up, sub(p, (x, y, f))), up

    def normal(self, on: Motion, n: Numbers, p: Vector) -> Vector:
        own = mtv(n["axes"], sub(p, n["place"]))
        return mv(n["axes"], self._up(on, own[0], own[1])[1])

    def _heights(self, on: Motion, x: Number, y: Number) -> tuple[Number, ...]:
        found = self.ground.derivatives
        return found(x, y, parameters={name: on.parameter(name) for name in found.parameters})

    def _up(self, on: Motion, x: Number, y: Number) -> tuple[Number, Vector]:
        f, fx, fy, *_ = self._heights(on, x, y)
        size = sqrt(1.0 + fx * fx + fy * fy)
        return f, (-fx / size, -fy / size, 1.0 / size)

    def _nearer(self, on: Motion, x: Number, y: Number, p: Vector) -> tuple[Number, Number]:
        """One step of Newton's method for the stationary point of ½|(x, y, f) − p|²."""
        f, fx, fy, fxx, fxy, fyy = self._heights(on, x, y)
        above = f - p[2]
        gx, gy = x - p[0] + above * fx, y - p[1] + above * fy
        hxx, hxy, hyy = 1.0 + fx * fx + above * fxx, fx * fy + above * fxy, 1.0 + fy * fy + above * fyy
        determinant = hxx * hyy - hxy * hxy
        safe = determinant > 0.1  # elsewhere p is beyond the centre of curvature, and the point below it is taken
        d = select(safe, determinant, 1.0)
        return select(safe, x - (hyy * gx - hxy * gy) / d, p[0]), select(safe, y - (hxx * gy - hxy * gx) / d, p[1])


SURFACES: dict[type, Callable[[Any], Surface]] = {
    Plane: FlatSurface, HeightFunction: GroundSurface, Sphere: RoundSurface, Box: BoxSurface,
}  # fmt: skip


def surface_of(what: Plane | HeightFunction | Sphere | Box) -> Surface:
    return SURFACES[type(what)](what)
