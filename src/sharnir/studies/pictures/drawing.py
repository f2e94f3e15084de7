"""Parts that all pictures of studies have: title and caption, labels that fit, colours, the mark of a failed run."""

from __future__ import annotations

from os import PathLike
from textwrap import wrap
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from ...errors import shortened
from ...reporting.formats import plural
from ...reporting.pictures import COLOURS, INK, PALE, new_figure, save_picture
from .columns import Column
from .scales import Scale

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

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
        """The figure, saved if there is a path."""
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
    names = {c.name for c in kept}
    return [c for c in columns if c.name in names], [
        f"{plural(len(columns) - len(kept), 'more column')} not drawn: name those to draw"
    ]
