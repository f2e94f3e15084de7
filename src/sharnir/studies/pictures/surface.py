"""The response surface: one output over one or two inputs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ...errors import StateError, no_such, shortened
from ...reporting.pictures import INK, add_legend, check_picture
from ...types import FloatArray
from .columns import Table, caption, inputs_of, outputs_of, read_table
from .drawing import (
    COLOUR_MAP,
    FAILED,
    GREY,
    ONE_COLOUR,
    WORD_COLOURS,
    Scale,
    Sheet,
    colour_bar,
    folded,
    norm_of,
    pale_frame,
    scale_of,
    set_axis,
    set_ticks_apart,
    texts,
    tick_room,
)
from .surface_plan import Panel, Plan, plan

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from xarray import Dataset

SMOOTH = 5
"""Values along each axis from which a grid is drawn by contours, not cell by cell."""
WRITTEN = 60
"""Most cells with the value written into each."""
LEVELS = 14
FEW_CELLS = 10
FEW = 400
"""Most points that are marked."""


def curves(axes: Axes, x: Sequence[FloatArray], z: Sequence[FloatArray], names: tuple[str, ...], joined: bool) -> None:
    """Draw a line with points for each name; where there is no value, a cross at the bottom."""
    for k, (across, up) in enumerate(zip(x, z, strict=True)):
        order = np.argsort(across, kind="stable")
        across, up = across[order], up[order]
        known = np.isfinite(up)
        colour = WORD_COLOURS[k % len(WORD_COLOURS)] if names else ONE_COLOUR
        style: dict[str, Any] = {"linestyle": "-" if joined else "", "marker": "o" if len(up) <= FEW else ""}
        axes.plot(across, up, color=colour, ms=4, lw=1.5, label=names[k] if names else None, **style)
        if not known.all():
            axes.plot(
                across[~known], np.full((~known).sum(), 0.025), "x", color=FAILED, mew=1.6, ms=6, clip_on=False,
                transform=axes.get_xaxis_transform(), label="_failed", zorder=4,
            )  # fmt: skip


def grid(axes: Axes, x: FloatArray, y: FloatArray, z: FloatArray, scales: tuple[Scale, Scale, Scale], smooth: bool) -> None:
    """Draw a grid, z (values of y, values of x), as contours or as cells."""
    horizontal, vertical, shade = scales
    known = np.isfinite(z)
    if smooth and min(z.shape) >= SMOOTH and _is_contoured(z[known], shade):
        masked = np.ma.masked_invalid(z)
        axes.contourf(x, y, masked, levels=_levels(shade), norm=norm_of(shade), cmap=COLOUR_MAP)
        axes.contour(x, y, masked, levels=_levels(shade), colors="white", linewidths=0.5, alpha=0.5)
        ends = (0.0, 0.0)
        if z.size <= FEW:
            across, up = np.meshgrid(x, y)
            axes.plot(across[known], up[known], ".", color=INK, ms=2.0, alpha=0.6)
    else:
        edges = _edges(x, horizontal), _edges(y, vertical)
        axes.pcolormesh(*edges, np.ma.masked_invalid(z), norm=norm_of(shade), cmap=COLOUR_MAP, shading="flat")
        ends = (_beyond(edges[0], horizontal), _beyond(edges[1], vertical))
        horizontal, vertical = _at_cells(horizontal, x), _at_cells(vertical, y)
        for (i, j), value in np.ndenumerate(z) if z.size <= WRITTEN else ():
            if np.isfinite(value):
                colour = "white" if shade.position(np.array([value]))[0] < 0.6 else INK
                axes.text(float(x[j]), float(y[i]), f"{value:.3g}", ha="center", va="center", fontsize=7.5, color=colour)
    set_axis(axes, "x", horizontal, ends[0])
    set_axis(axes, "y", vertical, ends[1])
    rows, columns = np.nonzero(~known)
    crosses(axes, x[columns], y[rows])


def scattered(axes: Axes, x: FloatArray, y: FloatArray, z: FloatArray, scales: tuple[Scale, Scale, Scale], near: int) -> None:
    """Draw points in their colours, and contours by triangles between them, of the mean of so many nearest runs (0: none)."""
    horizontal, vertical, shade = scales
    known = np.isfinite(x) & np.isfinite(y) & np.isfinite(z)
    places = np.stack([horizontal.position(x[known]), vertical.position(y[known])], axis=1)
    mean = z[known]
    if 1 < near < len(mean):
        from scipy.spatial import cKDTree

        mean = mean[cKDTree(places).query(places, near)[1]].mean(axis=1)
    triangles = _triangles(places) if near and _is_contoured(mean, shade) else None
    if triangles is not None:
        from matplotlib.tri import Triangulation

        mesh = Triangulation(x[known], y[known], triangles)
        axes.tricontourf(mesh, mean, levels=_levels(shade), norm=norm_of(shade), cmap=COLOUR_MAP)
    size = float(np.clip(5000.0 / max(known.sum(), 1), 5.0, 30.0))
    axes.scatter(
        x[known], y[known], c=z[known], s=size, norm=norm_of(shade), cmap=COLOUR_MAP, edgecolors="white",
        linewidths=0.5 if size > 8 else 0.2, zorder=3,
    )  # fmt: skip
    set_axis(axes, "x", horizontal, 0.03)
    set_axis(axes, "y", vertical, 0.03)
    crosses(axes, x[~known], y[~known])


def crosses(axes: Axes, x: FloatArray, y: FloatArray) -> None:
    if len(x):
        size = float(np.clip(300.0 / len(x), 3.0, 7.0))
        axes.plot(x, y, "x", color="white", ms=size + 1.0, mew=3.2, zorder=4, label="_halo", clip_on=False)
        axes.plot(x, y, "x", color=FAILED, ms=size, mew=1.6, zorder=4, label="_failed", clip_on=False)


def _levels(shade: Scale) -> FloatArray:
    return shade.value(np.linspace(0.0, 1.0, LEVELS + 1))


def _is_contoured(z: FloatArray, shade: Scale) -> bool:
    """Whether values differ by more than rounding, as contours need it."""
    return len(z) > 2 and bool(np.ptp(shade.position(z)) > 1e-9)


def _edges(values: FloatArray, scale: Scale) -> FloatArray:
    """Edges of the cells around values, half way between them as the axis shows it."""
    at = scale.position(values)
    if len(at) == 1:
        return scale.value(np.array([at[0] - 0.5, at[0] + 0.5]))
    middle = 0.5 * (at[1:] + at[:-1])
    return scale.value(np.concatenate([[2 * at[0] - middle[0]], middle, [2 * at[-1] - middle[-1]]]))


def _beyond(edges: FloatArray, scale: Scale) -> float:
    """Share of the axis by which cells reach beyond it; the same at both ends."""
    ends = scale.position(edges[[0, -1]])
    return float(max(-ends[0], ends[1] - 1.0))


def _at_cells(scale: Scale, values: FloatArray) -> Scale:
    """The scale with ticks at the cells, where these are few."""
    if len(values) > FEW_CELLS or not scale.ticks or len(scale.ticks) == len(values):
        return scale
    return replace(scale, ticks=tuple(values), texts=tuple(texts([float(f"{v:.3g}") for v in values])))


def _triangles(places: FloatArray) -> NDArray[np.int32] | None:
    """Delaunay's, without slivers along the hull; None where the points are too few or lie on a line."""
    from matplotlib.tri import TriAnalyzer, Triangulation

    try:
        mesh = Triangulation(places[:, 0], places[:, 1])
    except (RuntimeError, ValueError):
        return None
    mask = np.asarray(TriAnalyzer(mesh).get_flat_tri_mask(0.01, rescale=False))
    return mesh.triangles[~mask] if mask.size and not mask.all() else mesh.triangles


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
    others = ", ".join(c.name for c in found.averaged)
    notes = [*found.notes, *([f"colour between the points: mean of the {near} nearest runs, over {others}"] if near > 1 else [])]
    notes += ["crosses: no value"] * bool(np.isnan(drawn.values).any())
    words = caption(table, None if table.is_grid else np.sort(rows), notes)

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
        if found.lines and k == across - 1:  # Matplotlib would leave out words that begin with an underscore
            curved = [line for line in axes.lines if line.get_label() != "_failed"]
            look = {"bbox_to_anchor": (1.02, 1.0), "fontsize": 8.5, "title_fontsize": 9, "labelcolor": GREY, "loc": "upper left"}
            texts_of = [shortened(f" {line.get_label()}", 16) for line in curved]
            add_legend(axes, curved, texts_of, title=shortened(found.lines.name, 18), **look)
    if found.y and len(drawn.finite):
        tall = min(down * size[1], 3.9)
        colour_bar(sheet.figure, sheet.axes(width - right + 0.2, top - tall, 0.15, tall), shown, scales[2])
    return sheet.finished()


def _near(found: Plan, drawn: int) -> int:
    """Number of runs that the surface of a design averages; 0: no surface between points, which words do not have."""
    if found.y is None or found.x.words or found.y.words:
        return 0
    return int(np.clip(np.sqrt(drawn / len(found.panels)), 6, 60)) if found.averaged else 1


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
