"""Friction of a contact from its normal force: sliding, rolling and spinning.

Coulomb's law with Stribeck's dip, made smooth: up to the slip speed friction grows from zero, so that a contact creeps instead of
sticking; beyond it the law is exact. A polynomial, since contacts are evaluated by the hundred, on lanes.
"""

from __future__ import annotations

from ...kernels.algebra import dot, scale
from ...trace import Number, is_zero
from ...trace.functions import exp, select, sqrt
from ..motion import ORIGIN, Vector
from .base import Numbers


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
