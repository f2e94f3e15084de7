"""The triangles of a scene, lines as narrow strips too, in the axes of their carriers: made once, moved frame by frame."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from ...types import FloatArray
from ..scene import GROUND, SEEN_THROUGH, THROUGH, Camera, Geometry, Line, Part, Scene
from .themes import linear

# --- lines as narrow strips that face the camera, as many pixels wide near as far
WIDTH = {"ground": 1.2, "traces": 3.0}
"""Pixels, by layer …"""
USUAL = 2.0
"""… and of all others."""
NEARER = 2e-3
"""Share of their depth by which lines are drawn nearer, so that those in a surface are seen; not those of the ground."""
PIECES = 24
"""Pieces of a line of the ground: each has its own opacity."""


class Piece(NamedTuple):
    """Triangles that one item carries."""

    vertices: FloatArray
    """(V, 3) in the axes of the item."""
    normals: FloatArray
    colours: FloatArray
    """(V, 4): light and opacity."""
    faces: np.ndarray
    item: int = 0
    casts: bool = True
    """Whether it throws a shadow; lines do not."""


def strokes(lines: Sequence[Line], camera: Camera, pixel: float, grid_opacity: float) -> Iterator[Piece]:
    """Two triangles for every segment; lines of the ground fade out to its edge. `pixel`: its height as a share of depth."""
    grid = np.array([x.points for x in lines if x.layer == "ground"])
    for line in lines:
        points = np.asarray(line.points, dtype=float)
        opacity = np.full(len(points), line.colour[3])
        if line.layer == "ground":
            share = np.linspace(0.0, 1.0, PIECES + 1)[:-1, None]
            points = np.concatenate([*(a + share * (b - a) for a, b in pairwise(points)), points[-1:]])
            away = np.linalg.norm(points - grid.mean(axis=(0, 1)), axis=1) / (0.5 * np.ptp(grid, axis=(0, 1)).max())
            opacity = grid_opacity * line.colour[3] * np.clip(1.0 - away, 0.0, 1.0) ** 0.7
        a, b, opacity_a, opacity_b = points[:-1], points[1:], opacity[:-1], opacity[1:]
        seen = (np.linalg.norm(b - a, axis=1) > 0.0) & ((opacity_a > 0.0) | (opacity_b > 0.0))
        if not seen.any():
            continue
        a, b, opacity_a, opacity_b = a[seen], b[seen], opacity_a[seen], opacity_b[seen]
        half = 0.5 * WIDTH.get(line.layer, USUAL) * pixel
        back = camera.axes()[2]
        if line.layer != "ground":
            a, b = (p + NEARER * (camera.position - p) for p in (a, b))
        side = np.cross(b - a, camera.position - a)
        side /= np.maximum(np.linalg.norm(side, axis=1, keepdims=True), 1e-300)
        wide_a, wide_b = (side * half * ((camera.position - p) @ back)[:, None] for p in (a, b))
        if line.layer != "ground":  # segments of a path overlap a little: no gap is seen where it bends
            along = 0.5 * (b - a) / np.linalg.norm(b - a, axis=1, keepdims=True)
            a = a - along * np.linalg.norm(wide_a, axis=1, keepdims=True)
            b = b + along * np.linalg.norm(wide_b, axis=1, keepdims=True)
        vertices = np.stack([a - wide_a, a + wide_a, b + wide_b, b - wide_b], axis=1).reshape(-1, 3)
        colours = np.empty((len(vertices), 4))
        colours[:, :3] = linear(line.colour[:3])
        colours[:, 3] = np.stack([opacity_a, opacity_a, opacity_b, opacity_b], axis=1).ravel()
        first = 4 * np.arange(len(a))[:, None]
        faces = np.concatenate([first + np.array([0, 1, 2]), first + np.array([0, 2, 3])])
        yield Piece(vertices, np.zeros_like(vertices), colours, faces, casts=False)


# --- all that is drawn
OPAQUE = 0.999
"""Opacity from which on nothing shows through."""


class Triangles:
    """All that is drawn, with the items that carry it: the ground, the bodies, then the spans.

    vertices, normals (V, 3) in the axes of the item, `item` (V,); colours (V, 4): light and opacity; faces (F, 3). Of the layers
    that are on; of the ground only lines: the background is its floor.
    """

    def __init__(self, scene: Scene, camera: Camera, pixel: float, grid_opacity: float) -> None:
        """`pixel`: its height at depth 1."""
        self.scene, none, shown = scene, np.zeros((0, 3)), scene.shown
        pieces = [Piece(none, none, np.zeros((0, 4)), none.astype(int))]
        for part in sorted(scene.parts, key=_size):  # where surfaces are in one plane, the smaller part is seen
            if part.layer in shown and part.layer != "ground":
                inside = part.layer == "bodies" and any(layer in shown for layer in SEEN_THROUGH)
                colour = (*part.colour[:3], part.colour[3] * (THROUGH if inside else 1.0))
                pieces.append(_piece(part.geometry, colour, 0 if part.carrier == GROUND else 1 + part.carrier, part.at))
        self.spans = [x for x in scene.spans if x.layer in shown]
        for j, span in enumerate(self.spans):
            pieces.append(_piece(span.geometry, span.colour, 1 + scene.position.shape[1] + j, np.eye(4)))
        pieces += strokes([x for x in scene.lines if x.layer in shown], camera, pixel, grid_opacity)
        first = np.cumsum([0, *(len(x.vertices) for x in pieces)])
        self.vertices, self.normals, self.colours = (
            np.ascontiguousarray(np.concatenate([x[k] for x in pieces]), dtype=float) for k in range(3)
        )
        self.item = np.concatenate([np.full(len(x.vertices), x.item, dtype=np.int64) for x in pieces])
        self.faces = np.concatenate([x.faces.astype(np.int64) + k for x, k in zip(pieces, first, strict=False)])
        see_through = (self.colours[self.faces, 3] < OPAQUE).any(axis=1)
        self.opaque, self.translucent = np.flatnonzero(~see_through), np.flatnonzero(see_through)
        casts = np.concatenate([np.full(len(x.faces), x.casts) for x in pieces])  # what is nearly invisible throws no shadow
        self.casting = np.flatnonzero(casts & (self.colours[self.faces[:, 0], 3] > 0.5))

    def poses(self, k: int) -> FloatArray:
        """(items, 21) at frame k: matrix of points, of normals, position."""
        s = self.scene
        count = s.position.shape[1]
        out = np.zeros((1 + count + len(self.spans), 21))
        out[1 : 1 + count, :9] = out[1 : 1 + count, 9:18] = s.rotation[k].reshape(-1, 9)
        out[1 : 1 + count, 18:] = s.position[k]
        out[0, :9] = out[0, 9:18] = np.eye(3).ravel()
        now = s.rotation[k : k + 1], s.position[k : k + 1]
        for j, span in enumerate(self.spans):
            a, b = span.ends(*now, k)
            out[1 + count + j] = _stretched(a[0], b[0], span.width)
        return out


def _size(part: Part) -> float:
    """Diagonal of the box around a part."""
    return float(np.linalg.norm(np.abs(part.at[:3, :3]) @ np.ptp(part.geometry.vertices, axis=0)))


def _piece(geometry: Geometry, colour: Sequence[float], item: int, at: FloatArray) -> Piece:
    vertices = geometry.vertices @ at[:3, :3].T + at[:3, 3]
    a = at[:3, :3]  # normals turn by det(a) a⁻ᵀ, whether a can be inverted or not
    cofactors = np.stack([np.cross(a[1], a[2]), np.cross(a[2], a[0]), np.cross(a[0], a[1])])
    normals = geometry.normals @ (cofactors if np.linalg.det(a) >= 0 else -cofactors).T
    light = np.empty((len(vertices), 4))
    light[:, :3] = linear(colour[:3] if geometry.colours is None else geometry.colours)
    light[:, 3] = colour[3]
    return Piece(vertices, normals, light, geometry.faces, item)


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
