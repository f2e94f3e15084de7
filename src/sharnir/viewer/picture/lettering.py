"""Words on a picture: title, time, what arrows mean, names of bodies and joints."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ...types import FloatArray
from ..camera import Camera
from ..outline import corners
from ..scene import GROUND, Scene
from .themes import RGB, Theme

if TYPE_CHECKING:
    from PIL.Image import Image
    from PIL.ImageDraw import ImageDraw
    from PIL.ImageFont import FreeTypeFont

HEIGHT = 1 / 40
"""Height of letters, as a share of the picture's; of names of parts a little less."""


JOINT = "joint "
"""Beginning of the names of parts that show a joint."""


def lettered(
    pixels: np.ndarray, theme: Theme, title: str, corner: str, remarks: Sequence[str],
    names: Sequence[tuple[str, float, float]],
) -> Image:  # fmt: skip
    """The picture with a title at the upper left, `corner` at the lower left, `remarks` at the lower right, names at places."""
    from PIL import Image, ImageDraw

    image = Image.fromarray(pixels)
    height = image.height
    size = max(10, round(HEIGHT * height))
    draw, edge = ImageDraw.Draw(image), round(0.9 * size)
    if title:
        _write(draw, (edge, edge), title, font(round(1.15 * size), True), theme.text, theme, "la")
    if corner:
        _write(draw, (edge, height - edge), corner, font(size), theme.text, theme, "ls")
    for k, text in enumerate(reversed(remarks)):
        place = (image.width - edge, height - edge - k * round(1.3 * size))
        _write(draw, place, text, font(max(9, round(0.8 * size))), theme.quiet, theme, "rs")
    small = font(max(9, round(0.72 * size)))
    for text, x, y in _apart(names, small, image.width, height):
        _write(draw, (x, y), text, small, theme.text, theme, "lm")
    return image


def names_of(scene: Scene, k: int, camera: Camera, size: tuple[int, int]) -> list[tuple[str, float, float]]:
    """Names of bodies, in the middle of what is drawn of them, and of joints, with their places on the picture at frame k."""
    middles: dict[str, list[FloatArray]] = {}
    for part in scene.parts:
        if part.layer not in scene.shown:
            continue
        if part.layer == "bodies" and part.carrier != GROUND:
            name = scene.rows[part.carrier]
        elif part.layer == "joints" and part.name.startswith(JOINT):
            name = "◦ " + part.name.removeprefix(JOINT)
        else:
            name = ""
        if name:
            points = np.array(corners(part.geometry, part.at))
            if part.carrier != GROUND:
                points = scene.position[k, part.carrier] + points @ scene.rotation[k, part.carrier].T
            middles.setdefault(name, []).append(points)
    out = []
    for name, boxes in middles.items():
        every = np.concatenate(boxes)
        x, y, depth = camera.project(0.5 * (every.min(axis=0) + every.max(axis=0)), *size)
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


def _write(
    draw: ImageDraw, place: tuple[float, float], text: str, letters: FreeTypeFont, colour: RGB, theme: Theme, anchor: str
) -> None:
    """Write text with a rim of the background's colour, so that it can be read on anything."""
    fill, rim = ((*(round(255 * x) for x in c), 255) for c in (colour, theme.bottom))
    draw.text(place, text, fill=fill, font=letters, anchor=anchor, stroke_width=2, stroke_fill=rim)


@lru_cache
def font(size: int, bold: bool = False) -> FreeTypeFont:
    """DejaVu Sans, which comes with matplotlib: the same letters on every machine."""
    import matplotlib
    from PIL import ImageFont

    name = "DejaVuSans-Bold.ttf" if bold else "DejaVuSans.ttf"
    return ImageFont.truetype(Path(matplotlib.get_data_path()) / "fonts" / "ttf" / name, size)
