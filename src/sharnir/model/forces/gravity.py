"""The pull of a distant or a near centre. Uniform gravity is a property of the model: Model(gravity=…)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ...kernels.algebra import cross, dot, mv, scale, sub, sv
from ...trace import Number
from ...trace.functions import sqrt
from ..motion import ORIGIN, Motion
from ..pose import vector3
from .base import Force, Numbers, positive

if TYPE_CHECKING:
    from ..body import Body
    from ..structure import Structure

EARTH = 3.986004418e14
"""GM of the Earth, m³/s² (IERS Conventions 2010)."""


class PointGravity(Force):
    """Every body is pulled towards a centre: m·mu/r² at its centre of mass, and the moment of the field's gradient.

    mu: GM of the centre, m³/s²;  centre: where it is in the world;  gradient=False leaves the moment out.
    Set Model(gravity=(0, 0, 0)) unless both are meant. The energy is −m·mu/r (that of the gradient's second order
    term is included with the moment).
    """

    def __init__(self, mu: float = EARTH, centre: Sequence[float] = ORIGIN, gradient: bool = True) -> None:
        self.mu = positive(mu, "point gravity: mu", zero=False)
        self.centre = vector3(centre, "point gravity: centre")
        self.gradient = gradient

    def formula(self, on: Motion, n: Numbers) -> Number:
        return sum((part.formula(on, part.numbers(on)) for part in self.parts(on.structure)), 0.0)

    def parts(self, structure: Structure) -> Sequence[Pull]:
        return [Pull(self, body) for body in structure.bodies if body.mass != 0.0]


class Pull(Force):
    """What one body feels of it."""

    def __init__(self, field: PointGravity, body: Body) -> None:
        self.body, self.gradient = body.name, field.gradient
        self.mu, self.centre, self.mass, self.com = field.mu, field.centre, body.mass, body.com
        self.inertia = body.inertia  # about the centre of mass, body axes: xx yy zz xy xz yz

    def bodies(self) -> Sequence[str]:
        return (self.body,)

    def numbers(self, on: Motion) -> Numbers:
        return {name: getattr(self, name) for name in ("mu", "centre", "mass", "com", "inertia")}

    def formula(self, on: Motion, n: Numbers) -> Number:
        mu, mass, com, J = n["mu"], n["mass"], n["com"], n["inertia"]
        place, _ = on.point(self.body, com)
        d = sub(place, n["centre"])
        r2 = dot(d, d)
        r = sqrt(r2)
        force = scale(d, -mu / (r2 * r) * mass)
        stored = -mu * mass / r
        if self.gradient:
            e = scale(mv(on.pose(self.body).rotation.T.entries, d), 1.0 / r)
            Je = sv(J, e)
            k = mu / (r2 * r)
            trace, axial = J[0] + J[1] + J[2], dot(e, Je)
            stored = stored - 0.5 * k * (trace - 3.0 * axial)
            # the force that goes with this energy, so that it is conserved
            radial = -1.5 * k / r * (trace - 5.0 * axial)
            force = tuple(f + radial * x / r for f, x in zip(force, d, strict=True))
            on.push_in_body(self.body, scale(Je, -3.0 * k / r), com, scale(cross(e, Je), 3.0 * k))
        on.push(self.body, force, com)
        return stored
