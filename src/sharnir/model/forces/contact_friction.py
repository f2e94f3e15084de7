"""Friction of a contact from its normal force: sliding, rolling and spinning.

Coulomb's law with Stribeck's dip, made smooth as in `friction.py`: below the slip speed a contact creeps instead of sticking.
"""

from __future__ import annotations

from ...kernels.algebra import dot, scale
from ...trace import Number, is_zero
from ...trace.functions import exp, sqrt, tanh
from ..motion import ORIGIN, Vector
from .base import Numbers

NEAR = 1e-6
"""Share of the slip speed below which the direction of sliding is not resolved."""


def coefficient(n: Numbers, speed: Number) -> Number:
    """μ + (μ_s − μ)·exp(−(v/v_s)²)"""
    if is_zero(n["dip"]):
        return n["friction"]
    x = speed / n["stribeck"]
    return n["friction"] + n["dip"] * exp(-x * x)


def regularised(velocity: Vector, slip: Number) -> tuple[Vector, Number]:
    """A velocity as a vector that is its direction where it is faster than `slip`, and vanishes with it; and its size."""
    near = NEAR * slip
    size = sqrt(dot(velocity, velocity) + near * near)
    return scale(velocity, tanh(size / slip) / size), size


def sliding_friction(n: Numbers, normal: Number, velocity: Vector) -> Vector:
    """The force against a velocity of sliding."""
    if is_zero(n["friction"]) and is_zero(n["dip"]):
        return ORIGIN
    direction, speed = regularised(velocity, n["slip"])
    return scale(direction, -coefficient(n, speed) * normal)


def turning_friction(arm: Number, slip: Number, normal: Number, turning: Vector) -> Vector:
    """The moment arm·N against an angular velocity: rolling resistance, or resistance to spin."""
    if is_zero(arm):
        return ORIGIN
    direction, _ = regularised(turning, slip)
    return scale(direction, -arm * normal)
