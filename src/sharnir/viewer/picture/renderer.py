"""A scene as pixels, prepared once, then one picture per frame; triangles cut off behind the camera; the lamp and its shadows."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from ...dialect.arithmetic import Options
from ...dialect.native import bind_kernel
from ...types import FloatArray
from ..scene import Camera, Scene, box_corners
from .kernels.light import Surface
from .kernels.place import Placed, View, place
from .kernels.scan import Bins, Cast, bin_triangles, cast_shadows
from .kernels.strips import Picture, Samples, draw_strips
from .themes import Theme, linear, screen_values
from .triangles import Triangles


# --- triangles that reach behind the camera: the part in front of it
def clipped(triangles: Triangles, placed: Placed, view: View) -> tuple[np.ndarray, ...]:
    """Screen, normals, colours, faces, which faces are opaque and which translucent: those given, where nothing reaches behind
    the camera."""
    screen, faces = placed.screen, triangles.faces
    whole = screen, placed.turned, triangles.colours, faces, triangles.opaque, triangles.translucent
    if not (screen[:, 2] < 0.0).any():
        return whole
    behind = screen[faces, 2] < 0.0
    cut = np.flatnonzero(behind.any(axis=1) & ~behind.all(axis=1))
    if not len(cut):
        return whole
    at = faces[cut]
    pose = placed.pose[triangles.item[at]]
    world = np.einsum("...ij,...j->...i", pose[..., :9].reshape(*at.shape, 3, 3), triangles.vertices[at]) + pose[..., 18:]
    seen = (world - view.camera[:3]) @ view.camera[3:12].reshape(3, 3).T  # in the axes of the camera
    corners = np.concatenate([seen, placed.turned[at], triangles.colours[at]], axis=2)
    depth = -corners[:, :, 2] - view.near[0]
    made, source = [], []
    for f, triangle, d in zip(cut, corners, depth, strict=True):
        polygon = _in_front(triangle, d)
        for j in range(1, len(polygon) - 1):
            made.append([polygon[0], polygon[j], polygon[j + 1]])
            source.append(f)
    new = np.array(made).reshape(-1, 10)
    see_through = np.isin(source, triangles.translucent)
    first = len(faces) + np.arange(len(source))
    focal, x, y = view.camera[12:]
    w = -1.0 / new[:, 2]
    return (
        np.concatenate([screen, np.stack([x + focal * w * new[:, 0], y - focal * w * new[:, 1], w], axis=1)]),
        np.concatenate([placed.turned, new[:, 3:6]]),
        np.concatenate([triangles.colours, new[:, 6:]]),
        np.concatenate([faces, len(screen) + np.arange(len(new)).reshape(-1, 3)]),
        np.concatenate([triangles.opaque, first[~see_through]]),
        np.concatenate([triangles.translucent, first[see_through]]),
    )


def _in_front(corners: FloatArray, d: FloatArray) -> list[FloatArray]:
    """The polygon where d > 0 (Sutherland, Hodgman 1974)."""
    out = []
    for j in range(3):
        a, b, da, db = corners[j - 1], corners[j], d[j - 1], d[j]
        if (da > 0.0) != (db > 0.0):
            out.append(a + da / (da - db) * (b - a))
        if db > 0.0:
            out.append(b)
    return out


# --- the lamp of a picture, and the shadows it throws: soft on the ground, the softer the higher up what throws them
TEXELS = 768
"""Squares along a side of what the lamp sees."""
ABOVE_ALL = 1e29
"""No surface is so high."""
MARGIN = 0.12
"""Room for soft edges, as a share of that side."""


def lamp(scene: Scene, camera: Camera) -> FloatArray:
    """Direction to the lamp: over the left shoulder of the viewer."""
    right = camera.axes()[0]
    right = right - (right @ scene.up) * scene.up
    right /= max(float(np.linalg.norm(right)), 1e-12)
    toward = np.cross(right, scene.up)
    direction: FloatArray = scene.up - 0.42 * right + 0.5 * toward
    return direction / np.linalg.norm(direction)


def cast_map(scene: Scene, direction: FloatArray, height: float, texels: int) -> tuple[FloatArray, float]:
    """(4, 3) of `kernels.place.View.sun`, and texels in a metre. The whole motion has room: it is the same for all frames."""
    up = scene.up
    e = np.eye(3)[int(np.argmin(np.abs(up)))]
    e1 = e - (e @ up) * up
    e1 /= np.linalg.norm(e1)
    e2 = np.cross(up, e1)
    rows = np.stack([axis - (axis @ direction) / (up @ direction) * up for axis in (e1, e2)])
    corners = scene.low + box_corners(np.zeros(3), np.ones(3)) * (scene.high - scene.low)
    base = 0.5 * (scene.low + scene.high)
    base = base + (height - up @ base) * up
    seen = (corners - base) @ rows.T
    low, high = seen.min(axis=0), seen.max(axis=0)
    side = max(float((high - low).max()), 1e-3 * scene.size, 1e-9) * (1.0 + 2.0 * MARGIN)
    scale = texels / side
    middle = 0.5 * (low + high)
    origin = base + (middle[0] - 0.5 * side) * e1 + (middle[1] - 0.5 * side) * e2
    return np.vstack([scale * rows, scale * up, origin]), scale


def soft(lowest: FloatArray) -> FloatArray:
    """(n/2, n/2) 0 to 1: the shadow on the ground, from the height (texels) of the lowest surface over each of n × n squares.

    What is near the ground throws a sharp shadow, what is high a soft and paler one.
    """
    from scipy.ndimage import gaussian_filter

    lowest = np.minimum(lowest[::2], lowest[1::2])
    lowest = 0.5 * np.minimum(lowest[:, ::2], lowest[:, 1::2])
    n = lowest.shape[0]
    covered = lowest < ABOVE_ALL
    if not covered.any():
        return np.zeros((n, n))
    height = np.minimum(lowest, n).astype(np.float32) / n
    near = np.where(covered, np.exp(height * (-1 / 0.06)), 0.0)
    middle = np.where(covered, np.exp(height * (-1 / 0.22)), 0.0) - near
    far = covered - near - middle
    out = gaussian_filter(near, 1.0, truncate=2.5)
    for layer, sigma, strength, step in ((middle, 3.5, 0.9, 2), (far, 8.0, 0.75, 4)):
        out += strength * _enlarged(gaussian_filter(_reduced(layer, step), sigma / step, truncate=2.5), step)
    return np.clip(out, 0.0, 1.0).astype(float)


def _reduced(layer: np.ndarray, step: int) -> np.ndarray:
    """Means of squares."""
    while step > 1:
        rows = layer[::2] + layer[1::2]
        layer, step = (rows[:, ::2] + rows[:, 1::2]) * np.float32(0.25), step // 2
    return layer


def _enlarged(small: np.ndarray, step: int) -> np.ndarray:
    """Linear between the middles of the squares."""
    from scipy.ndimage import uniform_filter1d

    for axis in (0, 1):
        small = uniform_filter1d(np.repeat(small, step, axis=axis), step, axis=axis)
    return small


# --- renderer
ROWS = 6
"""Rows of pixels in a strip: its samples stay in the processor's cache."""
AS_WRITTEN = Options(exact=True, branches=True, inline=400)
"""Bit by bit what the interpreter gives."""
NEAR = 0.02
"""Least depth that is drawn, as a share of the distance to what the camera looks at."""


