"""A tyre on a road, the base class of tyre models: contact, load, slip and the places of forces."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from ...errors import ModelError
from ...kernels.algebra import ZERO3, add, cross, dot, neg, scale, sub
from ...trace import Number, is_zero
from ...trace.functions import atan, maximum, select, sqrt
from ..body import GROUND
from ..element import element, element_field, not_negative, positive
from ..motion import Motion
from ..pose import Axis, unit_axis
from ..shapes import height_derivatives
from ..values import AxisValue, Function, Label, Name, Vector
from .force_element import ForceElement, Numbers

if TYPE_CHECKING:
    pass

# --- the road's tangent plane, and the lowest point of a thin disc on it
Triple = Sequence[Number]
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

    normal: Triple
    """Normal of the road, upward."""
    ahead: Triple
    """Heading of the wheel along the road."""
    left: Triple
    down: Triple
    """Unit vector from the centre of the wheel to the contact point, in the plane of the wheel."""
    radius: Number
    """The loaded radius: from the centre of the wheel to the road along `down`."""
    cosine: Number
    """Cosine of the camber."""
    sine: Number
    """Sine of the camber, positive where the top of the wheel leans to the left."""


def contact_point(centre: Triple, axis: Triple, road: Number | Height, on: Motion, label: str) -> ContactPoint:
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


def _on_plane(centre: Triple, axis: Triple, point: Triple, normal: Triple) -> ContactPoint:
    tilt = dot(axis, normal)
    cosine = sqrt(maximum(1.0 - tilt * tilt, FLATTEST))
    down = scale(sub(scale(axis, tilt), normal), 1.0 / cosine)
    ahead = scale(cross(axis, normal), 1.0 / cosine)
    radius = dot(normal, sub(centre, point)) / cosine
    return ContactPoint(normal, ahead, cross(normal, ahead), down, radius, cosine, -tilt)


# --- the base class of tyres
STATES = ("along", "across")
"""Longitudinal and lateral slip, of a tyre with a relaxation length."""
LARGEST = 4.0
"""Slip that states do not exceed, far beyond where a tyre slides: those of a wheel that spins on the spot would grow on."""
DAMPED = 0.1
"""Damping of the slip states at rest, per slip speed and low speed."""
TINY = 1e-9


class Slip(NamedTuple):
    """The motion as a tyre model sees it. A positive slip gives a positive force."""

    load: Number
    """Force of the road along its normal, N, not negative."""
    along: Number
    """Longitudinal slip."""
    across: Number
    """Tangent of the slip angle (or lateral theoretical slip)."""
    camber: Number
    """rad, positive where the top of the wheel leans to the left."""
    sense: Number
    """1 rolling forward, −1 backward, between them at low speed."""


@element()
class Tyre(ForceElement):
    """A wheel's tyre on a road. Subclasses define `forces`: how they follow from load, slip and camber.

    The wheel is a thin disc, the road its tangent plane at the contact point (Pacejka, Tire and Vehicle Dynamics, chapter 2).
    Axes at the contact: x ahead, y to the left (the axis of the wheel), z up. docs/tyres.md has the formulas and the signs.
    """

    wheel: str = element_field(Name("body"), meaning="the body that the tyre is part of, which spins")
    radius: float = positive(unit="m", meaning="radius of the unloaded tyre")
    axis: Axis = element_field(
        AxisValue(), default="y", meaning="axis of the wheel, in its body; points to the left of a wheel that heads forward"
    )
    centre: Sequence[float] = element_field(
        Vector(3), default=ZERO3, unit="m", meaning="centre of the wheel, in its body's axes; on the axis"
    )
    road: float | Callable[[Any, Any], Any] = element_field(
        Function(("x", "y"), or_number=True), default=0.0, unit="m", meaning="z of the road, a number or a function of x and y"
    )
    of: str = element_field(Name("body"), default=GROUND, meaning="the body that the road is part of; x, y, z are in its axes")
    stiffness: float = positive(default=2e5, unit="N/m", meaning="of the spring on the loaded radius")
    damping: float = not_negative(default=0.0, unit="N s/m", meaning="of the damper on the loaded radius")
    onset: float = positive(default=1e-3, unit="m", meaning="deflection over which the damper sets in")
    rolling_radius: float | None = positive(
        default=None, unit="m", meaning="effective rolling radius; by default the radius less a third of the deflection"
    )
    rolling_resistance: float = not_negative(default=0.0, meaning="moment against rolling, per load and loaded radius")
    low_speed: float = positive(
        default=1.0, unit="m/s", meaning="below it slip is less than slip speed over speed, and finite at rest"
    )
    relaxation: float = not_negative(
        default=0.0, unit="m", meaning="relaxation length: slip is a state that follows over this way; 0: at once"
    )
    name: str | None = element_field(Label(), default=None, key="")

    watches = True
    theoretical: ClassVar[bool] = False
    """Whether slip is per rolling speed (theoretical slip) and not per speed of travel."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.wheel == self.of:
            raise ModelError(f"{self.label}: wheel and road are both {self.wheel!r}; specify the road's body as of=…")

    def forces(self, slip: Slip, n: Numbers) -> tuple[Number, Number, Number]:
        """Longitudinal force (N), lateral force (N), aligning moment (N m), on the tyre. `n`: the numbers of its fields."""
        raise ModelError(
            f"{type(self).__name__} on wheel {self.wheel!r} has no forces of slip: use MagicFormulaTyre, BrushTyre, or "
            "a subclass of Tyre that defines forces(slip, n)"
        )

    def formula(self, on: Motion, n: Numbers) -> Number:
        road, wheel = on.pose(self.of), on.pose(self.wheel)
        turned = road.rotation.T
        centre = road.inverse() @ (wheel @ n["centre"])
        axis = turned @ (wheel.rotation @ unit_axis(self.axis, self.label))
        c = contact_point(centre, axis, self.road if callable(self.road) else n["road"], on, self.label)
        # velocities relative to the road, in its axes: of the contact point as part of the wheel but for its spin, and the spin
        touching = add(centre, scale(c.down, c.radius))
        on_wheel = wheel.inverse() @ (road @ touching)
        whole = turned @ sub(on.point(self.wheel, on_wheel)[1], on.point(self.of, touching)[1])
        spin = dot(axis, turned @ sub(on.spin(self.wheel), on.spin(self.of)))
        speed = dot(c.ahead, whole) + c.radius * spin
        deflection = n["radius"] - c.radius
        on.watch(-deflection)
        load, stored = self._vertical(deflection, -dot(c.normal, whole) / c.cosine, n)
        load = load / c.cosine  # its component in the plane of the wheel is the force of spring and damper
        effective = n["radius"] - deflection / 3.0 if self.rolling_radius is None else n["rolling_radius"]
        rolling = effective * spin
        drift = dot(c.left, whole)
        travel, camber = _at_least(speed, n["low_speed"]), atan(c.sine / c.cosine)
        reference = rolling if self.theoretical else speed
        slip = Slip(load, *self._slip(on, rolling - speed, -drift, reference, n), camber, speed / travel)
        along, across, aligning = self.forces(slip, n)
        resistance = -n["rolling_resistance"] * load * c.radius * rolling / _at_least(rolling, n["low_speed"])
        # the moment about the wheel's axis is that of the effective radius: the power is then force times slip speed
        about_axis = resistance + along * (c.radius - effective)
        force = add(scale(c.normal, load), add(scale(c.ahead, along), scale(c.left, across)))
        moment = add(scale(c.normal, aligning), scale(axis, about_axis))
        on.push(self.wheel, road.rotation @ force, on_wheel, road.rotation @ moment)
        on.push(self.of, road.rotation @ neg(force), touching, road.rotation @ neg(moment))
        for what, value, unit in (
            ("vertical force", load, "N"), ("longitudinal force", along, "N"), ("lateral force", across, "N"),
            ("aligning moment", aligning, "N m"), ("longitudinal slip", slip.along, ""), ("lateral slip", slip.across, ""),
            ("slip angle", atan(-drift / travel), "rad"), ("camber", camber, "rad"), ("deflection", deflection, "m"),
        ):  # fmt: skip
            on.observe(what, value, unit)
        return stored

    def _slip(self, on: Motion, along: Number, across: Number, speed: Number, n: Numbers) -> tuple[Number, Number]:
        """Longitudinal and lateral slip of the given slip speeds; with a relaxation length σ those that follow them,
        σ ds/dt = slip speed − |speed| s: at rest a spring, which is damped."""
        low = n["low_speed"]
        if is_zero(self.relaxation):
            reference = _at_least(speed, low)
            return along / reference, across / reference
        leak = maximum(abs(speed), sqrt(along * along + across * across + TINY * TINY) / LARGEST)
        near = maximum(1.0 - speed * speed / (low * low), 0.0)
        found = []
        for name, slip_speed in zip(STATES, (along, across), strict=True):
            slip = on.state(name)
            on.rate(name, (slip_speed - leak * slip) / n["relaxation"])
            found.append(slip + DAMPED * near * near * slip_speed / low)
        return found[0], found[1]

    def states(self, on: Motion) -> Mapping[str, float]:
        return {} if is_zero(self.relaxation) else dict.fromkeys(STATES, 0.0)

    def _vertical(self, deflection: Number, rate: Number, n: Numbers) -> tuple[Number, Number]:
        """Force of spring and damper along the loaded radius, never pulling, and the energy of the spring."""
        pressed = maximum(deflection, 0.0)
        s = pressed / n["onset"]
        share = select(s < 1.0, s * s * (3.0 - 2.0 * s), 1.0)
        force = maximum(n["stiffness"] * pressed + n["damping"] * share * rate, 0.0)
        return force, 0.5 * n["stiffness"] * pressed * pressed


def _at_least(speed: Number, low: Number) -> Number:
    """|speed|; below `low` a parabola with the same value and slope there, low/2 at rest."""
    slow = speed * speed < low * low
    return select(slow, 0.5 * (low + speed * speed / low), abs(speed))
