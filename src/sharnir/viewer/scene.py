"""A scene: parts that bodies carry, spans between moving points, and lines, over time.

It is made once (`build.py`) and drawn by three renderers: pages (`page/`), the live view (`live/`) and pictures (`picture/`).
None of them knows a joint, a force or a file.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from ..reporting.pictures import COLOURS
from ..types import FloatArray

if TYPE_CHECKING:
    from .outline import Carriers

GROUND = -1
"""The carrier of what does not move."""
LAYERS = {
    "bodies": "bodies by their shapes, meshes and bars",
    "joints": "joints by type",
    "springs": "springs, dampers and tendons",
    "constraints": "constraints between points",
    "ground": "ground with a grid",
    "traces": "paths of points",
    "frames": "frames of bodies and named frames",
    "mass": "centres of mass and ellipsoids of inertia",
    "collision": "shapes that touch others",
    "forces": "forces and moments of the model",
    "reactions": "reactions of the joints",
}
"""Layers that can be switched on and off; in this order in every list of switches."""
SHOWN = ("bodies", "joints", "springs", "constraints", "ground", "traces")
"""Layers that are on by default."""
SEEN_THROUGH, THROUGH = ("frames", "mass"), 0.35
"""Layers inside bodies: where one of them is on, bodies have this opacity."""
Colour = tuple[float, float, float, float]
"""Red, green, blue, opacity; 0 to 1."""
TINTS: tuple[Colour, ...] = tuple((int(c[1:3], 16) / 255, int(c[3:5], 16) / 255, int(c[5:], 16) / 255, 1.0) for c in COLOURS)
"""Colours of several results drawn together, in this order: those of their curves."""


@dataclass(frozen=True, eq=False)
class Geometry:
    """Triangles in their own frame. Parts that look alike share one, so that renderers draw them at once."""

    vertices: np.ndarray
    """(V, 3) float32."""
    faces: np.ndarray
    """(F, 3) int32, counterclockwise from outside."""
    normals: np.ndarray
    """(V, 3) float32, of unit length; vertices of an edge are there once for each face that meets in it."""
    colours: np.ndarray | None = None
    """(V, 3) float32 in place of the part's colour, 0 to 1."""


@dataclass(frozen=True, eq=False)
class Part:
    """A geometry on a body, or on the ground."""

    name: str
    """Name for people: "body boom", "joint slew"."""
    layer: str
    geometry: Geometry
    colour: Colour
    carrier: int
    """A row of poses: a body of the model, a base that moves, a place of a flexible body (`Carriers`); or GROUND."""
    at: FloatArray
    """(4, 4): geometry → carrier. It may scale."""


@dataclass(frozen=True, eq=False)
class Anchor:
    """A point on a body, or on the ground."""

    carrier: int
    point: FloatArray
    """(3,) in the carrier's axes."""

    def path(self, rotation: FloatArray, position: FloatArray) -> FloatArray:
        """(T, 3) in the world, from the poses of all bodies."""
        if self.carrier == GROUND:
            return np.broadcast_to(self.point, (len(position), 3))
        moved: FloatArray = position[:, self.carrier] + rotation[:, self.carrier] @ self.point
        return moved


@dataclass(frozen=True, eq=False)
class Span:
    """A geometry stretched from one moving point to another: its z = 0 at the start, its z = 1 at the end, across it scaled by
    `width`. Where the two meet nothing is drawn."""

    name: str
    layer: str
    geometry: Geometry
    colour: Colour
    width: float
    start: Anchor
    end: Anchor | None = None
    vector: FloatArray | None = None
    """In place of an end: (T, 3) in the world, from the start. Known for the times of the scene only."""
    share: tuple[float, float] = (0.0, 1.0)
    """The part of the way that it covers: an arrow is a shaft and a head."""

    def ends(self, rotation: FloatArray, position: FloatArray, row: int | None = None) -> tuple[FloatArray, FloatArray]:
        """(T, 3), (T, 3) in the world, from the poses of all bodies; `row`: those of one time of the scene, (1, 3) each."""
        a = self.start.path(rotation, position)
        if self.vector is not None:
            way = self.vector if row is None else self.vector[row : row + 1]
        else:
            way = self.end.path(rotation, position) - a if self.end else np.zeros_like(a)
        return a + self.share[0] * way, a + self.share[1] * way


Drawn = TypeVar("Drawn", Part, Span)


@dataclass(frozen=True, eq=False)
class Line:
    """A fixed polyline: the path of a point, a line of the grid."""

    name: str
    layer: str
    points: FloatArray
    """(P, 3) in the world."""
    colour: Colour


@dataclass(frozen=True, eq=False)
class Scene:
    """Everything that is drawn of one model, at the times of a motion or at one."""

    name: str
    t: FloatArray
    """(T,) seconds; one time for a model that stands still."""
    rotation: FloatArray
    """(T, rows, 3, 3): carrier → world."""
    position: FloatArray
    """(T, rows, 3)."""
    carriers: Carriers
    """Where the rows of poses are from."""
    parts: Sequence[Part]
    spans: Sequence[Span]
    lines: Sequence[Line]
    up: FloatArray
    """(3,): against gravity."""
    size: float
    """A length of the mechanism, m: joints and arrows are drawn in proportion to it."""
    low: FloatArray
    high: FloatArray
    """(3,), (3,): the box that all bodies keep in, at all times."""
    shown: tuple[str, ...] = SHOWN
    """Layers that are on at first."""
    scales: Mapping[str, str] = field(default_factory=dict)
    """{layer: what the length of its arrows means}."""
    notes: tuple[str, ...] = ()
    """Remarks on what could not be drawn as the model says, and what is drawn instead."""

    @cached_property
    def bodies(self) -> tuple[str, ...]:
        """Names of the first rows; after them come places of flexible bodies."""
        return self.carriers.names[: self.carriers.first]

    @property
    def choices(self) -> tuple[str, ...]:
        """Bodies that a user may choose from."""
        return tuple(name for i, name in enumerate(self.bodies) if i not in self.carriers.hidden)

    @property
    def layers(self) -> tuple[str, ...]:
        """Layers that have anything in them."""
        there = {x.layer for x in self.parts} | {x.layer for x in self.spans} | {x.layer for x in self.lines}
        return tuple(name for name in LAYERS if name in there)

    def at_poses(self, t: FloatArray, rotation: FloatArray, position: FloatArray) -> Scene:
        """The scene at other poses, without what is known for its own times only."""
        spans = [x for x in self.spans if x.vector is None]
        return replace(self, t=t, rotation=rotation, position=position, spans=spans)


def groups(drawn: Iterable[Drawn], also: Callable[[Drawn], object] = lambda _: None) -> list[list[Drawn]]:
    """Groups of one geometry, layer and opacity, and one value of `also`: renderers draw each at once."""
    found: dict[object, list[Drawn]] = {}
    for x in drawn:
        found.setdefault((id(x.geometry), x.layer, x.colour[3], also(x)), []).append(x)
    return list(found.values())


def opacity_of(part: Part, shown: Collection[str]) -> float:
    """Opacity of a part while these layers are on."""
    inside = part.layer == "bodies" and any(layer in shown for layer in SEEN_THROUGH)
    return part.colour[3] * (THROUGH if inside else 1.0)
