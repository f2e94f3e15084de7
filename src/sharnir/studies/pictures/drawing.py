"""Parts of all pictures of studies: axes and their ticks, the `Sheet` with title and caption, labels that fit, colours."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from math import ceil, floor, log10
from os import PathLike
from textwrap import wrap
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from ...errors import shortened
from ...reporting.formats import plural
from ...reporting.pictures import COLOURS, INK, PALE, add_legend, log_ticks, new_figure, round_number, save_picture
from ...types import FloatArray
from .columns import Column

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WIDE = 50.0
"""The ratio of largest to smallest value from which a logarithmic axis is considered."""
TICKS = 7
"""Approximate number of ticks on an axis."""
DECADE = ((1.0,), (1.0, 3.0), (1.0, 2.0, 5.0))
"""Places of ticks within a decade, from coarse to fine."""
MAX_WORDS = 20
"""Most words that are written on an axis; where there are more, some are left out."""


@dataclass(frozen=True)
class Scale:
    low: float
    high: float
    log: bool
    ticks: tuple[float, ...]
    texts: tuple[str, ...]

    def position(self, values: FloatArray) -> FloatArray:
        """Positions on the axis, 0 at the lower end, 1 at the upper one; nan stays."""
        if self.log:
            return (np.log(values) - np.log(self.low)) / (np.log(self.high) - np.log(self.low))
        return (values - self.low) / (self.high - self.low)

    def value(self, position: FloatArray) -> FloatArray:
        if self.log:
            return np.exp(np.log(self.low) + position * (np.log(self.high) - np.log(self.low)))
        return self.low + position * (self.high - self.low)


def scale_of(column: Column, ticks: int = TICKS) -> Scale:
    """The axis on which a column is drawn, from its smallest value to its largest, with about so many ticks."""
    known = column.finite
    if column.words:
        n = len(column.words)
        some = range(0, n, ceil(n / MAX_WORDS))
        return Scale(-0.5, n - 0.5, False, tuple(map(float, some)), tuple(column.words[k] for k in some))
    if not len(known):
        return Scale(0.0, 1.0, False, (), ())
    low, high = float(known.min()), float(known.max())
    if not high - low > max(1e-12 * max(abs(low), abs(high)), 1e-300):  # constant, but for rounding
        half = 0.5 * abs(low) or 1.0
        return Scale(low - half, low + half, False, (low,), (texts([low])[0],))
    if _is_logarithmic(known, low, high):
        found = log_ticks(low, high, DECADE)
        found = found[:: ceil(len(found) / ticks)]
        return Scale(low, high, True, tuple(found), tuple(_rounded(x, 3).replace("-", "−") for x in found))
    step = round_number((high - low) / ticks)
    found = [k * step for k in range(ceil(low / step - 1e-9), floor(high / step + 1e-9) + 1)]
    return Scale(low, high, False, tuple(found), tuple(texts(found)))


def texts(values: list[float]) -> list[str]:
    """Numbers as short as they can be without two being the same, or being rounded visibly."""
    step = min((abs(b - a) for a, b in pairwise(values)), default=0.0)
    out: list[str] = []
    for digits in range(3, 16):
        out = [_rounded(x, digits) for x in values]
        if len(values) == 1 or all(abs(float(text) - x) <= 0.01 * step for text, x in zip(out, values, strict=True)):
            break
    return [text.replace("-", "−") for text in out]


def _rounded(x: float, digits: int) -> str:
    """A number with so many significant digits; 30000, but 3e5, without the plus and the zeros of C."""
    mantissa, e, exponent = f"{float(f'{x:.{digits}g}'):.{max(digits, 5)}g}".partition("e")
    return f"{mantissa}e{int(exponent)}" if e else mantissa


def _is_logarithmic(known: FloatArray, low: float, high: float) -> bool:
    """Whether values are positive over decades, the median nearer to the middle of a logarithmic axis than of a linear one."""
    if low <= 0.0 or high < WIDE * low:
        return False
    middle = float(np.median(known))
    return abs(log10(middle / low) / log10(high / low) - 0.5) < abs((middle - low) / (high - low) - 0.5)


GREY, EDGE = "#6b727c", "#b9bec5"
FAILED = COLOURS[1]
"""Colour of runs that failed, which always have a mark or a dash of their own as well."""
CHARACTER = 0.0088
"""Inches of a character, for a point of font size."""
SMALL, CAPTION_LINE = 8.0, 0.17
MOST_LINES = 3
"""Lines of a label, without its unit."""
LONGEST_TICK = 12
"""Characters of a word at a tick."""


class Sheet:
    """A figure measured in inches: title and caption at the top left, and so much height below them."""

    def __init__(self, width: float, height: float, title: str, caption: str, path: str | PathLike[str] | None) -> None:
        lines = wrap(caption, max(20, int((width - 0.4) / (CHARACTER * SMALL))))
        self.width, self.height, self.path = width, 0.5 + CAPTION_LINE * len(lines) + height, path
        self.figure = new_figure((width, self.height), window=path is None)
        short = shortened(title, int((width - 0.4) / (CHARACTER * 13)))
        self._write(short, 0.14, fontsize=13, fontweight="bold", color=INK)
        for k, line in enumerate(lines):
            self._write(line, 0.43 + CAPTION_LINE * k, fontsize=SMALL, color=GREY)

    def _write(self, text: str, below: float, **style: Any) -> None:
        self.figure.text(0.2 / self.width, 1.0 - below / self.height, text, va="top", parse_math=False, **style)

    def axes(self, left: float, bottom: float, across: float, up: float, label: str = "") -> Axes:
        at = (left / self.width, bottom / self.height, across / self.width, up / self.height)
        return self.figure.add_axes(at, label=label)

    def finished(self) -> Figure:
        if self.path is not None:
            save_picture(self.figure, self.path, facecolor="white")
        return self.figure


def folded(column: Column, inches: float, size: float) -> str:
    """A label in lines that fit: the name, broken after its dots, spaces and underscores, and the unit."""
    most = max(6, int(inches / (CHARACTER * size)))
    if len(column.label) <= most:
        return column.label
    pieces = column.name.replace(".", ".\0").replace("_", "_\0").replace(" ", " \0").split("\0")
    lines = [""]
    for piece in pieces:
        if lines[-1] and len(lines[-1]) + len(piece.rstrip()) > most:
            lines.append("")
        lines[-1] += piece
    if len(lines) > MOST_LINES:
        lines = [*lines[: MOST_LINES - 1], lines[MOST_LINES - 1] + "…"]
    lines = [shortened(line.strip(), most) for line in lines]
    unit = column.label.removeprefix(column.name).removeprefix(", ")
    return "\n".join([*lines, unit] if unit else lines)


def set_axis(axes: Axes, which: Literal["x", "y"], scale: Scale, room: float = 0.05) -> None:
    """Set ends, ticks and texts of one axis, logarithmic where the scale is."""
    ends = scale.value(np.array([-room, 1.0 + room]))
    if scale.log:
        getattr(axes, f"set_{which}scale")("log")
    getattr(axes, f"set_{which}ticks")(list(scale.ticks), [shortened(text, LONGEST_TICK) for text in scale.texts])
    getattr(axes, f"set_{which}lim")(float(ends[0]), float(ends[1]))
    getattr(axes, f"{which}axis").set_tick_params(which="minor", length=0, labelsize=0)
    axes.tick_params(axis=which, which="major", labelsize=SMALL, color=GREY, labelcolor=GREY, length=2.5)
    for label in getattr(axes, f"get_{which}ticklabels")():
        label.set_parse_math(False)
    pale_frame(axes)


def pale_frame(axes: Axes, grid: Literal["x", "y", "both"] | None = None) -> None:
    """Set pale axes at the left and below, and perhaps a pale grid behind everything."""
    axes.spines[["top", "right"]].set_visible(False)
    axes.spines[["left", "bottom"]].set_color(EDGE)
    if grid:
        axes.grid(axis=grid, color=PALE, lw=0.8)
        axes.set_axisbelow(True)


def tick_room(scale: Scale) -> float:
    """Inches that the texts of a vertical axis need."""
    return CHARACTER * SMALL * min(max(map(len, scale.texts), default=0), LONGEST_TICK) + 0.1


def set_ticks_apart(axes: Axes, scale: Scale, inches: float) -> None:
    """Rotate texts of a horizontal axis where they would touch each other."""
    places = np.sort(scale.position(np.asarray(scale.ticks, dtype=float))) * inches
    longest = CHARACTER * SMALL * (1.5 + min(max(map(len, scale.texts), default=0), LONGEST_TICK))
    if len(places) > 1 and np.diff(places).min() < longest:
        for label in axes.get_xticklabels():
            label.set(rotation=35, ha="right", rotation_mode="anchor")


def chosen(columns: list[Column], most: int) -> tuple[list[Column], list[str]]:
    """The columns of a picture where none are named: at most so many, those that vary first, and a note about the others."""
    if len(columns) <= most:
        return columns, []
    ranked = sorted(columns, key=lambda c: not c.varies)
    if not all(c.varies for c in ranked[:most]):
        kept = ranked[:most]
    else:  # inputs and outputs by halves, where there are so many
        inputs = [c for c in ranked if c.role == "input" and c.varies]
        outputs = [c for c in ranked if c.role == "output" and c.varies]
        n_out = min(len(outputs), max(most // 2, most - len(inputs)))
        kept = [*inputs[: most - n_out], *outputs[:n_out]]
    note = f"{plural(len(columns) - len(kept), 'more column')} not drawn: name those to draw"
    return [c for c in columns if c in kept], [note]


ONE_COLOUR = COLOURS[0]
COLOUR_MAP = "viridis"
"""A map that is even in lightness, and legible to those who do not tell red from green."""
WORD_COLOURS = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#b85c00", "#8c8c00", "#444444")
"""Colours of words: the palette of Okabe and Ito, its pale yellow and its red (taken by failed runs) replaced."""


@dataclass(frozen=True)
class Colouring:
    column: Column | None
    scale: Scale | None
    colours: FloatArray
    """Colours (runs, 4) of all runs; grey where the column has no value."""

    def explain(self, figure: Figure, place: Axes) -> None:
        """Draw a colour bar, or a legend of words, into axes made for it."""
        from matplotlib.lines import Line2D

        assert self.column is not None and self.scale is not None
        words = self.column.words[: len(WORD_COLOURS)]
        if not words:
            return colour_bar(figure, place, self.column, self.scale)
        place.set_axis_off()
        handles = [Line2D([], [], color=WORD_COLOURS[k], lw=3) for k in range(len(words))]
        more = len(self.column.words) - len(words)
        title = shortened(self.column.name, 30) + (f" (colours repeat: {more} more)" if more else "")
        look: dict[str, Any] = {"loc": "center left", "fontsize": 8.5, "bbox_to_anchor": (0.0, 0.5), "title_fontsize": 9}
        add_legend(place, handles, [shortened(f" {word}", 24) for word in words], title=title, **look)


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
    values, colours = column.values[known], np.tile(to_rgba(GREY), (len(known), 1))
    if column.words:
        colours[known] = to_rgba_array(WORD_COLOURS)[values.astype(int) % len(WORD_COLOURS)]
    else:
        colours[known] = colormaps[COLOUR_MAP](scale.position(values))
    return Colouring(column, scale, colours)


def colour_column(columns: dict[str, Column], outputs: list[Column], color: str | None) -> Column | None:
    """The column that colours the runs: that named, the first output that varies, or none."""
    return next((c for c in outputs if c.varies), None) if color is None else columns[color]
