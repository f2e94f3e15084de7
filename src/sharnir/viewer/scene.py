"""A scene: parts that bodies carry, spans between moving points, and lines, over time; and the camera that sees it.

It is made once (`build.py`) and drawn by three renderers: pages (`page/`), the live view (`live/`) and pictures (`picture/`).
None of them knows a joint, a force or a file.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias, TypeVar

import numpy as np

from ..errors import StateError, brief, known, no_such
from ..reporting.pictures import COLOURS
from ..types import FloatArray, real_array

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
    outermost: FloatArray | None = None
    """(P, 3): what a camera must see, the points of the motion that lie outermost; None: the corners of that box."""
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


def outermost(points: FloatArray) -> FloatArray:
    """(P, 3) of (N, 3): those that lie outermost, one for each of many directions."""
    k = np.arange(WAYS) + 0.5
    rise, turn = np.arccos(1.0 - 2.0 * k / WAYS), np.pi * (1.0 + np.sqrt(5.0)) * k  # Fibonacci's lattice on a sphere
    ways = np.stack([np.cos(turn) * np.sin(rise), np.sin(turn) * np.sin(rise), np.cos(rise)])
    return points[np.unique((points @ np.hstack([ways, np.eye(3), -np.eye(3)])).argmax(axis=0))]


def box_corners(low: FloatArray, high: FloatArray) -> FloatArray:
    """(8, 3)."""
    return np.array([[x, y, z] for x in (low[0], high[0]) for y in (low[1], high[1]) for z in (low[2], high[2])])


# --- the camera of a scene, and the projection of points onto the picture: the same for pages, live views and pictures
ViewDirection: TypeAlias = str | Sequence[float] | None
"""A view by name, the direction from the mechanism to the camera, or None: a little from above and aside."""
FIELD = 35.0
"""Vertical angle of view in degrees: narrow, for little distortion by perspective."""
WAYS = 96
"""Directions in which the outermost points of a motion are looked for."""
MARGIN = 1.08
"""Room around the mechanism."""


@dataclass(frozen=True, eq=False)
class Camera:
    """A pinhole camera."""

    position: FloatArray
    target: FloatArray
    up: FloatArray
    field: float = FIELD

    def axes(self) -> FloatArray:
        """(3, 3): right, up and backward in the world, as rows."""
        back = (self.position - self.target) / np.linalg.norm(self.position - self.target)
        right = np.cross(self.up, back)
        right = right / np.linalg.norm(right)
        return np.array([right, np.cross(back, right), back])

    def project(self, points: FloatArray, width: float, height: float) -> FloatArray:
        """(…, 3): pixels to the right and down from the upper left corner, and depth in front of the camera, m."""
        x, y, z = np.moveaxis((points - self.position) @ self.axes().T, -1, 0)
        focal = 0.5 * height / math.tan(math.radians(self.field) / 2)
        return np.stack([0.5 * width + focal * x / -z, 0.5 * height - focal * y / -z, -z], axis=-1)


def camera_for(scene: Scene, aspect: float = 16 / 9, direction: Sequence[float] | None = None) -> Camera:
    """A camera that sees the whole motion. By default from where a planar mechanism is seen flat, a little from above and
    aside; `direction` from the mechanism to the camera, in the world."""
    centre = 0.5 * (scene.low + scene.high)
    away = _three_quarters(scene) if direction is None else np.array(direction, dtype=float)
    away = away / np.linalg.norm(away)
    up = scene.up
    if abs(up @ away) >= 0.999:  # seen from above: x, or the axis most like it, is to the right
        up = np.cross(up, np.eye(3)[0 if abs(up[0]) < 0.9 else 1])
        up = up / np.linalg.norm(up)
    axes = Camera(centre + away, centre, up).axes()
    points = box_corners(scene.low, scene.high) if scene.outermost is None else scene.outermost
    corners, sign = (points - centre) @ axes.T, 0.04 * scene.size  # joints have signs
    slope, shift, distance = math.tan(math.radians(FIELD) / 2), np.zeros(3), 0.0
    for _ in range(6):  # what is nearer looks larger: the middle of the picture is not the middle of the box
        right, above, back = (corners - shift).T
        high, wide = (np.abs(above) + sign) / slope, (np.abs(right) + sign) / (slope * aspect)
        distance = float(max((MARGIN * high + back).max(), (MARGIN * wide + back).max()))
        seen = (corners - shift)[:, :2] / (distance - back)[:, None]
        shift[:2] += 0.5 * (seen.max(axis=0) + seen.min(axis=0)) * distance
    target = centre + shift @ axes
    return Camera(target + away * max(1.02 * distance, 1e-9), target, up)


VIEWS = ("front", "side", "top")
"""Directions that have names: a flat mechanism is seen flat from the front."""


def direction_of(scene: Scene, view: ViewDirection) -> Sequence[float] | None:
    """Direction from the mechanism to the camera, checked."""
    if view is None:
        return None
    if isinstance(view, str):
        if view not in VIEWS:
            raise StateError(f"view: {no_such('view', view, VIEWS)}, or give a direction: three numbers, to the camera")
        front = _front(scene)
        found: FloatArray = {"front": front, "side": np.cross(scene.up, front), "top": scene.up}[view]
    else:
        found = real_array(view, "view")
        if found.shape != (3,) or not np.isfinite(found).all() or not found.any():
            expected = f"{known(VIEWS)} or three numbers, from the mechanism to the camera"
            raise StateError(f"view: expected {expected}, got {brief(view)}")
    return found.tolist()


def _front(scene: Scene) -> FloatArray:
    """Direction of the thinnest horizontal side."""
    up, extent = scene.up, scene.high - scene.low
    sides = [e for e in np.eye(3) if abs(e @ up) < 0.9]
    front = min(sides, key=lambda e: float(e @ extent))
    front = front - (front @ up) * up
    front = front / np.linalg.norm(front)
    return front if front @ np.array([1.0, -1.0, 0.5]) >= 0.0 else -front


def _three_quarters(scene: Scene) -> FloatArray:
    """Direction from the front, turned by 35° and raised by 20°; a flat mechanism is turned less."""
    up, front, extent = scene.up, _front(scene), scene.high - scene.low
    flat = 1.0 - min(1.0, 2.0 * float(np.abs(front) @ extent / max(extent.max(), 1e-300)))
    aside = np.cross(up, front)
    turn, rise = math.radians(35.0 - 15.0 * flat), math.radians(20.0 - 5.0 * flat)
    level: FloatArray = math.cos(turn) * front + math.sin(turn) * aside
    return math.cos(rise) * level + math.sin(rise) * up
