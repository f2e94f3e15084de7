"""Matplotlib figures: with a window or without, their colours and axes, and which files they can be saved to."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from math import ceil, floor, log10
from os import PathLike
from typing import TYPE_CHECKING, Any

from .atomic_write import atomic_write, check_suffix, check_writable, file_path
from .notebook import kernel_shell

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLOURS = ("#1b6ca8", "#d1495b", "#2e8b57", "#edae49", "#6a4c93", "#00798c", "#8d6a4f", "#444444")
GREY, INK, PALE = "#888888", "#22262b", "#e7e9ec"
COMMON = (".png", ".svg", ".pdf")
"""Suffixes known without importing matplotlib."""


def new_figure(size: tuple[float, float], *, window: bool = False, **options: Any) -> Figure:
    """A figure of so many inches. Without a window it needs no display, and no pyplot keeps it alive."""
    if window:
        import matplotlib.pyplot as plt

        figure = plt.figure(figsize=size, **options)
        if kernel_shell() is not None and "inline" in plt.get_backend().lower():
            vars(figure)["_ipython_display_"] = partial(_displayed, figure)
        return figure
    from matplotlib.figure import Figure

    return Figure(figsize=size, **options)


def _displayed(figure: Figure) -> None:
    """A figure that is shown as the value of a cell is closed, or pyplot shows it again at the end of the cell."""
    import matplotlib.pyplot as plt

    plt.close(figure)
    raise NotImplementedError  # IPython then shows it as it shows all figures


def plain_axes(axes: Axes, label: str) -> None:
    """Small grey ticks, a light grid, no frame; `label` of the vertical axis."""
    axes.set_ylabel(label, fontsize=9)
    axes.tick_params(labelsize=8, color=GREY)
    axes.grid(True, color="#eeeeee", linewidth=0.8)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    axes.spines[["left", "bottom"]].set_color(GREY)


def add_legend(axes: Axes, *entries: Any, **options: Any) -> None:
    """A legend without a frame; its texts are not read as formulas."""
    options = {"borderaxespad": 0.0, "alignment": "left", **options}
    legend = axes.legend(*entries, frameon=False, **options)
    for text in (*legend.get_texts(), legend.get_title()):
        text.set_parse_math(False)


def save_picture(figure: Figure, path: str | PathLike[str], **options: Any) -> None:
    with atomic_write(path) as part:
        figure.savefig(part, dpi=150, **options)


def round_number(x: float, up: bool = True) -> float:
    """The next of 1, 2 and 5 times a power of ten: not less than x, or not more than it, but for a thousandth."""
    power = 10.0 ** floor(log10(x))
    found = [k * power for k in (1.0, 2.0, 5.0, 10.0)]
    return next(y for y in found if y >= 0.999 * x) if up else next(y for y in reversed(found) if y <= 1.001 * x)


def log_ticks(low: float, high: float, steps: Sequence[Sequence[float]]) -> list[float]:
    """Ticks of a logarithmic axis: the coarsest of `steps`, places within a decade, that has three of them, or the finest."""
    ticks: list[float] = []
    for places in steps:
        ticks = [s * 10.0**k for k in range(floor(log10(low)), ceil(log10(high)) + 1) for s in places]
        ticks = [x for x in ticks if low * (1.0 - 1e-9) <= x <= high * (1.0 + 1e-9)]
        if len(ticks) >= 3:
            break
    return ticks


def check_picture(path: str | PathLike[str] | None, also: tuple[str, ...] = ()) -> None:
    """Refuse, before anything is computed, a file that a picture cannot be written to; None is a window. `also`: suffixes that
    the caller writes itself."""
    if path is not None:
        check_picture_suffix(path, also)
        check_writable(path)


def check_picture_suffix(path: str | PathLike[str], also: tuple[str, ...] = ()) -> None:
    """Refuse a file whose format matplotlib does not write."""
    suffix = file_path(path).suffix.lower()
    if suffix in (*COMMON, *also):
        return
    from matplotlib.backend_bases import FigureCanvasBase

    if suffix[1:] not in FigureCanvasBase.get_supported_filetypes():
        check_suffix(path, (*COMMON, *also), "draw")
