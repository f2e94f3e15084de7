"""A rod without mass between two points."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ...errors import ModelError
from ...kernels.algebra import dot, sub
from ..forces.base import positive
from ..pose import vector3
from .base import Constraint, Row

if TYPE_CHECKING:
    from ..motion import Motion

ORIGIN = (0.0, 0.0, 0.0)


class Distance(Constraint):
    """Two points stay `length` apart. The row is (d·d − length²)/(2·length), so that its multiplier is the force in the rod."""

    def __init__(
        self,
        a: str,
        b: str,
        at_a: Sequence[float] = ORIGIN,
        at_b: Sequence[float] = ORIGIN,
        length: float = 1.0,
        name: str | None = None,
    ) -> None:
        self.a, self.b, self.name = a, b, name
        self.at_a, self.at_b = vector3(at_a, "distance: at_a"), vector3(at_b, "distance: at_b")
        self.length = positive(length, "distance: length", zero=False)
        if a == b:
            raise ModelError(f"distance: both points are on {a!r}; it would constrain nothing")

    def bodies(self) -> Sequence[str]:
        return self.a, self.b

    def positions(self, on: Motion) -> Sequence[Row]:
        d = sub(on.pose(self.b) @ self.at_b, on.pose(self.a) @ self.at_a)
        return [("distance", (dot(d, d) - self.length * self.length) / (2.0 * self.length))]
