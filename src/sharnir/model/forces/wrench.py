"""A given force and moment on a body."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ...errors import ModelError
from ..pose import vector3
from .base import Force, value_of
from .loads import ORIGIN, Loads


class Wrench(Force):
    """Force and moment at a point of a body.

    force, moment   three numbers, or a function of t, or of (t, on) where `on` is a `Loads` to read the state from
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

    def act(self, on: Loads) -> None:
        force, moment = (value_of(x, *_arguments(x, on)) for x in (self.force, self.moment))
        push = on.push if self.axes == "world" else on.push_in_body
        push(self.body, force, self.at, moment)


def _arguments(function: Any, on: Loads) -> tuple[Any, ...]:
    """(t) or (t, on), as many as the function takes."""
    if not callable(function):
        return ()
    if hasattr(function, "reads_state"):  # a VectorFormula knows
        return (on.t, on) if function.reads_state else (on.t,)
    code = getattr(function, "__code__", None)
    return (on.t, on) if code is not None and code.co_argcount - len(function.__defaults__ or ()) >= 2 else (on.t,)
