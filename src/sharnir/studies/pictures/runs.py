"""Every run across its columns: parallel coordinates, and the scatter matrix."""

from __future__ import annotations

from collections.abc import Callable
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ...reporting.pictures import INK, add_legend, check_picture
from ...types import FloatArray, IntArray
from .columns import Column, Table, caption, left_out, read_table, sample
from .drawing import (
    FAILED,
    GREY,
    ONE_COLOUR,
    Colouring,
    Scale,
    Sheet,
    chosen,
    colour_column,
    colouring,
    folded,
    scale_of,
    set_axis,
    set_ticks_apart,
    tick_room,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from xarray import Dataset

Pick = Callable[[Table], tuple[list[Column], list[str]]]
MOST_COLUMNS = 12
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
    table, columns, notes, shades = _asked(ds, names, color, lambda t: chosen([*t.inputs, *t.outputs], MOST_COLUMNS))
    rows = sample(table, columns, LINES)
    notes = ["outputs in bold"] * (len({c.role for c in columns}) == 2) + notes + ([] if names else left_out(table))
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
        look: dict[str, Any] = {"linewidths": 1.1, "alpha": fade, "linestyles": (0, (4, 2.5)), "label": "failed runs"}
        dashed = LineCollection(list(segments[~ok]), colors=FAILED, **look)
        axes.add_collection(dashed, autolim=False)
        at = {"loc": "upper left", "bbox_to_anchor": (0.0, -0.005)}
        add_legend(axes, handles=[dashed], fontsize=8, labelcolor=GREY, handlelength=2.6, **at)


def _axes(axes: Axes, columns: list[Column], scales: list[Scale], labels: list[str], missing: NDArray[np.bool_]) -> None:
    """Draw the vertical axes with ticks and names; a level below them for missing values."""
    style: dict[str, Any] = {
        "textcoords": "offset points", "ha": "right", "va": "center", "fontsize": TICK_SIZE, "color": INK, "zorder": 4,
        "bbox": {"facecolor": "white", "edgecolor": "none", "alpha": 0.78, "pad": 0.8},  # numbers are read through the lines
    }  # fmt: skip
    for x, scale in enumerate(scales):
        axes.plot([x, x], [0.0, 1.0], color=INK, lw=1.0, zorder=3)
        for at, text in zip(scale.position(np.asarray(scale.ticks, dtype=float)), scale.texts, strict=True):
            axes.plot([x - 0.025, x], [at, at], color=INK, lw=0.8, zorder=3)
            axes.annotate(text[:14], (x, at), (-5, 0), parse_math=False, **style)
        if missing[x]:
            axes.plot([x], [NO_VALUE], marker="o", ms=3, color=INK, zorder=3)
    if missing.any():
        first = int(missing.argmax())
        axes.annotate("no value", (first, NO_VALUE), (-8, 0), **style)
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


MOST_CELLS = 6
"""Columns drawn where none are named."""
POINTS = 2000
BINS = 16
TICKS = 4
LABEL_SIZE = 8.5


def scatter_matrix(ds: Dataset, *names: str, color: str | None = None, path: str | PathLike[str] | None = None) -> Figure:
    """Every column over every other one, a point for each run.

    names  columns; none: inputs and outputs that vary, six at most
    color  the name of an input or output; None: the first output that varies
    path   a file: .png, .svg, .pdf
    """
    check_picture(path)
    table, columns, notes, shades = _asked(ds, names, color, _varying)
    rows = sample(table, columns, POINTS)
    notes = notes + ["crosses: failed runs"] * (not table.ok.all()) + ([] if names else left_out(table))
    words = caption(table, rows, notes)
    n = len(columns)
    cell = 1.75 if n <= 6 else 1.35
    gap = 0.1
    scales = [scale_of(c, TICKS) for c in columns]
    labels = [folded(c, cell - gap, LABEL_SIZE) for c in columns]
    lines = max(name.count("\n") + 1 for name in labels)
    ticks = max(map(tick_room, scales))
    left, bottom = 0.15 + 0.15 * lines + ticks, 0.3 + 0.15 * lines + 0.6 * ticks
    width = max(6.0, left + n * cell + 0.3 + 1.1 * (n < 3))
    sheet = Sheet(width, 0.1 + n * cell + bottom, table.title, words, path)
    for i, (row, vertical) in enumerate(zip(columns, scales, strict=True)):
        for j, (column, horizontal) in enumerate(zip(columns[: i + 1], scales, strict=False)):
            x, y = left + j * cell, bottom + (n - i - 1) * cell
            label = f"{row.name} over {column.name}"
            axes = sheet.axes(x + gap / 2, y + gap / 2, cell - gap, cell - gap, label)
            if i == j:
                _histogram(axes, column, horizontal, table.ok)
            else:
                _points(axes, column, row, shades, rows, table.ok)
                set_axis(axes, "y", vertical)
            set_axis(axes, "x", horizontal)
            axes.tick_params(axis="x", labelbottom=i == n - 1)
            axes.tick_params(axis="y", labelleft=j == 0)
            axes.spines["left"].set_visible(i != j)
            if i == n - 1:
                axes.set_xlabel(labels[j], fontsize=LABEL_SIZE, color=INK, parse_math=False)
                set_ticks_apart(axes, horizontal, cell - gap)
            if j == 0:
                axes.set_ylabel(labels[i], fontsize=LABEL_SIZE, color=INK, parse_math=False)
                axes.yaxis.set_label_coords(-(ticks + 0.05) / (cell - gap), 0.5)
    if shades.column:
        bar = min(0.9 * cell * max(n - 1, 1), 2.6)
        x = min(left + max(2, n - 1) * cell + 0.1, width - 1.0) if n > 2 else width - 1.0
        shades.explain(sheet.figure, sheet.axes(x, bottom + n * cell - bar - 0.05, 0.13, bar))
    return sheet.finished()


def _asked(
    ds: Dataset, names: tuple[str, ...], color: str | None, pick: Pick
) -> tuple[Table, list[Column], list[str], Colouring]:
    """The table; the columns that are named, or picked, with notes on the others; the colours of the runs."""
    table = read_table(ds, names or None, color)
    columns, notes = ([table.columns[name] for name in dict.fromkeys(names)], []) if names else pick(table)
    return table, columns, notes, colouring(colour_column(table.columns, [c for c in columns if c.role == "output"], color))


def _varying(table: Table) -> tuple[list[Column], list[str]]:
    """Columns of the matrix, without constant ones unless there are no others; and notes for the caption."""
    every = [*table.inputs, *table.outputs]
    kept = [c for c in every if c.varies]
    if not kept:
        return chosen(every, MOST_CELLS)
    constant = [c for c in every if not c.varies and len(c.finite)]
    notes = [f"constant: {', '.join(f'{c.name} = {c.text(int(np.isfinite(c.values).argmax()))}' for c in constant[:3])}"]
    columns, more = chosen(kept, MOST_CELLS)
    return columns, [*(notes if constant else []), *more]


def _points(axes: Axes, x: Column, y: Column, shades: Colouring, rows: IntArray, ok: NDArray[np.bool_]) -> None:
    size = float(np.clip(900.0 / max(len(rows), 1), 2.5, 16.0))
    good, failed = rows[ok[rows]], rows[~ok[rows]]
    colours: Any = shades.colours[good] if len(shades.colours) > 1 else shades.colours
    axes.scatter(x.values[good], y.values[good], s=size, c=colours, linewidths=0, alpha=0.85 if len(good) < 800 else 0.6)
    if np.isfinite(x.values[failed] + y.values[failed]).any():
        size = float(np.clip(1400.0 / len(failed), 4.0, 14.0))
        axes.scatter(x.values[failed], y.values[failed], s=size, c=FAILED, marker="x", linewidths=0.9, alpha=0.9, zorder=3)


def _histogram(axes: Axes, column: Column, scale: Scale, ok: NDArray[np.bool_]) -> None:
    """Draw the distribution of all runs, those that failed in their own colour on top."""
    n = len(column.words)
    edges = np.arange(n + 1) - 0.5 if n else scale.value(np.linspace(0.0, 1.0, BINS + 1))
    known = np.isfinite(column.values)
    good, bad = (np.histogram(column.values[known & mask], edges)[0] for mask in (ok, ~ok))
    axes.stairs(good, edges, fill=True, color=ONE_COLOUR, alpha=0.55)
    if bad.any():
        axes.stairs(good + bad, edges, baseline=good, fill=True, color=FAILED, alpha=0.8, hatch="////", edgecolor="white", lw=0.0)
    axes.set_ylim(0.0, 1.1 * max(int((good + bad).max()), 1))
    axes.set_yticks([])
