"""Friction of a contact from its normal force: sliding, rolling and spinning.

Coulomb's law with Stribeck's dip, made smooth: up to the slip speed friction grows from zero, so that a contact creeps instead of
sticking; beyond it the law is exact. A polynomial, since contacts are evaluated by the hundred, on lanes.
"""

from __future__ import annotations

from typing import NamedTuple

from ...kernels.algebra import add, cross, dot, scale, sub
from ...trace import Number, is_zero
from ...trace.functions import exp, maximum, power, select, sqrt
from ..motion import ORIGIN, Vector
from .bristle_friction import ELASTIC, slipping
from .force_element import Numbers

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


# --- contact laws
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


class Patch(NamedTuple):
    """A place where surfaces touch."""

    normal: Vector
    push: Number
    """The normal force."""
    touches: Number
    velocity: Vector
    """Velocity of sliding."""
    turning: Vector
    """Angular velocity of the surface that the bristles stand on."""


def bristle_friction(n: Numbers, at: Patch, z: Vector) -> tuple[Vector, Vector]:
    """The force on the sliding body, and the rate of the deflection z (world axes)."""
    out = dot(z, at.normal)
    flat = sub(z, scale(at.normal, out))
    size = sqrt(dot(flat, flat) + TINY)
    square = dot(at.velocity, at.velocity)
    stiffness = n["friction"] / n["presliding"]  # per normal force
    limit = coefficient(n, square) / stiffness
    along = dot(at.velocity, flat) / size
    slips = slipping(size, along, limit, ELASTIC * n["presliding"])
    bent = sub(at.velocity, scale(flat, slips * along / limit))
    damped = scale(bent, n["settling"] * exp(-square / (n["stribeck"] * n["stribeck"])))
    held = sub(add(bent, cross(at.turning, z)), scale(at.normal, out / RELEASE))
    rate = tuple(select(at.touches, a, -b / RELEASE) for a, b in zip(held, z, strict=True))
    return scale(add(flat, damped), -stiffness * at.push), rate
