"""Where a wheel meets the road: the road's tangent plane, and the lowest point of a thin disc on it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from ...kernels.algebra import add, cross, dot, scale, sub
from ...trace import Expression, Graph, Number, call_traced, check_numbers, tangent
from ...trace.functions import maximum, sqrt

if TYPE_CHECKING:
    from ..motion import Motion

Vector = Sequence[Number]
Height = Callable[[Any, Any], Any]
FLAT = (0.0, 0.0, 1.0)
FLATTEST = 1e-6
"""The smallest square of the cosine of camber: a wheel that lies on its side has no lowest point."""


class Contact(NamedTuple):
    """The contact of a disc with the tangent plane, in the axes of the road."""

    normal: Vector
    """Of the road, upward."""
    ahead: Vector
    """Where the wheel heads along the road."""
    left: Vector
    down: Vector
    """From the centre of the wheel to the contact point, of length one, in the plane of the wheel."""
    radius: Number
    """The loaded radius: from the centre of the wheel to the road along `down`."""
    cosine: Number
    """Of the camber."""
    sine: Number
    """Of the camber, positive where the top of the wheel leans to the left."""


def contact(centre: Vector, axis: Vector, road: Number | Height, on: Motion, label: str) -> Contact:
    """The contact of a disc about `axis` (a unit vector to the left) with a road of constant height, or of height(x, y).

    The tangent plane of an uneven road is taken below the contact point that follows from the plane below the centre: exact for
    planes of any slope, and to second order in the road's curvature times radius."""
    if not callable(road):
        return _on_plane(centre, axis, (centre[0], centre[1], road), FLAT)
    surface = _traced(road, label)
    first = _on_plane(centre, axis, *_plane(surface, centre, on))
    return _on_plane(centre, axis, *_plane(surface, add(centre, scale(first.down, first.radius)), on))


def _on_plane(centre: Vector, axis: Vector, point: Vector, normal: Vector) -> Contact:
    tilt = dot(axis, normal)
    cosine = sqrt(maximum(1.0 - tilt * tilt, FLATTEST))
    down = scale(sub(scale(axis, tilt), normal), 1.0 / cosine)
    ahead = scale(cross(axis, normal), 1.0 / cosine)
    radius = dot(normal, sub(centre, point)) / cosine
    return Contact(normal, ahead, cross(normal, ahead), down, radius, cosine, -tilt)


def _plane(surface: Expression, below: Vector, on: Motion) -> tuple[Vector, Vector]:
    """A point of the road's tangent plane, and its normal."""
    parameters = {name: on.parameter(name) for name in surface.parameters}
    z, along_x, along_y = surface(below[0], below[1], parameters=parameters)
    length = sqrt(1.0 + along_x * along_x + along_y * along_y)
    return (below[0], below[1], z), scale((-along_x, -along_y, 1.0), 1.0 / length)


def _traced(height: Height, label: str) -> Expression:
    """(x, y) -> height and its slopes along x and y."""
    graph = Graph()
    x, y = graph.input(), graph.input()
    z = check_numbers((call_traced(height, [x, y], f"{label}: road"),), graph, f"{label}: road")
    return Expression(graph, [x, y], [*z, *tangent(z, {x: 1.0}), *tangent(z, {y: 1.0})])
