"""The response surface: one output over one or two inputs."""

from __future__ import annotations

from dataclasses import replace
from os import PathLike
from typing import TYPE_CHECKING

import numpy as np

from ...errors import StateError, no_such, shortened
from ...reporting.pictures import INK, add_legend, check_picture
from ...types import FloatArray
from .captions import caption
from .colours import colour_bar
from .columns import Column, Table, inputs_of, outputs_of, read_table
from .drawing import GREY, Sheet, folded, pale_frame, set_axis, set_ticks_apart, tick_room
from .scales import Scale, scale_of
from .surface_panels import curves, grid, scattered
from .surface_plan import Panel, Plan, plan

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from xarray import Dataset

COLUMNS = 3
"""Most panels side by side."""
NAME_SIZE = 9.0


def response_surface(
    ds: Dataset, output: str, x: str | None = None, y: str | None = None, path: str | PathLike[str] | None = None
) -> Figure:
    """One output over two inputs, or over one where only one varies. Of a grid with more inputs slices are drawn: panels for
    one of them, the others held at their middle. Of a design with more inputs the surface is a mean over them.

    output  the name of an output
    x, y    the names of inputs; None: the first two that vary, numbers before words
    path    a file: .png, .svg, .pdf
    """
    check_picture(path)
    inputs = inputs_of(ds)
    if output in inputs:
        raise StateError(no_such("output", output, outputs_of(ds)))
    table = read_table(ds, [*inputs, output])
    found = plan(table, x, y)
    shown = table.columns[output]
    rows = np.concatenate([panel.rows.reshape(-1) for panel in found.panels])
    drawn = replace(shown, values=shown.values[rows])
    near = _near(found, len(rows)) if not table.is_grid else 1
    words = caption(table, None if table.is_grid else np.sort(rows), _notes(found, drawn, near))

    n = len(found.panels)
    across = min(n, COLUMNS)
    down = -(-n // across)
    size, ticks = ((5.4, 3.9), 8) if n == 1 else ((3.1, 2.7), 5)
    scales = scale_of(found.x, ticks), scale_of(found.y or drawn, ticks), scale_of(drawn)
    named = found.y or shown
    label = folded(named, 0.9 * size[1], NAME_SIZE)
    left = 0.35 + 0.16 * (label.count("\n") + 1) + tick_room(scales[1])
    right = 1.35 if found.y or found.lines else 0.35
    bottom, gap = 0.3 + 0.5 * tick_room(scales[0]) + 0.17 * (folded(found.x, size[0], NAME_SIZE).count("\n") + 1), 0.3
    width = left + across * size[0] + (across - 1) * 0.2 + right
    top = bottom + down * size[1] + (down - 1) * gap
    title = f"{shown.name} over {found.x.name}" + (f" and {found.y.name}" if found.y else "")
    sheet = Sheet(width, top + (0.3 if n > 1 else 0.12), title, words, path)
    for k, panel in enumerate(found.panels):
        i, j = divmod(k, across)
        at = left + j * (size[0] + 0.2), top - i * (size[1] + gap) - size[1]
        axes = sheet.axes(*at, *size, panel.heading or "all")
        _draw(axes, table, found, panel, shown.values, scales, near)
        last = k + across >= n
        axes.tick_params(axis="x", labelbottom=last)
        axes.tick_params(axis="y", labelleft=j == 0)
        axes.set_title(shortened(panel.heading, 46), loc="left", fontsize=8.5, color=INK, parse_math=False, pad=4)
        if last:
            axes.set_xlabel(folded(found.x, size[0], NAME_SIZE), fontsize=NAME_SIZE, color=INK, parse_math=False)
            set_ticks_apart(axes, scales[0], size[0])
        if j == 0:
            axes.set_ylabel(label, fontsize=NAME_SIZE, color=INK, parse_math=False)
        if found.lines and k == across - 1:
            _legend(axes, found.lines)
    if found.y and len(drawn.finite):
        tall = min(down * size[1], 3.9)
        colour_bar(sheet.figure, sheet.axes(width - right + 0.2, top - tall, 0.15, tall), shown, scales[2])
    return sheet.finished()


def _near(found: Plan, drawn: int) -> int:
    """Number of runs that the surface of a design averages; 0: no surface between points, which words do not have."""
    if found.y is None or found.x.words or found.y.words:
        return 0
    return int(np.clip(np.sqrt(drawn / len(found.panels)), 6, 60)) if found.averaged else 1


def _notes(found: Plan, drawn: Column, near: int) -> list[str]:
    notes = list(found.notes)
    if near > 1:
        others = ", ".join(c.name for c in found.averaged)
        notes.append(f"colour between the points: mean of the {near} nearest runs, over {others}")
    missing = int(np.isnan(drawn.values).sum())
    return notes + ["crosses: no value"] * bool(missing)


def _draw(
    axes: Axes, table: Table, found: Plan, panel: Panel, z: FloatArray, scales: tuple[Scale, Scale, Scale], near: int
) -> None:
    x, rows = found.x.values, panel.rows
    if found.y is None:
        if found.lines and not table.is_grid:
            groups = [rows[found.lines.values[rows] == k] for k in range(len(found.lines.words))]
        else:
            groups = list(np.atleast_2d(rows))
        names = found.lines.words if found.lines else ()
        curves(axes, [x[g] for g in groups], [z[g] for g in groups], names, joined=not found.x.words)
        set_axis(axes, "x", scales[0], 0.03)
        set_axis(axes, "y", scales[1], 0.06)
        pale_frame(axes, "both")
    elif table.is_grid:
        smooth = not (found.x.words or found.y.words)
        grid(axes, x[rows[0]], found.y.values[rows[:, 0]], z[rows], scales, smooth)
    else:
        scattered(axes, x[rows], found.y.values[rows], z[rows], scales, near)


def _legend(axes: Axes, lines: Column) -> None:
    """Curves and their words; Matplotlib would leave out those that begin with an underscore."""
    found = [line for line in axes.lines if line.get_label() != "_failed"]
    add_legend(
        axes, found, [shortened(f" {line.get_label()}", 16) for line in found], title=shortened(lines.name, 18),
        loc="upper left", bbox_to_anchor=(1.02, 1.0), fontsize=8.5, title_fontsize=9, labelcolor=GREY,
    )  # fmt: skip
