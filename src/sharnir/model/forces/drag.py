"""The resistance of a medium."""

from __future__ import annotations

from collections.abc import Sequence

from ...kernels.algebra import dot, scale, sub
from ...trace.functions import select, sqrt
from ..motion import ORIGIN, Motion
from ..pose import vector3
from .base import Force, Numbers, positive


class Drag(Force):
    """Against the motion of a point of a body through a medium: −(linear + quadratic·|v|)·v; −angular·ω on its turning.

    wind: velocity of the medium in the world.  quadratic = ½·density·area·drag coefficient.
    """

    def __init__(
        self,
        body: str,
        linear: float = 0.0,
        quadratic: float = 0.0,
        angular: float = 0.0,
        at: Sequence[float] = ORIGIN,
        wind: Sequence[float] = ORIGIN,
        name: str | None = None,
    ) -> None:
        self.body, self.name = body, name
        self.linear, self.quadratic = positive(linear, "drag: linear"), positive(quadratic, "drag: quadratic")
        self.angular = positive(angular, "drag: angular")
        self.at, self.wind = vector3(at, "drag: at"), vector3(wind, "drag: wind")

    def bodies(self) -> Sequence[str]:
        return (self.body,)

    def numbers(self, on: Motion) -> Numbers:
        return {name: getattr(self, name) for name in ("linear", "quadratic", "angular", "at", "wind")}

    def formula(self, on: Motion, n: Numbers) -> None:
        v = sub(on.point(self.body, n["at"])[1], n["wind"])
        square = dot(v, v)
        moves = square > 0.0
        speed = select(moves, sqrt(select(moves, square, 1.0)), 0.0)
        force = scale(v, -(n["linear"] + n["quadratic"] * speed))
        on.push(self.body, force, n["at"], scale(on.spin(self.body), -n["angular"]))
