"""Points where a shape touches a surface: the parts of a contact, each kind traced once; the laws of force there."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import reduce
from typing import TYPE_CHECKING, Any

from ...kernels.algebra import add, cross, dot, mtv, mv, neg, scale, sub
from ...trace import Number, is_zero
from ...trace.functions import exp, maximum, minimum, power, select, sqrt
from ..motion import ORIGIN, Motion, Vector
from ..shapes import Box, Sphere
from .bristle_friction import ELASTIC, slipping
from .contact_distance import Surface
from .force_element import Force, Numbers, size_of

if TYPE_CHECKING:
    from .contact import Contact

# --- the normal force of a contact as a function of how deep two surfaces are in each other, and how fast they approach
HUNT_CROSSLEY, KELVIN_VOIGT = "hunt-crossley", "kelvin-voigt"


def normal_force(
    law: str, exponent: Number, stiffness: Number, damping: Number, depth: Number, rate: Number
) -> tuple[Number, Number]:
    """Force (never tension) and stored energy k·depthⁿ⁺¹/(n + 1), both zero without contact.

    Hunt and Crossley 1975: k·depthⁿ·(1 + damping·rate). Kelvin and Voigt: k·depthⁿ + damping·rate.
    """
    touches = depth > 0.0
    x = select(touches, depth, 1.0)  # roots and powers, and their derivatives, exist for what is not chosen too
    elastic = stiffness * _power(x, exponent)
    with_damping = elastic * (1.0 + damping * rate) if law == HUNT_CROSSLEY else elastic + damping * rate
    return select(touches, maximum(with_damping, 0.0), 0.0), select(touches, elastic * x / (exponent + 1.0), 0.0)


def _power(x: Number, exponent: Number) -> Number:
    if isinstance(exponent, float) and exponent in (1.0, 1.5, 2.0):
        return {1.0: x, 1.5: x * sqrt(x), 2.0: x * x}[exponent]
    return power(x, exponent)


# --- friction of sliding and turning
def coefficient(n: Numbers, square: Number) -> Number:
    """μ + (μ_s − μ)·exp(−(v/v_s)²), given v²."""
    if is_zero(n["dip"]):
        return n["friction"]
    return n["friction"] + n["dip"] * exp(-square / (n["stribeck"] * n["stribeck"]))


def direction(velocity: Vector, slip: Number) -> tuple[Vector, Number]:
    """The direction of a velocity where it is faster than `slip`; below, x = v/slip, times (15x − 10x³ + 3x⁵)/8, which is twice
    continuously differentiable. And the square of the speed."""
    square = dot(velocity, velocity)
    x = square / (slip * slip)
    slow = x < 1.0
    rising = (15.0 - x * (10.0 - 3.0 * x)) / (8.0 * slip)
    return scale(velocity, select(slow, rising, 1.0 / sqrt(select(slow, 1.0, square)))), square


def sliding_friction(n: Numbers, normal: Number, velocity: Vector) -> Vector:
    """The force against a velocity of sliding."""
    if is_zero(n["friction"]) and is_zero(n["dip"]):
        return ORIGIN
    along, square = direction(velocity, n["slip"])
    return scale(along, -coefficient(n, square) * normal)


def turning_friction(arm: Number, slip: Number, normal: Number, turning: Vector) -> Vector:
    """The moment arm·N against an angular velocity: rolling resistance, or resistance to spin."""
    if is_zero(arm):
        return ORIGIN
    return scale(direction(turning, slip)[0], -arm * normal)


# --- friction that sticks: the surfaces hold each other by bristles, whose deflection is a state of the contact
RELEASE = 0.01
"""Seconds in which bristles straighten out that touch nothing."""
TINY = 1e-30


def bristle_friction(
    n: Numbers, normal: Vector, push: Number, touches: Number, velocity: Vector, turning: Vector, z: Vector
) -> tuple[Vector, Vector]:
    """The force on the sliding body, and the rate of the deflection z (world axes). `push`: the normal force; `velocity`: of
    sliding; `turning`: angular velocity of the surface that the bristles stand on."""
    out = dot(z, normal)
    flat = sub(z, scale(normal, out))
    size = sqrt(dot(flat, flat) + TINY)
    square = dot(velocity, velocity)
    stiffness = n["friction"] / n["presliding"]  # per normal force
    limit = coefficient(n, square) / stiffness
    along = dot(velocity, flat) / size
    slips = slipping(size, along, limit, ELASTIC * n["presliding"])
    bent = sub(velocity, scale(flat, slips * along / limit))
    damped = scale(bent, n["settling"] * exp(-square / (n["stribeck"] * n["stribeck"])))
    held = sub(add(bent, cross(turning, z)), scale(normal, out / RELEASE))
    rate = tuple(select(touches, a, -b / RELEASE) for a, b in zip(held, z, strict=True))
    return scale(add(flat, damped), -stiffness * push), rate


# --- the parts of a contact
FLAT = 1e-6
"""Sine of the tilt of a ring below which it lies flat: its points are then where its own axes say."""
AIMS = 3
"""Steps to the deepest point of a ring above a ground of varying height."""
SIDE = 0.5 * math.sqrt(3.0)
BRISTLES = tuple(tuple(f"bristle {x}{k}" for x in "xyz") for k in ("", " 2", " 3"))
"""Names of the deflections of the points of a part."""


class Touch(Force):
    """One part of a contact: a body (`body`) that touches a surface of another (`on`)."""

    count = 1
    """How many points it has."""
    presliding: Number | None

    def __init__(self, contact: Contact, surface: Surface, swapped: bool, name: str, **own: Any) -> None:
        """`swapped`: the surface belongs to the contact's body. `own`: the numbers of this kind of part."""
        self.body, self.on = (contact.on, contact.body) if swapped else (contact.body, contact.on)
        self.surface, self.law, self.exponent, self.name = surface, contact.model, contact.exponent, name
        # steps must not pass over it: bounded surfaces can be missed, forces that jump are smeared
        self.watches = isinstance(contact.against, (Box, Sphere)) or contact.model == KELVIN_VOIGT
        self._numbers = tuple({**contact.laws(), **surface.numbers, **own})
        self.__dict__.update({**contact.laws(), **surface.numbers, **own})

    def bodies(self) -> Sequence[str]:
        return (self.body, self.on)

    def numbers(self, on: Motion) -> Numbers:
        return {name: getattr(self, name) for name in self._numbers}

    def formula(self, on: Motion, n: Numbers) -> Number:
        found = [self._touch(on, n, p, radius, BRISTLES[k]) for k, (p, radius) in enumerate(self.points(on, n))]
        energy, depth, push, friction, slip = zip(*found, strict=True)
        on.observe("penetration", reduce(maximum, depth, 0.0), "m", "max")
        on.observe("normal force", sum(push, 0.0), "N", "sum")
        on.observe("friction force", sum(friction, 0.0), "N", "sum")
        on.observe("slip speed", reduce(maximum, slip), "m/s", "max")
        return sum(energy, 0.0)

    def states(self, on: Motion) -> Mapping[str, float]:
        """Deflections of the bristles of every point, where friction sticks."""
        return {} if self.presliding is None else {name: 0.0 for names in BRISTLES[: self.count] for name in names}

    @property
    def units_of_states(self) -> Mapping[str, str]:
        return {name: "m" for names in BRISTLES for name in names}

    def points(self, on: Motion, n: Numbers) -> Sequence[tuple[Vector, Number]]:
        """Centres, in the world, and radii of the balls that touch the surface; the likeliest first."""
        raise NotImplementedError

    def _touch(self, on: Motion, n: Numbers, p: Vector, radius: Number, bristles: Sequence[str]) -> tuple[Number, ...]:
        """A ball about p against the surface: pushes both bodies. Energy, depth, normal force, friction, speed of slip (zero
        where nothing touches)."""
        a, b = on.pose(self.body), on.pose(self.on)
        distance, normal = self.surface.distance(on, n, mtv(b.rotation.entries, sub(p, b.position)))
        normal = mv(b.rotation.entries, normal)
        x = sub(p, scale(normal, 0.5 * (radius + distance)))  # midway between the surfaces
        arms = sub(x, a.position), sub(x, b.position)
        turning = sub(on.spin(self.body), on.spin(self.on))
        velocity = sub(
            add(on.point(self.body)[1], cross(on.spin(self.body), arms[0])),
            add(on.point(self.on)[1], cross(on.spin(self.on), arms[1])),
        )
        approach = -dot(normal, velocity)
        sliding = add(velocity, scale(normal, approach))
        depth = radius - distance
        on.watch(-depth)
        push, stored = normal_force(self.law, self.exponent, n["stiffness"], n["damping"], depth, approach)
        if n["presliding"] is None:
            friction = sliding_friction(n, push, sliding)
        else:
            z = [on.state(name) for name in bristles]
            friction, rates = bristle_friction(n, normal, push, depth > 0.0, sliding, on.spin(self.on), z)
            for name, rate in zip(bristles, rates, strict=True):
                on.rate(name, rate)
        spin = dot(normal, turning)
        moment = add(
            turning_friction(n["rolling"], n["turn_slip"], push, sub(turning, scale(normal, spin))),
            turning_friction(n["spin"], n["turn_slip"], push, scale(normal, spin)),
        )
        force = add(scale(normal, push), friction)
        on.push(self.body, force, moment=add(moment, cross(arms[0], force)))
        on.push(self.on, neg(force), moment=neg(add(moment, cross(arms[1], force))))
        return stored, depth, push, size_of(friction), select(depth > 0.0, size_of(sliding), 0.0)


