"""Solids of unit size as triangles: parts scale them to what they draw, so that a thousand links share one geometry.

All are cached: asking twice gives the same object, and renderers draw parts of one geometry at once.
"""

from __future__ import annotations

import math
from functools import lru_cache
from itertools import pairwise

import numpy as np

from ..types import FloatArray
from .scene import Geometry

SMOOTH = 0.9
"""Cosine of the angle between edges of an outline that are drawn as one smooth surface."""
ROUND = 24
"""Sides of round solids."""
SLENDER = 6.0
"""Length over width of a spring."""


@lru_cache
def box() -> Geometry:
    """A cube of edge 1 about the origin."""
    return prism(((-0.5, -0.5), (0.5, -0.5), (0.5, 0.5), (-0.5, 0.5)))


@lru_cache
def cylinder(hole: float = 0.0, sides: int = ROUND) -> Geometry:
    """Radius 1, length 1 along z about the origin; with a bore of radius `hole` < 1."""
    outline = [(hole, -0.5), (1.0, -0.5), (1.0, 0.5), (hole, 0.5)]
    return revolved([*outline, outline[0]] if hole else outline, sides)


@lru_cache
def rod(sides: int = 12) -> Geometry:
    """Radius 1, from z = 0 to z = 1: what spans are drawn with."""
    return revolved([(0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0)], sides)


@lru_cache
def cone(sides: int = 16) -> Geometry:
    """Base of radius 1 at z = 0, tip at z = 1."""
    return revolved([(0.0, 0.0), (1.0, 0.0), (0.0, 1.0)], sides)


@lru_cache
def sphere(sides: int = ROUND) -> Geometry:
    """Radius 1."""
    return capsule(0.0, sides)


