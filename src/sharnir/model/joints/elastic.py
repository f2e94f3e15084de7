"""The elastic coordinates of a flexible body, as a joint between its frame and its deformation."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...kernels.joint_stage import GIVEN
from ..element import element
from .joint_type import ElementaryMotion, Joint
from .traced import Segment, one_coordinate

if TYPE_CHECKING:
    from ..flexible import Flexible

SMALL = 0.01
"""Random deformations: shapes are valid where they are small."""


@element()
class Elastic(Joint):
    """Elastic coordinates, by `Model.add_body(…, flexible=…)`: they move places of the body, and what hangs there."""

    def __init__(self, flexible: Flexible) -> None:
        self.__dict__.update(_flexible=flexible, motion=None)

    @property
    def flexible(self) -> Flexible:
        found: Flexible = self.__dict__["_flexible"]
        return found

    @property
    def coordinates(self) -> tuple[str, ...]:
        return self.flexible.coordinates

    def motions(self, label: str) -> list[ElementaryMotion]:
        """Its values depend on where the tree holds the body: `Structure` computes them."""
        n = len(self.coordinates)
        return [ElementaryMotion(GIVEN, nq=n, nv=n)]

    def segments(self, label: str) -> list[Segment]:
        return [one_coordinate(unit) for unit in self.flexible.units]

    def random(self, rng: np.random.Generator) -> list[float]:
        small: list[float] = (SMALL * rng.uniform(-1.0, 1.0, len(self.coordinates))).tolist()
        return small

    def __repr__(self) -> str:
        return f"Elastic({self.flexible!r})"