class Ball(Touch):
    """A ball, or a point: a ball without radius."""

    def points(self, on: Motion, n: Numbers) -> Sequence[tuple[Vector, Number]]:
        return [(on.pose(self.body) @ n["centre"], n["radius"])]


class Bar(Touch):
    """A capsule against a sphere: the ball about that point of its middle line that is nearest to the sphere's centre."""

    def points(self, on: Motion, n: Numbers) -> Sequence[tuple[Vector, Number]]:
        start, end = (on.pose(self.body) @ n[name] for name in ("start", "end"))
        along = sub(end, start)
        aim = dot(sub(on.pose(self.on) @ n["middle"], start), along) / dot(along, along)
        share = minimum(maximum(aim, 0.0), 1.0)
        return [(add(start, scale(along, share)), n["radius"])]


class Ring(Touch):
    """A tyre, or the rim of a cylinder: balls about the deepest point of a circle and those at 120° from it, on which it
    stands when it lies flat."""

    count = 3

    def points(self, on: Motion, n: Numbers) -> Sequence[tuple[Vector, Number]]:
        pose, other = on.pose(self.body), on.pose(self.on)
        centre = pose @ n["centre"]
        axis, across = (mv(pose.rotation.entries, n[name]) for name in ("axis", "across"))

        def down(p: Vector) -> tuple[Vector, Vector]:
            """Direction from the centre towards the surface, in the plane of the ring; and the normal of the surface near p."""
            normal = self.surface.normal(on, n, mtv(other.rotation.entries, sub(p, other.position)))
            up = mv(other.rotation.entries, normal)
            tilt = sub(scale(axis, dot(up, axis)), up)
            flatness = FLAT * FLAT / (dot(tilt, tilt) + FLAT * FLAT)  # one when flat; elsewhere nothing is left of it
            tilt = add(tilt, scale(across, FLAT * flatness))
            return scale(tilt, 1.0 / sqrt(dot(tilt, tilt) + 1e-30)), up

        u, up = down(centre)
        for _ in range(AIMS if self.surface.varies else 0):  # where the ball about the deepest point touches
            u, up = down(sub(add(centre, scale(u, n["ring"])), scale(up, n["radius"])))
        back, side = scale(u, -0.5), scale(cross(axis, u), SIDE)
        directions = u, add(back, side), sub(back, side)
        return [(add(centre, scale(d, n["ring"])), n["radius"]) for d in directions]
