"""The attraction of a distant or a near centre. Uniform gravity is a property of the model: Model(gravity=…)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ...kernels.algebra import ZERO3, cross, dot, mv, scale, sub, sv
from ...trace import Number, is_zero
from ...trace.functions import sqrt
from ..element import element, element_field, positive
from ..motion import Motion
from ..values import Flag, Vector
from .force_element import Force, ForceElement, Numbers

if TYPE_CHECKING:
    from ..body import Body
    from ..structure import Structure

EARTH = 3.986004418e14
"""GM of the Earth, m³/s² (IERS Conventions 2010)."""


@element("point-gravity")
class PointGravity(ForceElement):
    """Every body is attracted by a centre: m·mu/r² at its centre of mass, and the moment of the field's gradient.

    Set Model(gravity=(0, 0, 0)) unless both are meant. The energy is −m·mu/r (with the second-order term of the gradient
    where the moment is included).
    """

    mu: float = positive(default=EARTH, unit="m³/s²", meaning="GM of the centre; that of the Earth by default")
    centre: Sequence[float] = element_field(Vector(3), default=ZERO3, unit="m", meaning="the centre, in the world")
    gradient: bool = element_field(Flag(), default=True, meaning="whether the moment of the field's gradient is included")

    def formula(self, on: Motion, n: Numbers) -> Number:
        return sum((part.formula(on, part.numbers(on)) for part in self.parts(on.structure)), 0.0)

    def parts(self, structure: Structure) -> Sequence[Pull]:
        return [Pull(self, body) for body in structure.bodies if not is_zero(body.mass)]


class Pull(Force):
    """The force of the field on one body."""

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
