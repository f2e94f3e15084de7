"""The triangles of a scene in the axes of what carries them: made once, moved frame by frame."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ...types import FloatArray
from ..camera import Camera
from ..scene import GROUND, Geometry, Part, Scene, Span, opacity_of
from .strokes import Stroke, strokes
from .themes import linear

OPAQUE = 0.999
"""Opacity from which on nothing shows through."""


@dataclass(frozen=True, eq=False)
class Stage:
    """All that is drawn, with the items that carry it: the ground, the bodies, then the spans."""

    scene: Scene
    spans: Sequence[Span]
    vertices: FloatArray
    """(V, 3) in the axes of the item."""
    normals: FloatArray
    colours: FloatArray
    """(V, 4): light and opacity."""
    item: np.ndarray
    faces: np.ndarray
    """(F, 3)."""
    casts: np.ndarray
    """(F,): whether it throws a shadow; lines do not."""

    @cached_property
    def opaque(self) -> np.ndarray:
        return np.flatnonzero(~self._see_through)

    @cached_property
    def translucent(self) -> np.ndarray:
        return np.flatnonzero(self._see_through)

    @cached_property
    def casting(self) -> np.ndarray:
        """Faces that throw a shadow: what is nearly invisible throws none."""
        return np.flatnonzero(self.casts & (self.colours[self.faces[:, 0], 3] > 0.5))

    @cached_property
    def _see_through(self) -> np.ndarray:
        return (self.colours[self.faces, 3] < OPAQUE).any(axis=1)

    def poses(self, k: int) -> FloatArray:
        """(items, 21) at frame k: matrix of points, of normals, position."""
        s = self.scene
        count = s.position.shape[1]
        out = np.zeros((1 + count + len(self.spans), 21))
        turn = out[1 : 1 + count, :9] = s.rotation[k].reshape(-1, 9)
        out[1 : 1 + count, 9:18] = turn
        out[1 : 1 + count, 18:] = s.position[k]
        out[0, :9] = out[0, 9:18] = np.eye(3).ravel()
        now = s.rotation[k : k + 1], s.position[k : k + 1]
        for j, span in enumerate(self.spans):
            if span.vector is not None:
                a = span.start.path(*now)[0]
                a, b = a + span.share[0] * span.vector[k], a + span.share[1] * span.vector[k]
            else:
                a, b = (x[0] for x in span.ends(*now))
            out[1 + count + j] = _stretched(a, b, span.width)
        return out


def stage(scene: Scene, shown: Collection[str], camera: Camera, pixel: float, grid_opacity: float = 1.0) -> Stage:
    """What is on the given layers; of the ground its lines: the background is its floor. `pixel`: its height at depth 1."""
    made = _Collected()
    for part in sorted(scene.parts, key=_size):  # where surfaces are in one plane, the smaller part is seen
        if part.layer in shown and part.layer != "ground":
            made.add(
                part.geometry,
                (*part.colour[:3], opacity_of(part, shown)),
                0 if part.carrier == GROUND else 1 + part.carrier,
                part.at,
            )
    spans = [x for x in scene.spans if x.layer in shown]
    for j, span in enumerate(spans):
        made.add(span.geometry, span.colour, 1 + scene.position.shape[1] + j, np.eye(4))
    for stroke in strokes([x for x in scene.lines if x.layer in shown], camera, pixel, grid_opacity):
        made.add_stroke(stroke)
    return Stage(scene, spans, *made.arrays())


def _size(part: Part) -> float:
    """Of the box around a part."""
    return float(np.linalg.norm(np.abs(part.at[:3, :3]) @ np.ptp(part.geometry.vertices, axis=0)))


class _Collected:
    def __init__(self) -> None:
        self.rows: list[tuple[FloatArray, FloatArray, FloatArray, np.ndarray, np.ndarray, np.ndarray]] = []
        self.count = 0

    def add(self, geometry: Geometry, colour: Sequence[float], item: int, at: FloatArray) -> None:
        vertices = geometry.vertices @ at[:3, :3].T + at[:3, 3]
        normals = geometry.normals @ _cofactors(at[:3, :3]).T
        light = np.empty((len(vertices), 4))
        light[:, :3] = linear(colour[:3] if geometry.colours is None else geometry.colours)
        light[:, 3] = colour[3]
        self._append(vertices, normals, light, item, geometry.faces, True)

    def add_stroke(self, stroke: Stroke) -> None:
        self._append(stroke.vertices, np.zeros_like(stroke.vertices), stroke.colours, 0, stroke.faces, False)

    def _append(
        self, vertices: FloatArray, normals: FloatArray, light: FloatArray, item: int, faces: np.ndarray, casts: bool
    ) -> None:
        items, cast = np.full(len(vertices), item), np.full(len(faces), casts)
        self.rows.append((vertices, normals, light, items, faces.astype(np.int64) + self.count, cast))
        self.count += len(vertices)

    def arrays(self) -> tuple[FloatArray, FloatArray, FloatArray, np.ndarray, np.ndarray, np.ndarray]:
        if not self.rows:
            none = np.zeros((0, 3))
            return none, none, np.zeros((0, 4)), np.zeros(0, np.int64), np.zeros((0, 3), np.int64), np.zeros(0, bool)
        columns = [np.concatenate(x) for x in zip(*self.rows, strict=True)]
        whole = [np.ascontiguousarray(x, dtype=float) for x in columns[:3]]
        return whole[0], whole[1], whole[2], columns[3].astype(np.int64), columns[4].astype(np.int64), columns[5]


def _cofactors(a: FloatArray) -> FloatArray:
    """det(a) a⁻ᵀ: turns normals as `a` turns points, whether it can be inverted or not."""
    rows = np.stack([np.cross(a[1], a[2]), np.cross(a[2], a[0]), np.cross(a[0], a[1])])
    turned: FloatArray = rows if np.linalg.det(a) >= 0 else -rows
    return turned


def _stretched(start: FloatArray, end: FloatArray, width: float) -> FloatArray:
    """(21,): z = 0 … 1 from start to end, across scaled by width; nothing where the two meet."""
    way = end - start
    length = float(np.linalg.norm(way))
    if not length > 0.0:
        return np.zeros(21)
    z = way / length
    x = np.eye(3)[int(np.argmin(np.abs(z)))]
    x = x - (x @ z) * z
    x /= np.linalg.norm(x)
    axes = np.stack([x, np.cross(z, x), z], axis=1)
    scale = np.array([width, width, length])
    return np.concatenate([(axes * scale).ravel(), (axes / scale).ravel(), start])
