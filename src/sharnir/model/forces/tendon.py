"""A tendon: a spring and a damper on a length."""

from __future__ import annotations

from collections.abc import Sequence

from ...trace import Number
from ...trace.functions import maximum, minimum
from ..element import element, element_field
from ..motion import Motion
from ..values import Label, Rows, Scalar
from .force_element import ForceElement
from .path import POINT, POINTS, TERM, TERMS, Path


@element("tendon")
class Tendon(ForceElement):
    """Spring and damper on the length of a tendon: a sum of joint coordinates, or of the straight lines through points of
    bodies. The spring is slack between `low` and `high`."""

    name: str | None = element_field(Label(), default=None, key="")
    at_places = True
    stiffness: float = element_field(Scalar(), default=0.0, unit="N/m", meaning="stiffness of the spring")
    damping: float = element_field(Scalar(), default=0.0, unit="N s/m", meaning="damping coefficient")
    low: float = element_field(Scalar(endless=True), default=0.0, unit="m", meaning="length below which the spring pushes")
    high: float = element_field(Scalar(endless=True), default=0.0, unit="m", meaning="length above which the spring pulls")
    terms: Sequence[tuple[str, int, int, float]] = element_field(Rows(TERM), default=(), meaning=TERMS)
    points: Sequence[tuple[str, Sequence[float]]] = element_field(Rows(POINT), default=(), meaning=POINTS)

    def bodies(self) -> Sequence[str]:
        return [body for body, _ in self.points]

    def joints(self) -> Sequence[str]:
        return [joint for joint, _, _, _ in self.terms]

    def act(self, on: Motion) -> Number:
        path = Path(on, self.terms, self.points)
        stretch = maximum(path.length - self.high, 0.0) + minimum(path.length - self.low, 0.0)
        path.pull(self.stiffness * stretch + self.damping * path.rate)
        return 0.5 * self.stiffness * stretch * stretch