class Renderer:
    """Pictures of one scene from one camera.

    samples       along a side of a pixel: 3 gives nine
    transparent   no background: the pixels' opacity says where something is
    texels        along a side of the map of shadows, a multiple of 8
    interpreted   run the text of the raster by the interpreter: for tests
    """

    def __init__(
        self, scene: Scene, camera: Camera, size: tuple[int, int], theme: Theme,
        samples: int = 3, transparent: bool = False, interpreted: bool = False, texels: int = TEXELS,
    ) -> None:  # fmt: skip
        self.size, self.samples, self._interpreted, self._texels = size, samples, interpreted, texels
        focal = 0.5 / math.tan(math.radians(camera.field) / 2)
        self.triangles = Triangles(scene, camera, 1.0 / (focal * size[1]), theme.grid)
        self.triangles.colours[:, :3] += theme.lift * (1.0 - self.triangles.colours[:, :3])
        height, drawn = _ground(scene)
        direction = lamp(scene, camera)
        sun, scale = cast_map(scene, direction, height, texels)
        centre = 0.5 * samples * np.array([size[0], size[1]])
        numbers = np.concatenate([camera.position, camera.axes().ravel(), [focal * samples * size[1]], centre])
        distance = float(np.linalg.norm(camera.target - camera.position))
        self.view = View(numbers, np.array([NEAR * distance]), sun)
        self._lamps = np.stack([direction, theme.lamp, theme.above, theme.below, scene.up]).astype(float)
        self._gloss = np.array([theme.gloss, theme.in_shadow])
        self._ground = np.array([height, theme.shadow if drawn else 0.0, scale])
        opacity = 0.0 if transparent else 1.0
        self._background = np.array([[*linear(theme.top), opacity], [*linear(theme.bottom), opacity]])
        self._encode = screen_values()
        n = ROWS * samples**2 * size[0]
        cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
        threads = 1 if interpreted else min(4, cores)
        self._samples = [Samples(np.empty(n), np.empty(n, dtype=np.int64), np.empty((n, 4))) for _ in range(threads)]

    def frame(self, k: int = 0) -> np.ndarray:
        """(height, width, 4) of 8 bits at frame k of the scene: red, green, blue, opacity."""
        s = self.triangles
        n = len(s.vertices)
        placed = Placed(s.vertices, s.normals, s.item, s.poses(k), np.empty((n, 3)), np.empty((n, 3)), np.empty((n, 3)))
        self._run(place, self.view, placed)
        highest, lowest = np.empty((2, self._texels, self._texels))
        self._run(cast_shadows, Cast(placed.cast, s.faces, s.casting, highest, lowest))
        shadow = soft(lowest) if self._ground[1] > 0.0 else np.zeros((2, 2))
        screen, turned, colours, faces, opaque, translucent = clipped(s, placed, self.view)
        light = self._lamps, self._gloss, self._ground, highest, shadow
        surface = Surface(self.view, screen, turned, colours, faces, *light)
        order = np.argsort(screen[faces[translucent], 2].sum(axis=1), kind="stable")  # the farthest first
        bins = [self._bins(screen, faces, chosen) for chosen in (opaque, translucent[order])]
        return self._drawn(surface, bins)

    def _bins(self, screen: FloatArray, faces: np.ndarray, chosen: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Triangles strip by strip, and where each strip ends."""
        strips = -(-self.size[1] // ROWS)
        start, rows = np.zeros(strips + 1, dtype=np.int64), np.array([ROWS * self.samples])
        none = np.zeros(0, dtype=np.int64)
        chosen = np.ascontiguousarray(chosen, dtype=np.int64)
        self._run(bin_triangles, Bins(screen, faces, chosen, rows, start, none))
        start = np.cumsum(start)
        if not start[-1]:
            return none, start[1:]
        entries = np.empty(start[-1], dtype=np.int64)
        self._run(bin_triangles, Bins(screen, faces, chosen, rows, start, entries))
        return entries, start[:-1].copy()

    def _drawn(self, surface: Surface, bins: Sequence[tuple[np.ndarray, np.ndarray]]) -> np.ndarray:
        width, height = self.size
        pixels = np.empty((height, width), dtype=np.int64)
        threads = len(self._samples)

        def strips(thread: int) -> None:
            plan = np.array([self.samples, ROWS, thread, threads])
            shown = *bins[0], *bins[1], self._background, self._encode, pixels
            self._run(draw_strips, Picture(surface, self._samples[thread], plan, *shown))

        with ThreadPoolExecutor(threads) as pool:
            list(pool.map(strips, range(threads)))
        return pixels.astype("<u4").view(np.uint8).reshape(height, width, 4)

    def _run(self, function: Any, *groups: Any) -> None:
        bind_kernel(function, *groups, options=AS_WRITTEN, compiled=not self._interpreted)()


def _ground(scene: Scene) -> tuple[float, bool]:
    """The height of the ground along `up`, and whether it is drawn: that of the lines and parts on its layer."""
    lines = [x.points @ scene.up for x in scene.lines if x.layer == "ground"]
    if lines:
        return float(min(x.min() for x in lines)), "ground" in scene.shown
    corners = scene.low + box_corners(np.zeros(3), np.ones(3)) * (scene.high - scene.low)
    return float((corners @ scene.up).min()), False
