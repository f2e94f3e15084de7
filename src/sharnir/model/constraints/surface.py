"""A point of a body on a surface or on a curve."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ..pose import vector3
from .base import Constraint, Row

if TYPE_CHECKING:
    from ..motion import Motion

ORIGIN = (0.0, 0.0, 0.0)


class PointOnSurface(Constraint):
    """surface(x, y, z, t) = 0 for a point of a body; x, y, z in the axes of `of`, "ground" by default."""

    def __init__(
        self,
        body: str,
        surface: Callable[[Any, Any, Any, Any], Any],
        at: Sequence[float] = ORIGIN,
        of: str = "ground",
        name: str | None = None,
    ) -> None:
        self.body, self.of, self.name = body, of, name
        self.surfaces: tuple[Callable[[Any, Any, Any, Any], Any], ...] = (surface,)
        self.at = vector3(at, "point on a surface: at")

    def bodies(self) -> Sequence[str]:
        return self.body, self.of

    def positions(self, on: Motion) -> Sequence[Row]:
        x, y, z = on.pose(self.of).inverse() @ (on.pose(self.body) @ self.at)
        names = ("surface",) if len(self.surfaces) == 1 else ("first surface", "second surface")
        return [(name, f(x, y, z, on.t)) for name, f in zip(names, self.surfaces, strict=True)]


class PointOnCurve(PointOnSurface):
    """A curve as the section of two surfaces."""

    def __init__(
        self,
        body: str,
        first: Callable[[Any, Any, Any, Any], Any],
        second: Callable[[Any, Any, Any, Any], Any],
        at: Sequence[float] = ORIGIN,
        of: str = "ground",
        name: str | None = None,
    ) -> None:
        super().__init__(body, first, at, of, name)
        self.surfaces = (first, second)
