"""How pictures look: background, light and lettering, for pages that are light or dark."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...errors import StateError, unknown
from ...types import FloatArray

RGB = tuple[float, float, float]


@dataclass(frozen=True)
class Theme:
    """Colours as on the screen, 0 to 1; strengths of light are linear."""

    top: RGB
    bottom: RGB
    """The background, from top to bottom."""
    lamp: RGB
    above: RGB
    below: RGB
    """Light of the lamp, and from above and below, on a white surface."""
    lift: float
    """Light that is added to dark colours, so that they can be told from the background."""
    gloss: float
    in_shadow: float
    """Share of the lamp's light that its shadows keep."""
    shadow: float
    """How dark shadows on the ground are, 0 to 1."""
    grid: float
    """How strongly the lines of the ground are seen."""
    text: RGB
    quiet: RGB
    """Lettering: names, and what is less important."""


THEMES = {
    "light": Theme(
        top=(0.99, 0.99, 1.0), bottom=(0.925, 0.935, 0.95),
        lamp=(0.66, 0.64, 0.60), above=(0.50, 0.52, 0.56), below=(0.24, 0.23, 0.22),
        lift=0.0, gloss=0.10, in_shadow=0.25, shadow=0.42, grid=1.0,
        text=(0.12, 0.15, 0.20), quiet=(0.40, 0.44, 0.50),
    ),
    "dark": Theme(
        top=(0.085, 0.10, 0.125), bottom=(0.14, 0.16, 0.19),
        lamp=(0.74, 0.71, 0.66), above=(0.34, 0.37, 0.43), below=(0.12, 0.12, 0.13),
        lift=0.05, gloss=0.14, in_shadow=0.2, shadow=0.8, grid=0.3,
        text=(0.93, 0.95, 0.97), quiet=(0.62, 0.67, 0.74),
    ),
}  # fmt: skip


def theme_of(name: str) -> Theme:
    if not isinstance(name, str) or name not in THEMES:
        raise StateError(f"theme {name!r}: " + unknown("theme", name, THEMES, "themes"))
    return THEMES[name]


def linear(colour: object) -> FloatArray:
    """Screen values 0 to 1 as amounts of light (sRGB)."""
    x = np.clip(np.asarray(colour, dtype=float), 0.0, 1.0)
    light: FloatArray = np.where(x <= 0.04045, x / 12.92, ((x + 0.055) / 1.055) ** 2.4)
    return light


def screen_values() -> np.ndarray:
    """(4096,) integers: light 0 to 1 as screen values 0 to 255."""
    x = np.linspace(0.0, 1.0, 4096)
    shown = np.where(x <= 0.0031308, 12.92 * x, 1.055 * x ** (1 / 2.4) - 0.055)
    return np.rint(255.0 * shown).astype(np.int64)
