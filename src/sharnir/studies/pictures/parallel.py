"""Parallel coordinates: an axis for every column, a line for every run."""

from __future__ import annotations

from os import PathLike
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ...reporting.pictures import INK, add_legend, check_picture
from ...types import FloatArray, IntArray
from .captions import caption, left_out
from .colours import Colouring, colour_column, colouring
from .columns import Column, read_table
from .drawing import FAILED, GREY, Sheet, chosen, folded
from .sampling import sample
from .scales import Scale, scale_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from xarray import Dataset

COLUMNS = 12
"""Columns drawn where none are named."""
LINES = 2000
SPACING, HEIGHT = 1.2, 3.7
"""Inches between two axes, and height of an axis."""
NO_VALUE = -0.12
"""Place where lines cross an axis on which their run has no value."""
NAME_SIZE, TICK_SIZE = 9.0, 7.5


def parallel_coordinates(ds: Dataset, *names: str, color: str | None = None, path: str | PathLike[str] | None = None) -> Figure:
    """Every run as a line across its inputs and outputs, coloured by one of them.

    names  columns from left to right; none: all inputs, then all outputs, twelve at most
    color  the name of an input or output; None: the first output that varies
    path   a file: .png, .svg, .pdf
    """
    check_picture(path)
    table = read_table(ds, names or None, color)
    columns, notes = (
        ([table.columns[name] for name in dict.fromkeys(names)], [])
        if names
        else chosen([*table.inputs, *table.outputs], COLUMNS)
    )
    by = colour_column(table.columns, [c for c in columns if c.role == "output"], color)
    rows = sample(table, columns, LINES)
    notes += [] if names else left_out(table)
    if len({c.role for c in columns}) == 2:
        notes = ["outputs in bold", *notes]
    shades = colouring(by)

    width = max(5.6, SPACING * len(columns) + 1.5)
    labels = [folded(c, 0.92 * SPACING, NAME_SIZE) for c in columns]
    lines = max(label.count("\n") + 1 for label in labels)
    sheet = Sheet(width, 0.16 * lines + 0.2 + HEIGHT + 0.35, table.title, caption(table, rows, notes), path)
    left, right = 0.75, 1.25 if shades.column else 0.45
    axes = sheet.axes(left, 0.35, width - left - right, HEIGHT)
    scales = [scale_of(c) for c in columns]
    positions = np.stack([s.position(c.values[rows]) for c, s in zip(columns, scales, strict=True)], axis=1)
    missing = np.array([np.isnan(column).any() for column in positions.T])
    _lines(axes, positions, rows, shades, table.ok[rows])
    _axes(axes, columns, scales, labels, missing)
    if shades.column:
        shades.explain(sheet.figure, sheet.axes(width - 0.95, 0.75, 0.13, HEIGHT - 0.5))
    return sheet.finished()


def _lines(axes: Axes, positions: FloatArray, rows: IntArray, shades: Colouring, ok: NDArray[np.bool_]) -> None:
    from matplotlib.collections import LineCollection

    n, k = positions.shape
    across = np.broadcast_to(np.arange(k, dtype=float), (n, k))
    segments = np.stack([across, np.where(np.isnan(positions), NO_VALUE, positions)], axis=2)
    colours = shades.colours[rows] if len(shades.colours) > 1 else np.broadcast_to(shades.colours, (n, 4))
    opacity = float(np.clip(8.0 / np.sqrt(max(n, 1)), 0.16, 0.9))
    good = LineCollection(list(segments[ok]), colors=colours[ok], linewidths=1.1, alpha=opacity, label="runs")
    axes.add_collection(good, autolim=False)
    if not ok.all():
        fade = float(np.clip(4.0 / np.sqrt((~ok).sum()), 0.2, 0.9))
        dashed = LineCollection(
            list(segments[~ok]), colors=FAILED, linewidths=1.1, alpha=fade, linestyles=(0, (4, 2.5)), label="failed runs"
        )
        axes.add_collection(dashed, autolim=False)
        at = {"loc": "upper left", "bbox_to_anchor": (0.0, -0.005)}
        add_legend(axes, handles=[dashed], fontsize=8, labelcolor=GREY, handlelength=2.6, **at)


def _axes(axes: Axes, columns: list[Column], scales: list[Scale], labels: list[str], missing: NDArray[np.bool_]) -> None:
    """Draw the vertical axes with ticks and names; a level below them for missing values."""
    boxed = {"facecolor": "white", "edgecolor": "none", "alpha": 0.78, "pad": 0.8}  # numbers are read through the lines
    for x, scale in enumerate(scales):
        axes.plot([x, x], [0.0, 1.0], color=INK, lw=1.0, zorder=3)
        for at, text in zip(scale.position(np.asarray(scale.ticks, dtype=float)), scale.texts, strict=True):
            axes.plot([x - 0.025, x], [at, at], color=INK, lw=0.8, zorder=3)
            axes.annotate(
                text[:14], (x, at), (-5, 0), textcoords="offset points", ha="right", va="center", fontsize=TICK_SIZE, color=INK,
                zorder=4, bbox=boxed, parse_math=False,
            )  # fmt: skip
        if missing[x]:
            axes.plot([x], [NO_VALUE], marker="o", ms=3, color=INK, zorder=3)
    if missing.any():
        first = int(missing.argmax())
        axes.annotate(
            "no value", (first, NO_VALUE), (-8, 0), textcoords="offset points", ha="right", va="center", fontsize=TICK_SIZE,
            color=INK, bbox=boxed, zorder=4,
        )  # fmt: skip
    ends = max(len(columns) - 1, 1)
    axes.set_xlim(-0.04 * ends / max(ends, 4), ends + 0.02)
    axes.set_ylim(NO_VALUE - 0.04 if missing.any() else -0.02, 1.02)
    axes.xaxis.tick_top()
    axes.set_xticks(range(len(columns)), labels, fontsize=NAME_SIZE, color=INK)
    for label, column in zip(axes.get_xticklabels(), columns, strict=True):
        label.set_parse_math(False)
        label.set_fontweight("bold" if column.role == "output" else "normal")
    axes.tick_params(axis="x", length=0, pad=4)
    axes.set_yticks([])
    axes.spines[:].set_visible(False)
