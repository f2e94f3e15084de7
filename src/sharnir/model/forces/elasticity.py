"""The elastic forces of a flexible body."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ...trace import Number
from ..motion import Motion
from .base import Force

if TYPE_CHECKING:
    from ..deformation import Deformation


class Elasticity(Force):
    """Stiffness and structural damping: −K e − C ė on the elastic coordinates, which store ½ eᵀK e."""

    def __init__(self, joint: str, deformation: Deformation) -> None:
        self.joint = joint
        self.stiffness, self.damping = deformation.shapes.stiffness, deformation.shapes.damping

    def joints(self) -> Sequence[str]:
        return (self.joint,)

    def act(self, on: Motion) -> Number:
        e, rates = on.coordinates(self.joint), on.speeds(self.joint)
        pull = _times(self.stiffness, e)
        drag = _times(self.damping, rates)
        on.torque(self.joint, [-(p + d) for p, d in zip(pull, drag, strict=True)])
        return 0.5 * sum((p * x for p, x in zip(pull, e, strict=True)), 0.0)


def _times(K: np.ndarray, x: Sequence[Number]) -> list[Number]:
    """K x, without the entries that are zero."""
    return [sum((k * y for k, y in zip(row, x, strict=True) if k), 0.0) for row in K.tolist()]
