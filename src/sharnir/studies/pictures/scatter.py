"""The scatter matrix: every column over every other, and how often each value comes on the diagonal."""

from __future__ import annotations

from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ...reporting.pictures import INK, check_picture
from ...types import IntArray
from .captions import caption, left_out
from .colours import ONE_COLOUR, Colouring, colour_column, colouring
from .columns import Column, Table, read_table
from .drawing import FAILED, Sheet, chosen, folded, set_axis, set_ticks_apart, tick_room
from .sampling import sample
from .scales import Scale, scale_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from xarray import Dataset

COLUMNS = 6
"""Columns drawn where none are named."""
POINTS = 2000
BINS = 16
TICKS = 4
NAME_SIZE = 8.5


def scatter_matrix(ds: Dataset, *names: str, color: str | None = None, path: str | PathLike[str] | None = None) -> Figure:
    """Every column over every other one, a point for each run.

    names  columns; none: inputs and outputs that vary, six at most
    color  the name of an input or output; None: the first output that varies
    path   a file: .png, .svg, .pdf
    """
    check_picture(path)
    table = read_table(ds, names or None, color)
    columns, notes = ([table.columns[name] for name in dict.fromkeys(names)], []) if names else _varying(table)
    by = colour_column(table.columns, [c for c in columns if c.role == "output"], color)
    rows = sample(table, columns, POINTS)
    notes += ["crosses: failed runs"] * (not table.ok.all())
    words = caption(table, rows, [*notes, *([] if names else left_out(table))])
    shades = colouring(by)

    n = len(columns)
    cell = 1.75 if n <= 6 else 1.35
    gap = 0.1
    scales = [scale_of(c, TICKS) for c in columns]
    labels = [folded(c, cell - gap, NAME_SIZE) for c in columns]
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
                axes.set_xlabel(labels[j], fontsize=NAME_SIZE, color=INK, parse_math=False)
                set_ticks_apart(axes, horizontal, cell - gap)
            if j == 0:
                axes.set_ylabel(labels[i], fontsize=NAME_SIZE, color=INK, parse_math=False)
                axes.yaxis.set_label_coords(-(ticks + 0.05) / (cell - gap), 0.5)
    if shades.column:
        bar = min(0.9 * cell * max(n - 1, 1), 2.6)
        x = min(left + max(2, n - 1) * cell + 0.1, width - 1.0) if n > 2 else width - 1.0
        shades.explain(sheet.figure, sheet.axes(x, bottom + n * cell - bar - 0.05, 0.13, bar))
    return sheet.finished()


def _varying(table: Table) -> tuple[list[Column], list[str]]:
    """Columns of the matrix, without constant ones unless there are no others; and notes for the caption."""
    every = [*table.inputs, *table.outputs]
    kept = [c for c in every if c.varies]
    if not kept:
        return chosen(every, COLUMNS)
    constant = [c for c in every if not c.varies and len(c.finite)]
    notes = [f"constant: {', '.join(f'{c.name} = {c.text(int(np.isfinite(c.values).argmax()))}' for c in constant[:3])}"]
    columns, more = chosen(kept, COLUMNS)
    return columns, [*(notes if constant else []), *more]


def _points(axes: Axes, x: Column, y: Column, shades: Colouring, rows: IntArray, ok: NDArray[np.bool_]) -> None:
    size = float(np.clip(900.0 / max(len(rows), 1), 2.5, 16.0))
    good, failed = rows[ok[rows]], rows[~ok[rows]]
    colours: Any = shades.colours[good] if len(shades.colours) > 1 else shades.colours
    axes.scatter(x.values[good], y.values[good], s=size, c=colours, linewidths=0, alpha=0.85 if len(good) < 800 else 0.6)
    if np.isfinite(x.values[failed] + y.values[failed]).any():
        axes.scatter(
            x.values[failed],
            y.values[failed],
            s=float(np.clip(1400.0 / len(failed), 4.0, 14.0)),
            c=FAILED,
            marker="x",
            linewidths=0.9,
            alpha=0.9,
            zorder=3,
        )


def _histogram(axes: Axes, column: Column, scale: Scale, ok: NDArray[np.bool_]) -> None:
    """Draw the distribution of all runs, those that failed in their own colour on top."""
    n = len(column.words)
    if n:
        edges = np.arange(n + 1) - 0.5
    else:
        edges = scale.value(np.linspace(0.0, 1.0, BINS + 1))
    known = np.isfinite(column.values)
    good, bad = (np.histogram(column.values[known & mask], edges)[0] for mask in (ok, ~ok))
    axes.stairs(good, edges, fill=True, color=ONE_COLOUR, alpha=0.55)
    if bad.any():
        axes.stairs(good + bad, edges, baseline=good, fill=True, color=FAILED, alpha=0.8, hatch="////", edgecolor="white", lw=0.0)
    axes.set_ylim(0.0, 1.1 * max(int((good + bad).max()), 1))
    axes.set_yticks([])
