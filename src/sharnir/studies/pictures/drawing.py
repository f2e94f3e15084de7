"""Parts that all pictures of studies have: title and caption, labels that fit, colours, the mark of a failed run."""

from __future__ import annotations

from os import PathLike
from textwrap import wrap
from typing import TYPE_CHECKING, Literal

import numpy as np

from ...reporting.formats import plural
from ...reporting.pictures import check_picture_suffix, new_figure, save_picture
from ...simulation.results.storage import check_writable
from .columns import Column
from .scales import Scale

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

INK, GREY, PALE = "#22262b", "#6b727c", "#e7e9ec"
FAILED = "#d1495b"
"""Colour of runs that failed, which always have a mark or a dash of their own as well."""
CHARACTER = 0.0088
"""Inches of a character, for a point of font size."""
SMALL, CAPTION_LINE = 8.0, 0.17
LONGEST_TICK = 12
"""Characters of a word at a tick."""


def start(size: tuple[float, float], path: str | PathLike[str] | None) -> Figure:
    """An empty figure, with a window where it is not saved."""
    return new_figure(size, window=path is None)


def check_path(path: str | PathLike[str] | None) -> None:
    if path is not None:
        check_picture_suffix(path)
        check_writable(path)


def caption_lines(text: str, width: float) -> list[str]:
    """A caption in lines that fit into so many inches."""
    return wrap(text, max(20, int(width / (CHARACTER * SMALL))))


def finish(figure: Figure, title: str, caption: str, path: str | PathLike[str] | None) -> Figure:
    """Add title and caption at the top left, where `headroom` has left room, and save the figure if there is a path."""
    width, height = figure.get_size_inches()
    lines = caption_lines(caption, width - 0.4)
    short = shortened(title, int((width - 0.4) / (CHARACTER * 13)))
    figure.text(0.2 / width, 1.0 - 0.14 / height, short, fontsize=13, fontweight="bold", color=INK, va="top", parse_math=False)
    for k, line in enumerate(lines):
        y = 1.0 - (0.43 + CAPTION_LINE * k) / height
        figure.text(0.2 / width, y, line, fontsize=SMALL, color=GREY, va="top", parse_math=False)
    if path is not None:
        save_picture(figure, path, facecolor="white")
    return figure


def headroom(caption: str, width: float) -> float:
    """Inches that title and caption need."""
    return 0.5 + CAPTION_LINE * len(caption_lines(caption, width - 0.4))


def shortened(text: str, most: int) -> str:
    return text if len(text) <= most else text[: max(most, 2) - 1] + "…"


def folded(column: Column, inches: float, size: float, most_lines: int = 3) -> str:
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
    if len(lines) > most_lines:
        lines = [*lines[: most_lines - 1], lines[most_lines - 1] + "…"]
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
    axes.spines[["top", "right"]].set_visible(False)
    axes.spines[["left", "bottom"]].set_color("#b9bec5")


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