@lru_cache
def capsule(length: float, sides: int = ROUND) -> Geometry:
    """Radius 1, a cylinder of the given length along z between two half balls."""
    half = max(sides // 2, 4)
    latitude = math.pi * (np.arange(half + 1) / half - 0.5)
    rows = [(math.cos(x), math.sin(x), -0.5 * length if x < 0 else 0.5 * length) for x in latitude]
    if length:
        rows.insert(half // 2 + half % 2, (1.0, 0.0, -0.5 * length))  # the cylinder between two half balls
    angle = 2.0 * math.pi * np.arange(sides + 1) / sides
    normals = np.array([[(c * math.cos(a), c * math.sin(a), s) for a in angle] for c, s, _ in rows])
    shift = np.array([[0.0, 0.0, z] for _, _, z in rows])
    return _tube(normals + shift[:, None], normals, poles=True)


@lru_cache
def square() -> Geometry:
    """Edge 1 in the plane z = 0, seen from above."""
    corners = [(-0.5, -0.5, 0.0), (0.5, -0.5, 0.0), (0.5, 0.5, 0.0), (-0.5, 0.5, 0.0)]
    return geometry(corners, [(0, 1, 2), (0, 2, 3)], [(0.0, 0.0, 1.0)] * 4)


@lru_cache
def prism(outline: tuple[tuple[float, float], ...]) -> Geometry:
    """A section with corners (y, z), counterclockwise seen from +x, swept along x from −½ to ½. Where edges turn by little they
    are sides of something round: smooth."""
    p = np.array(outline)
    n = len(p)
    edge = _unit(np.roll(p, -1, axis=0) - p)
    out = np.stack([edge[:, 1], -edge[:, 0]], axis=1)  # of every edge, from corner k to k + 1
    smooth = (edge * np.roll(edge, 1, axis=0)).sum(axis=1) > SMOOTH  # at corner k
    mean = _unit(out + np.roll(out, 1, axis=0))
    vertices: list[tuple[float, ...]] = []
    normals: list[tuple[float, ...]] = []
    faces: list[tuple[int, ...]] = []
    for k in range(n):
        first, other = len(vertices), (k + 1) % n
        for x, corner in ((-0.5, k), (-0.5, other), (0.5, other), (0.5, k)):
            vertices.append((x, *p[corner]))
            normals.append((0.0, *(mean[corner] if smooth[corner] else out[k])))
        faces += [(first, first + 1, first + 2), (first, first + 2, first + 3)]
    for x in (-0.5, 0.5):
        first = len(vertices)
        vertices += [(x, *corner) for corner in p]
        normals += [(math.copysign(1.0, x), 0.0, 0.0)] * n
        faces += [tuple(first + k for k in (ear if x > 0 else ear[::-1])) for ear in ears(p)]
    return geometry(vertices, faces, normals)


def ears(p: FloatArray) -> list[tuple[int, int, int]]:
    """A simple polygon (n, 2), counterclockwise, as triangles: ears are cut off until none is left."""
    left, found = list(range(len(p))), []
    while len(left) > 3:
        k = next((k for k in range(len(left)) if _is_ear(p, left, k)), 0)
        found.append((left[k - 1], left[k], left[(k + 1) % len(left)]))
        del left[k]
    return [*found, (left[0], left[1], left[2])]


def _is_ear(p: FloatArray, left: list[int], k: int) -> bool:
    """Whether a corner juts out, and none of the others is in its triangle."""
    a, b, c = left[k - 1], left[k], left[(k + 1) % len(left)]
    inside = [i for i in left if i not in (a, b, c) and all(_area(p[u], p[w], p[i]) >= 0.0 for u, w in ((a, b), (b, c), (c, a)))]
    return _area(p[a], p[b], p[c]) > 0.0 and not inside


def _area(a: FloatArray, b: FloatArray, c: FloatArray) -> float:
    return float((b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]))


@lru_cache
def ring(thickness: float, sides: int = 2 * ROUND) -> Geometry:
    """A torus of radius 1 about z."""
    angle = np.linspace(0.0, 2.0 * math.pi, sides + 1)
    return swept(np.stack([np.cos(angle), np.sin(angle), np.zeros_like(angle)], axis=1), thickness, 8)


@lru_cache
def spring(turns: int = 8) -> Geometry:
    """A coil of radius 1 from z = 0 to z = 1 with straight ends, its wire round where it is `SLENDER` times as long as wide."""
    steps = 14 * turns
    share = np.linspace(0.0, 1.0, steps + 1)
    angle = 2.0 * math.pi * turns * share
    coil = np.stack([np.cos(angle), np.sin(angle), 0.12 + 0.76 * share], axis=1)
    ends = np.array([[0.0, 0.0, 0.0], [0.0, 0.0, 0.09], coil[0]]), np.array([coil[-1], [0.0, 0.0, 0.91], [0.0, 0.0, 1.0]])
    stretch = np.array([1.0, 1.0, 2.0 * SLENDER])
    made = swept(np.concatenate([ends[0][:-1], coil, ends[1][1:]]) * stretch, 0.16, 6)
    return geometry(made.vertices / stretch, made.faces, _unit(made.normals * stretch))


def geometry(vertices: object, faces: object, normals: object) -> Geometry:
    return Geometry(*(np.asarray(x, dtype=kind) for x, kind in ((vertices, "f4"), (faces, "i4"), (normals, "f4"))))


def revolved(outline: list[tuple[float, float]], sides: int) -> Geometry:
    """A line of (radius, z), from below outward, turned about z: smooth around, sharp between its segments."""
    angle = 2.0 * math.pi * np.arange(sides + 1) / sides
    around = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    vertices, normals, faces = list[FloatArray](), list[FloatArray](), list[np.ndarray]()
    for (r0, z0), (r1, z1) in pairwise(outline):
        out, rise = z1 - z0, r0 - r1
        length = math.hypot(out, rise)
        faces.append(_strip(len(vertices) * (sides + 1), sides, r0 > 0.0, r1 > 0.0))
        vertices += [np.column_stack([r * around, np.full(sides + 1, z)]) for r, z in ((r0, z0), (r1, z1))]
        normals += [np.column_stack([out / length * around, np.full(sides + 1, rise / length)])] * 2
    return geometry(np.concatenate(vertices), np.concatenate(faces), np.concatenate(normals))


def swept(path: FloatArray, radius: float, sides: int) -> Geometry:
    """A round wire along a path (P, 3); closed where the path ends where it began."""
    along = np.gradient(path, axis=0)
    if np.allclose(path[0], path[-1]):
        along[0] = along[-1] = path[1] - path[-2]
    along = _unit(along)
    side = np.empty_like(path)
    side[0] = _unit(np.cross(along[0], np.eye(3)[int(np.argmin(np.abs(along[0])))]))
    for k in range(1, len(path)):  # without twist: each is the one before, made square to the path
        side[k] = _unit(side[k - 1] - (side[k - 1] @ along[k]) * along[k])
    other = np.cross(along, side)
    angle = 2.0 * math.pi * np.arange(sides + 1) / sides
    normals = np.cos(angle)[None, :, None] * side[:, None] + np.sin(angle)[None, :, None] * other[:, None]
    return _tube(path[:, None] + radius * normals, normals)


def _tube(vertices: FloatArray, normals: FloatArray, poles: bool = False) -> Geometry:
    """Rings of vertices (R, sides + 1, 3), each joined to the next; `poles`: the first and the last are points."""
    rings, sides = vertices.shape[0], vertices.shape[1] - 1
    ends = (0, rings - 2) if poles else (-1, -1)
    faces = np.concatenate([_strip(k * (sides + 1), sides, k != ends[0], k != ends[1]) for k in range(rings - 1)])
    return geometry(vertices.reshape(-1, 3), faces, normals.reshape(-1, 3))


def _strip(first: int, sides: int, lower: bool = True, upper: bool = True) -> np.ndarray:
    """Triangles between two rings of sides + 1 vertices; where one ring is a point those on it are left out."""
    k = first + np.arange(sides)
    above = k + sides + 1
    parts = [(k, k + 1, above + 1 if upper else above)] * lower + [(k, above + 1, above)] * upper
    return np.concatenate([np.stack(corners, axis=1) for corners in parts])


def _unit(x: FloatArray) -> FloatArray:
    unit: FloatArray = x / np.linalg.norm(x, axis=-1, keepdims=True)
    return unit
