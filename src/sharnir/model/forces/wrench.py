"""A given force and moment on a body."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ...kernels.algebra import ZERO3
from ..element import element, element_field
from ..motion import Motion
from ..values import Choice, Label, Name, Vector, VectorFunction
from .force_element import ForceElement, Numbers, value_of


@element("wrench")
class Wrench(ForceElement):
    """Force and moment at a point of a body: numbers, or functions of t, or of (t, on) where `on` is a `Motion` to read the
    state from; in files formulas of t and of signals (q.elbow, v.ball.wx, parameter.k, position.hand.z, velocity.hand.z)."""

    body: str = element_field(Name("body"), meaning="the body")
    force: Sequence[float] | Callable[..., Any] = element_field(
        VectorFunction(), default=ZERO3, unit="N", meaning="three numbers or a function"
    )
    moment: Sequence[float] | Callable[..., Any] = element_field(
        VectorFunction(), default=ZERO3, unit="N m", meaning="three numbers or a function"
    )
    at: Sequence[float] = element_field(Vector(3), default=ZERO3, unit="m", meaning="the point, in the body's axes")
    axes: str = element_field(Choice(("world", "body")), default="world", meaning="the axes of force and moment")
    name: str | None = element_field(Label(), default=None, key="")
    at_places = True

    @property
    def alike(self) -> bool:
        return super().alike and not _reads_state(self.force) and not _reads_state(self.moment)

    def formula(self, on: Motion, n: Numbers) -> None:
        given = {"force": self.force, "moment": self.moment, **n}
        force, moment = (
            value_of(x, on.t, on) if _reads_state(x) else value_of(x, on.t) for x in (given["force"], given["moment"])
        )
        push = on.push if self.axes == "world" else on.push_in_body
        push(self.body, force, n["at"], moment)


def _reads_state(x: Any) -> bool:
    """Whether it is a function of (t, on), not of t alone."""
    if hasattr(x, "reads_state"):  # a VectorFormula knows
        return x.reads_state
    code = getattr(x, "__code__", None)
    return code is not None and code.co_argcount - len(x.__defaults__ or ()) >= 2
