"""The resistance of a medium."""

from __future__ import annotations

from collections.abc import Sequence

from ...kernels.algebra import ZERO3, scale, sub
from ..element import element, element_field, not_negative
from ..motion import Motion
from ..values import Label, Name, Vector
from .force_element import ForceElement, Numbers, size_of


@element("drag")
class Drag(ForceElement):
    """Opposes the motion of a point of a body through a medium: −(linear + quadratic·|v|)·v; −angular·ω on its rotation."""

    body: str = element_field(Name("body"), meaning="the body that moves through the medium")
    linear: float = not_negative(default=0.0, unit="N s/m", meaning="force per speed")
    quadratic: float = not_negative(default=0.0, unit="N s²/m²", meaning="½ · density · area · drag coefficient")
    angular: float = not_negative(default=0.0, unit="N m s/rad", meaning="moment per angular velocity")
    at: Sequence[float] = element_field(Vector(3), default=ZERO3, unit="m", meaning="the point, in the body's axes")
    wind: Sequence[float] = element_field(Vector(3), default=ZERO3, unit="m/s", meaning="velocity of the medium in the world")
    name: str | None = element_field(Label(), default=None, key="")
    at_places = True

    def formula(self, on: Motion, n: Numbers) -> None:
        v = sub(on.point(self.body, n["at"])[1], n["wind"])
        force = scale(v, -(n["linear"] + n["quadratic"] * size_of(v)))
        on.push(self.body, force, n["at"], scale(on.spin(self.body, n["at"]), -n["angular"]))
