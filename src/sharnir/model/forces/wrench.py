"""A given force and moment on a body."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ...errors import ModelError
from ..motion import ORIGIN, Motion
from ..pose import vector3
from .base import Force, Numbers, value_of


class Wrench(Force):
    """Force and moment at a point of a body.

    force, moment   three numbers, or a function of t, or of (t, on) where `on` is a `Motion` to read the state from
    at              the point, in the axes of the body
    axes            "world" or "body": the axes of force and moment
    """

    def __init__(
        self,
        body: str,
        force: Sequence[float] | Callable[..., Any] = ORIGIN,
        moment: Sequence[float] | Callable[..., Any] = ORIGIN,
        at: Sequence[float] = ORIGIN,
        axes: str = "world",
        name: str | None = None,
    ) -> None:
        self.body, self.force, self.moment, self.at, self.axes, self.name = body, force, moment, at, axes, name
        if axes not in ("world", "body"):
            raise ModelError(f"wrench on {body!r}: axes must be 'world' or 'body', got {axes!r}")
        for what, x in (("force", force), ("moment", moment), ("at", at)):
            if not callable(x):
                vector3(x, f"wrench on {body!r}: {what}")

    def bodies(self) -> Sequence[str]:
        return (self.body,)

    @property
    def alike(self) -> bool:
        return super().alike and not _reads_state(self.force) and not _reads_state(self.moment)

    def numbers(self, on: Motion) -> Numbers:
        given = {"force": self.force, "moment": self.moment, "at": self.at}
        return {name: x for name, x in given.items() if not callable(x)}

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
