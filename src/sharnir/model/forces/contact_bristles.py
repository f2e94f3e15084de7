"""Friction that sticks: the surfaces hold each other by bristles, whose deflection is a state of the contact.

The elasto-plastic model of `bristle_friction.py` (Dupont, Hayward, Armstrong and Altpeter 2002) in the plane of contact and per
normal force: bristles are as much stiffer as they are pressed on more.
"""

from __future__ import annotations

from typing import NamedTuple

from ...kernels.algebra import add, cross, dot, scale, sub
from ...trace import Number
from ...trace.functions import exp, select, sqrt
from ..motion import Vector
from .base import Numbers
from .bristle_friction import ELASTIC, slipping
from .contact_friction import coefficient

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
