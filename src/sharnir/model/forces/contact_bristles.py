"""Friction that sticks: the surfaces hold each other by bristles, whose deflection is a state of the contact.

The elasto-plastic model of Dupont, Hayward, Armstrong and Altpeter (2002), in the plane of contact and per normal force: up to
a breakaway deflection bristles are elastic, so that nothing creeps; beyond it they slip, and at the deflection μ/stiffness the
friction is that of sliding.
"""

from __future__ import annotations

from typing import NamedTuple

from ...kernels.algebra import add, cross, dot, scale, sub
from ...trace import Number
from ...trace.functions import maximum, select, sqrt
from ..motion import Vector
from .base import Numbers
from .contact_friction import coefficient

ELASTIC = 0.7
"""Share of the deflection of sliding up to which bristles are elastic."""
RELEASE = 0.01
"""Seconds in which bristles straighten out that touch nothing."""
TINY = 1e-30


class Patch(NamedTuple):
    """Where surfaces touch."""

    normal: Vector
    push: Number
    """The normal force."""
    touches: Number
    velocity: Vector
    """Of sliding."""
    turning: Vector
    """Angular velocity of the surface that the bristles stand on."""


def bristle_friction(n: Numbers, at: Patch, z: Vector) -> tuple[Vector, Vector]:
    """The force on what slides, and the rate of the deflection z (world axes)."""
    out = dot(z, at.normal)
    flat = sub(z, scale(at.normal, out))
    size = sqrt(dot(flat, flat) + TINY)
    speed = sqrt(dot(at.velocity, at.velocity) + TINY)
    full = coefficient(n, speed) / n["bristle_stiffness"]  # deflection of sliding
    elastic = ELASTIC * n["friction"] / n["bristle_stiffness"]
    share = (size - elastic) / (full - elastic)
    slips = select(share < 1.0, select(share > 0.0, share * share * (3.0 - 2.0 * share), 0.0), 1.0)
    outward = maximum(dot(at.velocity, flat) / size, 0.0)
    bent = sub(at.velocity, scale(flat, slips * outward / full))
    force = scale(add(scale(flat, n["bristle_stiffness"]), scale(bent, n["bristle_damping"])), -at.push)
    held = sub(add(bent, cross(at.turning, z)), scale(at.normal, out / RELEASE))
    rate = tuple(select(at.touches, x, -y / RELEASE) for x, y in zip(held, z, strict=True))
    return force, rate
