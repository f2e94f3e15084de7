"""A spring and a damper between two points."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ...errors import ModelError
from ...kernels.algebra import ZERO3, dot, scale, sub
from ...trace import Number
from ...trace.functions import select, sqrt
from ..element import element, element_field, not_negative
from ..motion import Motion
from ..values import Function, Label, Name, Vector
from .force_element import ForceElement, Numbers


@element("spring-damper")
class SpringDamper(ForceElement):
    """Pulls two points together along the line between them: tension = stiffness·(distance − length) + damping·(rate of
    distance), or `law(distance, rate)` in its place. Where the points meet the line has no direction and no force acts."""

    a: str = element_field(Name("body"), meaning="body (or ground) at one end")
    b: str = element_field(Name("body"), meaning="body (or ground) at the other end")
    at_a: Sequence[float] = element_field(Vector(3), default=ZERO3, unit="m", meaning="the point on a, in its axes")
    at_b: Sequence[float] = element_field(Vector(3), default=ZERO3, unit="m", meaning="the point on b, in its axes")
    stiffness: float = not_negative(default=0.0, unit="N/m", meaning="stiffness of the spring")
    damping: float = not_negative(default=0.0, unit="N s/m", meaning="damping coefficient")
    length: float = not_negative(default=0.0, unit="m", meaning="free length of the spring")
    law: Callable[[Any, Any], Any] | None = element_field(
        Function(("length", "rate")),
        default=None,
        unit="N",
        meaning="tension as a function of length and rate, in place of the three numbers",
    )
    name: str | None = element_field(Label(), default=None, key="")
    at_places = True

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.a == self.b:
            raise ModelError(f"{self.label}: both ends are on {self.a!r}; it would push nothing")

    def formula(self, on: Motion, n: Numbers) -> Number:
        distance, rate, along = line_between(on, (self.a, n["at_a"]), (self.b, n["at_b"]))
        if self.law is not None:
            tension, stored = self.law(distance, rate), 0.0
        else:
            stretch = distance - n["length"]
            tension, stored = n["stiffness"] * stretch + n["damping"] * rate, 0.5 * n["stiffness"] * stretch * stretch
        on.push(self.a, scale(along, tension), n["at_a"])
        on.push(self.b, scale(along, -tension), n["at_b"])
        return stored


def line_between(
    on: Motion, a: tuple[str, Sequence[Number]], b: tuple[str, Sequence[Number]]
) -> tuple[Number, Number, tuple[Number, ...]]:
    """Length, its rate, and the unit vector from one point to the other; the zero vector where they meet."""
    (x, u), (y, w) = on.point(*a), on.point(*b)
    d = sub(y, x)
    square = dot(d, d)
    apart = square > 1e-300
    length = sqrt(select(apart, square, 1.0))
    along = scale(d, select(apart, 1.0 / length, 0.0))
    return select(apart, length, 0.0), dot(along, sub(w, u)), along
