"""Coordinates that are tied to one another, all kept."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from ...errors import ModelError
from ...trace import Number
from .base import Constraint, Row

if TYPE_CHECKING:
    from ..motion import Motion


class Gear(Constraint):
    """Σ ratio·x = offset over joints of one coordinate: gears, differentials, belts. All coordinates stay; the force in the
    teeth is an output. (Where a follower needs no coordinate of its own, `Model.couple` is quicker.)"""

    def __init__(self, ratios: Mapping[str, float], offset: float = 0.0, name: str | None = None) -> None:
        if len(ratios) < 2:
            raise ModelError(f"gear: at least two joints are tied together, got {list(ratios)}")
        self.ratios = {joint: float(ratio) for joint, ratio in ratios.items()}
        self.offset, self.name = float(offset), name

    def joints(self) -> Sequence[str]:
        return tuple(self.ratios)

    def positions(self, on: Motion) -> Sequence[Row]:
        total: Number = -self.offset
        for joint, ratio in self.ratios.items():
            x = on.q(joint)
            if isinstance(x, tuple):
                raise ModelError(f"gear: joint {joint!r} has {len(x)} coordinates; only joints of one can be tied")
            total = total + ratio * x
        return [("ratio", total)]
