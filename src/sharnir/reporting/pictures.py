"""Matplotlib figures: with a window or without, and which files they can be saved to."""

from __future__ import annotations

from os import PathLike
from typing import TYPE_CHECKING, Any

from .whole_file import check_suffix, file_path, whole_file

if TYPE_CHECKING:
    from matplotlib.figure import Figure

COMMON = (".png", ".svg", ".pdf")
"""Suffixes known without importing matplotlib."""


def new_figure(size: tuple[float, float], *, window: bool = False, **options: Any) -> Figure:
    """A figure of so many inches. Without a window it needs no display, and no pyplot keeps it alive."""
    if window:
        import matplotlib.pyplot as plt

        return plt.figure(figsize=size, **options)
    from matplotlib.figure import Figure

    return Figure(figsize=size, **options)


def save_picture(figure: Figure, path: str | PathLike[str], **options: Any) -> None:
    with whole_file(path) as part:
        figure.savefig(part, dpi=150, **options)


def check_picture_suffix(path: str | PathLike[str]) -> None:
    """Refuse, before anything is computed, a file that matplotlib could not write."""
    suffix = file_path(path).suffix.lower()
    if suffix in COMMON:
        return
    from matplotlib.backend_bases import FigureCanvasBase

    if suffix[1:] not in FigureCanvasBase.get_supported_filetypes():
        check_suffix(path, COMMON, "draw")
