"""A scene as pixels: what is asked for, made ready once; then one picture per frame."""

from __future__ import annotations

import math
import os
from collections.abc import Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from ...dialect.arithmetic import Options
from ...dialect.native import Loop
from ...types import FloatArray
from ..camera import Camera
from ..scene import Scene
from .clipping import clipped
from .kernels.bins import Bins, bin_triangles
from .kernels.light import Surface
from .kernels.place import Placed, View, place
from .kernels.shadow import Cast, cast_shadows
from .kernels.strips import Picture, Samples, draw_strips
from .shadows import TEXELS, cast_map, lamp, soft
from .stage import stage
from .themes import Theme, linear, screen_values

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
        self, scene: Scene, camera: Camera, size: tuple[int, int], theme: Theme, shown: Collection[str] | None = None,
        samples: int = 3, transparent: bool = False, interpreted: bool = False, texels: int = TEXELS,
    ) -> None:  # fmt: skip
        self.scene, self.camera, self.size, self.samples = scene, camera, size, samples
        shown = scene.shown if shown is None else shown
        self._interpreted = interpreted
        focal = 0.5 / math.tan(math.radians(camera.field) / 2)
        self.stage = stage(scene, shown, camera, 1.0 / (focal * size[1]), theme.grid)
        self.stage.colours[:, :3] += theme.lift * (1.0 - self.stage.colours[:, :3])
        self._casting = self.stage.casting
        height, drawn = _ground(scene, shown)
        direction = lamp(scene, camera)
        sun, scale = cast_map(scene, direction, height, texels)
        self._texels = texels
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
        self._work: dict[int, Samples] = {}

    def frame(self, k: int = 0) -> np.ndarray:
        """(height, width, 4) of 8 bits at frame k of the scene: red, green, blue, opacity."""
        s = self.stage
        n = len(s.vertices)
        placed = Placed(s.vertices, s.normals, s.item, s.poses(k), np.empty((n, 3)), np.empty((n, 3)), np.empty((n, 3)))
        self._run(place, self.view, placed)
        highest, shadow = self._shadows(placed.cast)
        screen, turned, colours, faces, opaque, translucent = clipped(s, placed, self.view)
        surface = Surface(
            self.view, screen, turned, colours, faces, self._lamps, self._gloss, self._ground, highest, shadow
        )  # fmt: skip
        order = np.argsort(screen[faces[translucent], 2].sum(axis=1), kind="stable")  # the farthest first
        bins = [self._bins(screen, faces, chosen) for chosen in (opaque, translucent[order])]
        return self._drawn(surface, bins)

    def _shadows(self, cast: FloatArray) -> tuple[FloatArray, FloatArray]:
        """What the lamp sees, and the shadow on the ground."""
        n = self._texels
        highest, lowest = np.empty((n, n)), np.empty((n, n))
        self._run(cast_shadows, Cast(cast, self.stage.faces, self._casting, highest, lowest))
        return highest, soft(lowest) if self._ground[1] > 0.0 else np.zeros((2, 2))

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
        threads = 1 if self._interpreted else _threads()

        def strips(thread: int) -> None:
            plan = np.array([self.samples, ROWS, thread, threads])
            (opaque, opaque_ends), (translucent, translucent_ends) = bins
            self._run(
                draw_strips,
                Picture(
                    surface, self._samples(thread), plan, opaque, opaque_ends, translucent, translucent_ends,
                    self._background, self._encode, pixels,
                ),
            )  # fmt: skip

        if threads == 1:
            strips(0)
        else:
            with ThreadPoolExecutor(threads) as pool:
                list(pool.map(strips, range(threads)))
        return pixels.astype("<u4").view(np.uint8).reshape(height, width, 4)

    def _samples(self, thread: int) -> Samples:
        if thread not in self._work:
            n = ROWS * self.samples**2 * self.size[0]
            self._work[thread] = Samples(np.empty(n), np.empty(n, dtype=np.int64), np.empty((n, 4)))
        return self._work[thread]

    def _run(self, function: Any, *groups: Any) -> None:
        if self._interpreted:
            function(*groups)
        else:
            Loop(function, tuple(type(x) for x in groups), AS_WRITTEN).bind(*groups)()


def _threads() -> int:
    return min(4, len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1)


def _ground(scene: Scene, shown: Collection[str]) -> tuple[float, bool]:
    """The height of the ground along `up`, and whether it is drawn: that of the lines and parts on its layer."""
    lines = [x.points @ scene.up for x in scene.lines if x.layer == "ground"]
    if lines:
        return float(min(x.min() for x in lines)), "ground" in shown
    corners = np.array([[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)])
    return float(((scene.low + corners * (scene.high - scene.low)) @ scene.up).min()), False
