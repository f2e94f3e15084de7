"""Look of a picture, checked; and the picture of one frame, with its words: title, time, what arrows mean, names of parts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ...errors import NOT_A_NUMBER, StateError, brief
from ...types import FloatArray, truth
from ..outline import corners
from ..scene import GROUND, Scene, ViewDirection, camera_for, direction_of
from .renderer import Renderer
from .themes import RGB, theme_of

if TYPE_CHECKING:
    from PIL.Image import Image
    from PIL.ImageFont import FreeTypeFont

SIZES = 16, 8192
"""Least and most pixels along a side."""


@dataclass(frozen=True)
class Look:
    """size         width and height in pixels
    view         "front", "side", "top", a direction to the camera, or None: a little from above and aside
    theme        "light" or "dark"
    labels       whether bodies and joints are named
    title        at the upper left
    transparent  no background
    """

    size: tuple[int, int] = (1280, 720)
    view: ViewDirection = None
    theme: str = "light"
    labels: bool = False
    title: str = ""
    transparent: bool = False

    def __post_init__(self) -> None:
        theme_of(self.theme)
        try:
            width, height = (int(x) for x in self.size if x == int(x))
        except NOT_A_NUMBER:
            raise StateError(f"size: expected width and height in pixels, as (1280, 720), got {brief(self.size)}") from None
        if not all(SIZES[0] <= x <= SIZES[1] for x in (width, height)):
            raise StateError(f"size: a picture has {SIZES[0]} to {SIZES[1]} pixels along each side, got {width} × {height}")
        object.__setattr__(self, "size", (width, height))
        for name in ("labels", "transparent"):
            truth(getattr(self, name), name)
        if not isinstance(self.title, str):
            raise StateError(f"title: expected text, got {brief(self.title)}")


HEIGHT = 1 / 40
"""Height of letters, as a share of the picture's; of names of parts a little less."""
JOINT = "joint "
"""Beginning of the names of parts that show a joint."""


class Drawing:
    """A scene set up for its pictures: camera, light and lettering are the same in every frame."""

    def __init__(self, scene: Scene, look: Look, samples: int = 3) -> None:
        self.scene, self.look, self.theme = scene, look, theme_of(look.theme)
        self.camera = camera_for(scene, look.size[0] / look.size[1], direction_of(scene, look.view))
        self._renderer = Renderer(scene, self.camera, look.size, self.theme, samples, look.transparent)

    def image(self, k: int = 0, corner: str = "") -> Image:
        """Frame k, with its title at the upper left, `corner` at the lower left, what arrows mean at the lower right, names."""
        from PIL import Image, ImageDraw

        image, theme = Image.fromarray(self._renderer.frame(k)), self.theme
        (width, height), draw = image.size, ImageDraw.Draw(image)
        size = max(10, round(HEIGHT * height))
        edge = round(0.9 * size)

        def write(place: tuple[float, float], text: str, letters: FreeTypeFont, anchor: str, colour: RGB = theme.text) -> None:
            """Write text with a rim of the background's colour, so that it can be read on anything."""
            fill, rim = ((*(round(255 * x) for x in c), 255) for c in (colour, theme.bottom))
            draw.text(place, text, fill=fill, font=letters, anchor=anchor, stroke_width=2, stroke_fill=rim)

        if self.look.title:
            write((edge, edge), self.look.title, font(round(1.15 * size), True), "la")
        if corner:
            write((edge, height - edge), corner, font(size), "ls")
        remarks = [text for layer, text in self.scene.scales.items() if layer in self.scene.shown]
        for line, text in enumerate(reversed(remarks)):
            place = (width - edge, height - edge - line * round(1.3 * size))
            write(place, text, font(max(9, round(0.8 * size))), "rs", theme.quiet)
        small = font(max(9, round(0.72 * size)))
        for text, x, y in _apart(self._names(k), small, width, height) if self.look.labels else ():
            write((x, y), text, small, "lm")
        return image

    def _names(self, k: int) -> list[tuple[str, float, float]]:
        """Names of bodies, in the middle of what is drawn of them, and of joints, with their places on the picture at frame k."""
        scene, size, rows = self.scene, self.look.size, self.scene.carriers.names
        drawn: dict[str, list[FloatArray]] = {}
        for part in scene.parts:
            if part.layer == "bodies" and part.carrier != GROUND:
                name = rows[part.carrier]
            elif part.layer == "joints" and part.name.startswith(JOINT):
                name = "◦ " + part.name.removeprefix(JOINT)
            else:
                continue
            if part.layer in scene.shown:
                points = np.array(corners(part.geometry, part.at))
                if part.carrier != GROUND:
                    points = scene.position[k, part.carrier] + points @ scene.rotation[k, part.carrier].T
                drawn.setdefault(name, []).extend(points)
        out = []
        for name, every in drawn.items():
            x, y, depth = self.camera.project(0.5 * (np.min(every, axis=0) + np.max(every, axis=0)), *size)
            if depth > 0.0 and 0.0 <= x < size[0] and 0.0 <= y < size[1]:
                out.append((name, float(x), float(y)))
        return out


def _apart(
    names: Sequence[tuple[str, float, float]], letters: FreeTypeFont, width: int, height: int
) -> Iterator[tuple[str, float, float]]:
    """The names, moved up or down so that none covers another; those without room are left out."""
    taken: list[tuple[float, float, float, float]] = []
    for text, x, y in sorted(names, key=lambda item: item[2]):
        left, top, right, bottom = letters.getbbox(text, anchor="lm")
        x = min(max(x + 6.0, 0.0), width - right - 2.0)
        step = bottom - top + 3.0
        for k in range(24):
            here = y + ((k + 1) // 2) * (step if k % 2 else -step)
            box = (x, here + top, x + right - left, here + bottom)
            inside = box[1] >= 0.0 and box[3] <= height
            if inside and not any(a[0] < box[2] and box[0] < a[2] and a[1] < box[3] and box[1] < a[3] for a in taken):
                taken.append(box)
                yield text, x, here
                break


@lru_cache
def font(size: int, bold: bool = False) -> FreeTypeFont:
    """DejaVu Sans, which comes with matplotlib: the same letters on every machine."""
    import matplotlib
    from PIL import ImageFont

    name = "DejaVuSans-Bold.ttf" if bold else "DejaVuSans.ttf"
    return ImageFont.truetype(Path(matplotlib.get_data_path()) / "fonts" / "ttf" / name, size)
