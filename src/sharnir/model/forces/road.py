"""The contact of a wheel with the road: the road's tangent plane, and the lowest point of a thin disc on it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from ...kernels.algebra import add, cross, dot, scale, sub
from ...trace import Number
from ...trace.functions import maximum, sqrt
from ..surfaces import height_derivatives

if TYPE_CHECKING:
    from ..motion import Motion

Vector = Sequence[Number]
Height = Callable[[Any, Any], Any]
FLAT = (0.0, 0.0, 1.0)
FLATTEST = 1e-6
"""The smallest square of the cosine of camber: a wheel that lies on its side has no lowest point."""
CORRECTIONS = 2
"""Steps of Newton's method to the contact point."""
NARROWEST = 0.25
"""The smallest of 1 − curvature · radius that a step takes into account."""


class ContactPoint(NamedTuple):
    """The contact of a disc with the tangent plane, in the axes of the road."""

    normal: Vector
    """Normal of the road, upward."""
    ahead: Vector
    """Heading of the wheel along the road."""
    left: Vector
    down: Vector
    """Unit vector from the centre of the wheel to the contact point, in the plane of the wheel."""
    radius: Number
    """The loaded radius: from the centre of the wheel to the road along `down`."""
    cosine: Number
    """Cosine of the camber."""
    sine: Number
    """Sine of the camber, positive where the top of the wheel leans to the left."""


def contact_point(centre: Vector, axis: Vector, road: Number | Height, on: Motion, label: str) -> ContactPoint:
    """The contact of a disc about `axis` (a unit vector to the left) with a road of constant height, or of height(x, y).

    On an uneven road the contact point is the one in the plane of the wheel that is nearest to its centre: from the point below
    the centre by Newton's method, so that the force of a spring on the radius is conservative. A valley narrower than the wheel
    would be touched twice; here once."""
    if not callable(road):
        return _on_plane(centre, axis, (centre[0], centre[1], road), FLAT)
    surface = height_derivatives(road, f"{label}: road")
    parameters = {name: on.parameter(name) for name in surface.parameters}

    def below(x: Number, y: Number) -> tuple[ContactPoint, Number, Number]:
        """The contact with the tangent plane at this point of the road, and the next point."""
        z, along_x, along_y, xx, xy, yy = surface(x, y, parameters=parameters)
        steep = sqrt(1.0 + along_x * along_x + along_y * along_y)
        found = _on_plane(centre, axis, (x, y, z), scale((-along_x, -along_y, 1.0), 1.0 / steep))
        a = found.ahead
        curvature = (xx * a[0] * a[0] + 2.0 * xy * a[0] * a[1] + yy * a[1] * a[1]) / steep
        away = sub(add(centre, scale(found.down, found.radius)), (x, y, z))
        too_far = dot(away, a) * (1.0 - 1.0 / maximum(1.0 - curvature * found.radius, NARROWEST))
        return found, x + away[0] - too_far * a[0], y + away[1] - too_far * a[1]

    x, y = centre[0], centre[1]
    for _ in range(CORRECTIONS):
        _, x, y = below(x, y)
    return below(x, y)[0]


def _on_plane(centre: Vector, axis: Vector, point: Vector, normal: Vector) -> ContactPoint:
    tilt = dot(axis, normal)
    cosine = sqrt(maximum(1.0 - tilt * tilt, FLATTEST))
    down = scale(sub(scale(axis, tilt), normal), 1.0 / cosine)
    ahead = scale(cross(axis, normal), 1.0 / cosine)
    radius = dot(normal, sub(centre, point)) / cosine
    return ContactPoint(normal, ahead, cross(normal, ahead), down, radius, cosine, -tilt)
