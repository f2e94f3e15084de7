"""Impacts: bodies that meet without interpenetrating, by momentum, and stay in contact where they come to rest."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any

from ..errors import ModelError, StateError
from ..kernels.algebra import add, cross, dot, scale, sub
from ..trace import Number
from ..trace.functions import minimum, sqrt
from .body import GROUND
from .constraints.constraint_element import Constraint
from .element import Element, element, element_field, not_negative, number, positive
from .formulas import SignalFormula
from .joints.closing_rows import Row
from .motion import ORIGIN, Motion
from .values import Function, Label, Name, NamedFormula, coordinate_limits
from .values import Vector as Numbers

# --- gaps between bodies as functions of the motion, each with the slip of the two surfaces at the nearest points
Point = tuple[Number, ...]


@element()
class JointEnds(Element):
    """How far a joint is from the nearer end of its travel."""

    joint: str = element_field(Name("joint"), meaning="the joint, or one coordinate of it: joint.coordinate")
    low: float | None = number(default=None, unit="rad, m", meaning="lower end; by default both ends are the joint's own limits")
    high: float | None = number(default=None, unit="rad, m", meaning="upper end; none where only low is given")

    @property
    def label(self) -> str:
        return f"stop of joint {self.joint!r}" if isinstance(self.joint, str) else "stop"

    def __call__(self, on: Motion) -> Number:
        n = len(on.coordinates(self.joint))
        if n != 1:
            raise ModelError(f"{self.label}: it needs one coordinate, the joint has {n}; name one of them: 'joint.coordinate'")
        low, high = self.low, self.high
        if low is None and high is None:
            limits = on.joint(self.joint).limits
            low, high = coordinate_limits(limits) if limits is not None else (None, None)
        x = on.coordinates(self.joint)[0]
        gaps = [] if low is None or low == -math.inf else [x - low]
        gaps += [] if high is None or high == math.inf else [high - x]
        if not gaps:
            raise ModelError(f"{self.label}: the joint has no limits; give low=…, high=…")
        return reduce(minimum, gaps)


@element()
class SphereAbovePlane(Element):
    """How far a sphere fixed in a body is from a plane fixed in another, or in the ground."""

    body: str = element_field(Name("body"), meaning="the body of the sphere")
    radius: float = not_negative(unit="m", meaning="its radius; 0 for a point")
    at: Point = element_field(Numbers(3), default=ORIGIN, unit="m", meaning="its centre, in the axes of the body")
    plane: str = element_field(Name("body"), default=GROUND, meaning="the body of the plane")
    normal: Point = element_field(
        Numbers(3), default=(0.0, 0.0, 1.0), meaning="of the plane, out of what is solid, in the axes of its body"
    )
    height: float = number(default=0.0, unit="m", meaning="of the plane along its normal")

    def __post_init__(self) -> None:
        super().__post_init__()
        if not any(self.normal):
            raise ModelError("SphereAbovePlane: normal: expected a direction, got zeros")

    def __call__(self, on: Motion) -> Number:
        centre, n = on.point(self.body, self.at)[0], self._normal(on)
        return dot(n, sub(centre, on.pose(self.plane).position)) - (self.radius + self.height)

    def slip(self, on: Motion) -> Point:
        """Velocity of the sphere's surface over the plane, in the world."""
        (centre, velocity), n = on.point(self.body, self.at), self._normal(on)
        arm = scale(n, -self.radius)
        touched = sub(add(centre, arm), on.pose(self.plane).position)
        over = add(on.point(self.plane)[1], cross(on.spin(self.plane), touched))
        return tangential(sub(add(velocity, cross(on.spin(self.body, self.at), arm)), over), n)

    def _normal(self, on: Motion) -> Point:
        size = math.hypot(*self.normal)
        return tuple(on.pose(self.plane).rotation @ tuple(x / size for x in self.normal))


@element()
class SphereBesideSphere(Element):
    """How far two spheres fixed in two bodies are apart."""

    body: str = element_field(Name("body"), meaning="the body of the first sphere")
    other: str = element_field(Name("body"), meaning="the body of the second")
    radius: float = not_negative(unit="m", meaning="radius of the first")
    other_radius: float = not_negative(unit="m", meaning="radius of the second")
    at: Point = element_field(Numbers(3), default=ORIGIN, unit="m", meaning="centre of the first, in the axes of its body")
    other_at: Point = element_field(Numbers(3), default=ORIGIN, unit="m", meaning="centre of the second")

    def __call__(self, on: Motion) -> Number:
        apart = sub(on.point(self.other, self.other_at)[0], on.point(self.body, self.at)[0])
        return sqrt(dot(apart, apart)) - (self.radius + self.other_radius)

    def slip(self, on: Motion) -> Point:
        """Velocity of the second surface over the first, in the world."""
        (a, va), (b, vb) = on.point(self.body, self.at), on.point(self.other, self.other_at)
        apart = sub(b, a)
        n = scale(apart, 1.0 / sqrt(dot(apart, apart)))
        first = add(va, cross(on.spin(self.body, self.at), scale(n, self.radius)))
        return tangential(sub(add(vb, cross(on.spin(self.other, self.other_at), scale(n, -self.other_radius))), first), n)


