"""Lines as narrow strips that face the camera, as many pixels wide near as far."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from ...types import FloatArray
from ..camera import Camera
from ..scene import Line
from .themes import linear

WIDTH = {"ground": 1.2, "traces": 3.0}
"""Pixels, by layer …"""
USUAL = 2.0
"""… and of all others."""

NEARER = 2e-3
"""By so much of their depth lines are drawn nearer, so that those in a surface are seen; those of the ground are not."""

PIECES = 24
"""Lines of the ground are cut so often: each piece has its own opacity."""


@dataclass(frozen=True, eq=False)
class Stroke:
    vertices: FloatArray
    """(V, 3) in the world."""
    colours: FloatArray
    """(V, 4): light and opacity."""
    faces: np.ndarray


def strokes(lines: Sequence[Line], camera: Camera, pixel: float, grid_opacity: float) -> Iterator[Stroke]:
    """`pixel`: its height as a share of depth. The lines of the ground fade out from its middle to its edge."""
    grid = np.array([x.points for x in lines if x.layer == "ground"])
    for line in lines:
        points = np.asarray(line.points, dtype=float)
        opacity = np.full(len(points), line.colour[3])
        if line.layer == "ground":
            points = _cut(points)
            away = np.linalg.norm(points - grid.mean(axis=(0, 1)), axis=1) / (0.5 * np.ptp(grid, axis=(0, 1)).max())
            opacity = grid_opacity * line.colour[3] * np.clip(1.0 - away, 0.0, 1.0) ** 0.7
        a, b, opacity_a, opacity_b = points[:-1], points[1:], opacity[:-1], opacity[1:]
        seen = (np.linalg.norm(b - a, axis=1) > 0.0) & ((opacity_a > 0.0) | (opacity_b > 0.0))
        if seen.any():
            yield _strip(a[seen], b[seen], opacity_a[seen], opacity_b[seen], line, camera, pixel)


def _cut(points: FloatArray) -> FloatArray:
    share = np.linspace(0.0, 1.0, PIECES + 1)[:-1, None]
    pieces = [a + share * (b - a) for a, b in pairwise(points)]
    return np.concatenate([*pieces, points[-1:]])


def _strip(
    a: FloatArray, b: FloatArray, opacity_a: FloatArray, opacity_b: FloatArray, line: Line, camera: Camera, pixel: float
) -> Stroke:
    """Two triangles for every segment."""
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
    return Stroke(vertices, colours, faces)
