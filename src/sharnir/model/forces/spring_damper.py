"""A spring and a damper between two points."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ...errors import ModelError
from ...kernels.algebra import dot, scale, sub
from ...trace import Number
from ...trace.functions import select, sqrt
from ..motion import ORIGIN, Motion
from ..pose import vector3
from .base import Force, Numbers, positive


class SpringDamper(Force):
    """Pulls two points together along the line between them.

    tension = stiffness·(distance − length) + damping·(rate of distance), or `law(distance, rate)` in its place.
    at_a, at_b: the points in the axes of their bodies. Where the points meet the line has no direction and no force acts.
    """

    def __init__(
        self,
        a: str,
        b: str,
        at_a: Sequence[float] = ORIGIN,
        at_b: Sequence[float] = ORIGIN,
        stiffness: float = 0.0,
        damping: float = 0.0,
        length: float = 0.0,
        law: Callable[[Any, Any], Any] | None = None,
        name: str | None = None,
    ) -> None:
        self.a, self.b, self.name, self.law = a, b, name, law
        self.at_a, self.at_b = vector3(at_a, "spring-damper: at_a"), vector3(at_b, "spring-damper: at_b")
        self.stiffness = positive(stiffness, "spring-damper: stiffness")
        self.damping = positive(damping, "spring-damper: damping")
        self.length = positive(length, "spring-damper: length")
        if a == b:
            raise ModelError(f"spring-damper: both ends are on {a!r}; it would push nothing")

    def bodies(self) -> Sequence[str]:
        return self.a, self.b

    def numbers(self, on: Motion) -> Numbers:
        return {name: getattr(self, name) for name in ("at_a", "at_b", "stiffness", "damping", "length")}

    def formula(self, on: Motion, n: Numbers) -> Number:
        a, va = on.point(self.a, n["at_a"])
        b, vb = on.point(self.b, n["at_b"])
        d = sub(b, a)
        square = dot(d, d)
        apart = square > 1e-300
        distance = sqrt(select(apart, square, 1.0))
        along = scale(d, select(apart, 1.0 / distance, 0.0))
        distance = select(apart, distance, 0.0)
        rate = dot(along, sub(vb, va))
        if self.law is not None:
            tension, stored = self.law(distance, rate), 0.0
        else:
            stretch = distance - n["length"]
            tension, stored = n["stiffness"] * stretch + n["damping"] * rate, 0.5 * n["stiffness"] * stretch * stretch
        on.push(self.a, scale(along, tension), n["at_a"])
        on.push(self.b, scale(along, -tension), n["at_b"])
        return stored