def tangential(velocity: Point, normal: Point) -> Point:
    """A velocity without its part along a unit normal."""
    return tuple(sub(velocity, scale(normal, dot(normal, velocity))))


# --- what happens where a gap closes
REST_SPEED = 1e-5
"""m/s or rad/s: speed below which nothing bounces after an impact."""


@element()
class Impact(Element):
    """A jump of the speeds of the whole mechanism where `gap` falls to zero; give it to `simulate` among its events."""

    gap: Callable[[Motion], Any] = element_field(
        NamedFormula(SignalFormula, example="sharnir.SignalFormula('position.ball.z - 0.1')"),
        meaning="a function of sharnir.Motion that reads t and positions and returns a distance, or an angle, positive where "
        "bodies are apart; in files a formula such as position.ball.z - 0.1",
    )
    restitution: float = not_negative(default=0.5, meaning="speed of the gap after an impact, relative to that before: 0 … 1")
    friction: float = not_negative(default=0.0, meaning="Coulomb's coefficient of the impulse along the surfaces; needs slip")
    name: str = element_field(Label(), default="", meaning="its name in the result")
    rest_speed: float = positive(
        default=REST_SPEED,
        unit="m/s, rad/s",
        meaning="approach slower than this does not bounce, and where forces press the bodies together they stay in contact",
    )
    slip: Callable[[Motion], Sequence[Any]] | None = element_field(
        Function(("Motion",)),
        default=None,
        key="",
        meaning="a function of sharnir.Motion: the velocity of the one surface over the other where they touch; gaps of spheres "
        "have their own",
    )
    _error = StateError

    @property
    def label(self) -> str:
        return f"impact {self.name!r}" if isinstance(self.name, str) and self.name else "impact"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.restitution > 1.0:
            raise StateError(f"{self.label}: restitution: expected a number from 0 to 1, got {self.restitution!r}")
        if self.friction and self.slipping is None:
            raise StateError(
                f"{self.label}: friction needs the velocity of one surface over the other: give slip=…, or take "
                "Impact.sphere or Impact.spheres, which have it"
            )

    @property
    def slipping(self) -> Callable[[Motion], Sequence[Any]] | None:
        return self.slip or getattr(self.gap, "slip", None)

    # --- ready ones -------------------------------------------------------------------------------------------------------
    @staticmethod
    def stop(joint: str, low: float | None = None, high: float | None = None, **options: Any) -> Impact:
        """Impact at the ends of the travel of a joint of one coordinate ("joint.coordinate" where it has several): its limits,
        or the ends given here. `options`: restitution, name …"""
        return Impact(JointEnds(joint, low, high), **{"name": f"stop of {joint}", **options})

    @staticmethod
    def sphere(
        body: str,
        radius: float = 0.0,
        *,
        at: Sequence[float] = ORIGIN,
        plane: str = GROUND,
        normal: Sequence[float] = (0.0, 0.0, 1.0),
        height: float = 0.0,
        **options: Any,
    ) -> Impact:
        """Impact of a sphere (a point, where it has no radius) fixed in a body on a plane: the floor, or n·x = height in the axes
        of another body."""
        gap = SphereAbovePlane(body, radius, tuple(at), plane, tuple(normal), height)
        return Impact(gap, **{"name": f"{body} on {plane}", **options})

    @staticmethod
    def spheres(
        body: str,
        other: str,
        radius: float,
        other_radius: float | None = None,
        *,
        at: Sequence[float] = ORIGIN,
        other_at: Sequence[float] = ORIGIN,
        **options: Any,
    ) -> Impact:
        """Impact of two spheres fixed in two bodies, by default of one radius."""
        gap = SphereBesideSphere(
            body, other, radius, radius if other_radius is None else other_radius, tuple(at), tuple(other_at)
        )
        return Impact(gap, **{"name": f"{body} on {other}", **options})


APART, NEAR, PRESSED = 0.0, 1.0, 2.0
"""Values of the parameter that says how a contact is; near: bodies touch, and nothing presses them together."""


class Touching(Constraint):
    """The gap of an impact held at zero while bodies are pressed together; no constraint at all otherwise."""

    switched = True

    def __init__(self, impact: Impact, switch: str) -> None:
        self.gap, self.switch = impact.gap, switch

    def positions(self, on: Motion) -> Sequence[Row]:
        return [("touching", pressed(on.parameter(self.switch)) * self.gap(on))]


def pressed(contact: Any) -> Any:
    """1 where a contact is pressed, 0 where it is apart or near."""
    return 0.5 * contact * (contact - NEAR)


def near(contact: Any) -> Any:
    """1 where a contact is near, 0 elsewhere."""
    return contact * (PRESSED - contact)
