"""The colours of runs by one column, and the bar or the legend that explains them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ...errors import shortened
from ...reporting.pictures import COLOURS, INK, add_legend
from ...types import FloatArray
from .columns import Column
from .drawing import GREY, SMALL
from .scales import Scale, scale_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ONE_COLOUR = COLOURS[0]
COLOUR_MAP = "viridis"
"""A map that is even in lightness, and legible to those who do not tell red from green."""
WORD_COLOURS = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#b85c00", "#8c8c00", "#444444")
"""Colours of words: the palette of Okabe and Ito, its pale yellow and its red (taken by failed runs) replaced."""


@dataclass(frozen=True)
class Colouring:
    """The colours of runs by one column, and the bar or the legend that explains them."""

    column: Column | None
    scale: Scale | None
    colours: FloatArray
    """Colours (runs, 4) of all runs; grey where the column has no value."""

    def explain(self, figure: Figure, place: Axes) -> None:
        """Draw a colour bar, or a legend of words, into axes made for it."""
        assert self.column is not None
        assert self.scale is not None
        if self.column.words:
            place.set_axis_off()
            _word_legend(place, self.column)
        else:
            colour_bar(figure, place, self.column, self.scale)


def norm_of(scale: Scale) -> Any:
    from matplotlib.colors import LogNorm, Normalize

    return (LogNorm if scale.log else Normalize)(scale.low, scale.high)


def colour_bar(figure: Figure, place: Axes, column: Column, scale: Scale) -> None:
    from matplotlib.cm import ScalarMappable

    bar = figure.colorbar(ScalarMappable(norm_of(scale), COLOUR_MAP), cax=place)
    bar.set_ticks(list(scale.ticks), labels=list(scale.texts))
    bar.minorticks_off()
    bar.outline.set_visible(False)
    bar.ax.tick_params(labelsize=SMALL, color=GREY, labelcolor=GREY, length=2)
    bar.set_label(shortened(column.label, 44), fontsize=9, color=INK, parse_math=False)


def colouring(column: Column | None) -> Colouring:
    """Colours by a column that varies; otherwise all runs have one colour."""
    from matplotlib import colormaps
    from matplotlib.colors import to_rgba, to_rgba_array

    if column is None or not column.varies:
        n = 0 if column is None else len(column.values)
        return Colouring(None, None, np.tile(to_rgba(ONE_COLOUR), (max(n, 1), 1)))
    scale = scale_of(column)
    known = np.isfinite(column.values)
    colours = np.tile(to_rgba(GREY), (len(known), 1))
    if column.words:
        which = column.values[known].astype(int) % len(WORD_COLOURS)
        colours[known] = to_rgba_array(WORD_COLOURS)[which]
    else:
        colours[known] = colormaps[COLOUR_MAP](scale.position(column.values[known]))
    return Colouring(column, scale, colours)


def _word_legend(place: Axes, column: Column) -> None:
    from matplotlib.lines import Line2D

    words = column.words[: len(WORD_COLOURS)]
    handles = [Line2D([], [], color=WORD_COLOURS[k], lw=3) for k in range(len(words))]
    more = len(column.words) - len(words)
    title = shortened(column.name, 30) + (f" (colours repeat: {more} more)" if more else "")
    texts = [shortened(f" {word}", 24) for word in words]
    add_legend(place, handles, texts, title=title, loc="center left", fontsize=8.5, bbox_to_anchor=(0.0, 0.5), title_fontsize=9)


def colour_column(columns: dict[str, Column], outputs: list[Column], color: str | None) -> Column | None:
    """The column that colours the runs: that named, the first output that varies, or none."""
    if color is None:
        return next((c for c in outputs if c.varies), None)
    return columns[color]
