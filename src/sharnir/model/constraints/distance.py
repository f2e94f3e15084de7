"""A massless rod between two points."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from ...errors import ModelError
from ...kernels.algebra import ZERO3, dot, sub
from ..element import element, element_field, positive
from ..joints.closing_rows import Row
from ..motion import Motion
from ..pose import Pose
from ..values import Label, Name, Vector
from .constraint_element import ConstraintElement


@element("distance")
class Distance(ConstraintElement):
    """Two points stay at a fixed distance. The row is (d·d − length²)/(2·length), so that its multiplier is the force in
    the rod."""

    a: str = element_field(Name("body"), meaning="body (or ground) at one end")
    b: str = element_field(Name("body"), meaning="body (or ground) at the other end")
    at_a: Sequence[float] = element_field(Vector(3), default=ZERO3, unit="m", meaning="the point on a, in its axes")
    at_b: Sequence[float] = element_field(Vector(3), default=ZERO3, unit="m", meaning="the point on b, in its axes")
    length: float = positive(default=1.0, unit="m", meaning="distance of the points")
    name: str | None = element_field(Label(), default=None, key="")
    symbolic = ("at_a", "at_b", "length")
    internal = True

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.a == self.b:
            raise ModelError(f"{self.label}: both points are on {self.a!r}; it would constrain nothing")

    def positions(self, on: Motion) -> Sequence[Row]:
        d = sub(on.pose(self.b, Pose(self.at_b)).position, on.pose(self.a, Pose(self.at_a)).position)
        return [("distance", (dot(d, d) - self.length * self.length) / (2.0 * self.length))]

    def true_amount(self, what: str) -> Callable[[float], float] | None:
        length = self.length
        if not isinstance(length, (int, float)):  # a parameter: to first order the residual is the distance off
            return None
        return lambda residual: math.sqrt(max(length * length + 2.0 * length * residual, 0.0)) - length
