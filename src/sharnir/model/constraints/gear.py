"""Gears: coordinates in a linear relation, none of them eliminated."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...errors import ModelError
from ...trace import Number
from ..element import element, element_field, number
from ..forces.force_element import Numbers
from ..joints.closing_rows import Row
from ..motion import Motion
from ..values import ByName, Label, Scalar
from .constraint_element import Constraint, ConstraintElement


@element("gear")
class Gear(ConstraintElement):
    """Σ ratio·x = offset over joints of one coordinate: gears, differentials, belts. All coordinates stay; the force in the
    teeth is an output. (Where a follower needs no coordinate of its own, `Model.couple` is faster.)"""

    ratios: Mapping[str, float] = element_field(ByName(Scalar()), meaning="the ratio of each joint, by its name")
    offset: float = number(default=0.0, unit="rad, m", meaning="the sum of ratio times coordinate")
    name: str | None = element_field(Label(), default=None, key="")
    internal = True

    def __post_init__(self) -> None:
        super().__post_init__()
        if len(self.ratios) < 2:
            raise ModelError(f"{self.label}: a gear needs at least two joints, got {list(self.ratios)}")

    def joints(self) -> Sequence[str]:
        return tuple(self.ratios)

    @property
    def alike(self) -> bool:
        return self.is_described

    def numbers(self, on: Motion) -> Numbers:
        return {"ratios": tuple(self.ratios.values()), "offset": self.offset}

    def with_numbers(self, numbers: Numbers) -> Constraint:
        return super().with_numbers({**numbers, "ratios": dict(zip(self.ratios, numbers["ratios"], strict=True))})

    def positions(self, on: Motion) -> Sequence[Row]:
        total: Number = -self.offset
        for joint, ratio in self.ratios.items():
            x = on.q(joint)
            if isinstance(x, tuple):
                raise ModelError(f"gear: joint {joint!r} has {len(x)} coordinates; a gear needs joints of one coordinate")
            total = total + ratio * x
        return [("ratio", total)]
