"""The pull of a distant or a near centre. Uniform gravity is a property of the model: Model(gravity=…)."""

from __future__ import annotations

from collections.abc import Sequence

from ...kernels.algebra import cross, dot, mv, scale, sub, sv
from ...trace import Number
from ...trace.functions import sqrt
from ..pose import vector3
from .base import Force, positive
from .loads import ORIGIN, Loads

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

    def act(self, on: Loads) -> Number:
        stored: Number = 0.0
        for body in on.structure.bodies:
            if body.mass == 0.0:
                continue
            place, _ = on.point(body.name, body.com)
            d = sub(place, self.centre)
            r2 = dot(d, d)
            r = sqrt(r2)
            pull = -self.mu / (r2 * r)
            force = scale(d, pull * body.mass)
            stored = stored - self.mu * body.mass / r
            moment: Sequence[Number] = ORIGIN
            G = on.pose(body.name).rotation.T.entries
            if self.gradient:
                J = body.inertia  # about the centre of mass, body axes: xx yy zz xy xz yz
                e = scale(mv(G, d), 1.0 / r)
                Je = sv(J, e)
                k = self.mu / (r2 * r)
                moment = scale(cross(e, Je), 3.0 * k)
                trace, axial = J[0] + J[1] + J[2], dot(e, Je)
                stored = stored - 0.5 * k * (trace - 3.0 * axial)
                # the force that goes with this energy, so that it is conserved
                radial = -1.5 * k / r * (trace - 5.0 * axial)
                force = tuple(f + radial * x / r for f, x in zip(force, d, strict=True))
                side = scale(Je, -3.0 * k / r)
                on.push_in_body(body.name, side, body.com, moment)
            on.push(body.name, force, body.com)
        return stored
