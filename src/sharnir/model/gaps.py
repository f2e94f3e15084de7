"""Gaps between bodies as functions of the motion, each with the slip of the two surfaces at the nearest points."""

from __future__ import annotations

import math

from ..errors import ModelError
from ..kernels.algebra import add, cross, dot, scale, sub
from ..trace import Number
from ..trace.functions import minimum, sqrt
from .body import GROUND
from .element import Element, element, element_field
from .motion import ORIGIN, Motion
from .values import Name, Scalar
from .values import Vector as Numbers

Point = tuple[Number, ...]


@element()
class JointEnds(Element):
    """How far a joint is from the nearer end of its travel."""

    joint: str = element_field(Name("joint"), meaning="the joint, or one coordinate of it: joint.coordinate")
    low: float | None = element_field(
        Scalar(), default=None, unit="rad, m", meaning="lower end; by default both ends are the joint's own limits"
    )
    high: float | None = element_field(Scalar(), default=None, unit="rad, m", meaning="upper end; none where only low is given")

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
            low, high = (limits[0] if hasattr(limits[0], "__len__") else limits) if limits is not None else (None, None)
        x = on.coordinates(self.joint)[0]
        below = None if low is None or low == -float("inf") else x - low
        above = None if high is None or high == float("inf") else high - x
        if below is None and above is None:
            raise ModelError(f"{self.label}: the joint has no limits; give low=…, high=…")
        if below is None or above is None:
            return below if above is None else above
        return minimum(below, above)


@element()
class SphereAbovePlane(Element):
    """How far a sphere fixed in a body is from a plane fixed in another, or in the ground."""

    body: str = element_field(Name("body"), meaning="the body of the sphere")
    radius: float = element_field(Scalar(at_least=0.0), unit="m", meaning="its radius; 0 for a point")
    at: Point = element_field(Numbers(3), default=ORIGIN, unit="m", meaning="its centre, in the axes of the body")
    plane: str = element_field(Name("body"), default=GROUND, meaning="the body of the plane")
    normal: Point = element_field(
        Numbers(3), default=(0.0, 0.0, 1.0), meaning="of the plane, out of what is solid, in the axes of its body"
    )
    height: float = element_field(Scalar(), default=0.0, unit="m", meaning="of the plane along its normal")

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
    radius: float = element_field(Scalar(at_least=0.0), unit="m", meaning="radius of the first")
    other_radius: float = element_field(Scalar(at_least=0.0), unit="m", meaning="radius of the second")
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
    """Without its part along a unit normal."""
    return tuple(sub(velocity, scale(normal, dot(normal, velocity))))
