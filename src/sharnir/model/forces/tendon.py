"""A path, a sum of joint coordinates or of lines through points of bodies; a tendon, a spring and a damper on its length."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from ...kernels.algebra import ZERO3, neg, scale
from ...trace import Number
from ...trace.functions import maximum, minimum
from ..element import element, element_field, number
from ..motion import Motion
from ..values import Label, Name, Rows, Scalar, Vector, Whole
from .force_element import ForceElement
from .spring_damper import line_between

TERM = {"joint": (Name("joint"), None), "q": (Whole(0), 0), "v": (Whole(0), 0), "coefficient": (Scalar(), None)}
POINT = {"body": (Name("body"), None), "at": (Vector(3), ZERO3)}
TERMS = (
    "joint, number of its coordinate, number of its speed (from zero), coefficient: the length is the sum of coefficient times "
    "coordinate"
)
POINTS = "body and point on it: the length is that of the straight lines through the points"

Terms = Sequence[tuple[str, int, int, Any]]
Points = Sequence[tuple[str, Sequence[Any]]]


class Path:
    """`length` and its `rate`, at the present motion."""

    def __init__(self, on: Motion, terms: Terms, points: Points) -> None:
        self._on, self._terms, self._points = on, terms, points
        self._lines = [line_between(on, a, b) for a, b in pairwise(points)]
        length: Number = sum(line[0] for line in self._lines)
        rate: Number = sum(line[1] for line in self._lines)
        for joint, q, v, coefficient in terms:
            length = length + coefficient * on.coordinates(joint)[q]
            rate = rate + coefficient * on.speeds(joint)[v]
        self.length, self.rate = length, rate

    def pull(self, tension: Number) -> None:
        """Apply a tension along the path, which shortens it."""
        on = self._on
        for joint, _, v, coefficient in self._terms:
            on.torque(joint, [-coefficient * tension if k == v else 0.0 for k in range(on.speed_count(joint))])
        for (_, _, along), (a, at_a), (b, at_b) in zip(self._lines, self._points, self._points[1:], strict=False):
            on.push(a, scale(along, tension), at_a)
            on.push(b, neg(scale(along, tension)), at_b)


@element("tendon")
class Tendon(ForceElement):
    """Spring and damper on the length of a tendon: a sum of joint coordinates, or of the straight lines through points of
    bodies. The spring is slack between `low` and `high`."""

    name: str | None = element_field(Label(), default=None, key="")
    at_places = True
    stiffness: float = number(default=0.0, unit="N/m", meaning="stiffness of the spring")
    damping: float = number(default=0.0, unit="N s/m", meaning="damping coefficient")
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
