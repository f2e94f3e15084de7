"""Look of a picture, checked; and the picture of one frame."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from ...errors import StateError, brief
from ...types import truth
from ..camera import ViewDirection, camera_for, direction_of
from ..scene import Scene
from .lettering import lettered, names_of
from .renderer import Renderer
from .themes import theme_of

if TYPE_CHECKING:
    from PIL.Image import Image

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
        object.__setattr__(self, "size", check_size(self.size))
        for name in ("labels", "transparent"):
            truth(getattr(self, name), name)
        if not isinstance(self.title, str):
            raise StateError(f"title: expected text, got {brief(self.title)}")


def check_size(size: Any) -> tuple[int, int]:
    try:
        width, height = (int(x) for x in size if x == int(x))
    except (TypeError, ValueError, OverflowError):
        raise StateError(f"size: expected width and height in pixels, as (1280, 720), got {brief(size)}") from None
    if not all(SIZES[0] <= x <= SIZES[1] for x in (width, height)):
        raise StateError(f"size: a picture has {SIZES[0]} to {SIZES[1]} pixels along each side, got {width} × {height}")
    return width, height


class Drawing:
    """A scene set up for its pictures: camera, light and lettering are the same in every frame."""

    def __init__(self, scene: Scene, look: Look, samples: int = 3) -> None:
        self.scene, self.look = scene, look
        width, height = look.size
        self.camera = camera_for(scene, width / height, direction_of(scene, look.view))
        self.theme = theme_of(look.theme)
        self._renderer = Renderer(
            scene, self.camera, look.size, self.theme, samples=samples, transparent=look.transparent
        )  # fmt: skip

    def image(self, k: int = 0, corner: str = "") -> Image:
        """Frame k, with its words; `corner` at the lower left."""
        scene, look = self.scene, self.look
        names = names_of(scene, k, self.camera, look.size) if look.labels else []
        return lettered(self._renderer.frame(k), self.theme, look.title, corner, self._remarks, names)

    @cached_property
    def _remarks(self) -> list[str]:
        """Meaning of the lengths of arrows."""
        return [text for layer, text in self.scene.scales.items() if layer in self.scene.shown]
