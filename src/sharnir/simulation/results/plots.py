"""A motion as a picture: a chart for each unit under a common axis, with Matplotlib; `plotly_plots.py` makes it interactive."""

from __future__ import annotations

from os import PathLike
from typing import TYPE_CHECKING, Any

from ...errors import shortened
from ...reporting.atomic_write import file_path
from ...reporting.pictures import GREY, INK, add_legend, check_picture, new_figure, plain_axes, save_picture
from ...types import truth
from .charts import Chart, Charts, Results, charts

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WIDTH, HEIGHT, PHASE = 9.0, 2.0, 4.0
"""Inches of a chart; the height of one that is not over time."""
ROWS = 10
"""Entries of a legend in a column, as many as fit beside a chart."""
LONGEST = 44
"""Characters of a label."""
PAGE = ".html"


def plot(
    results: Results,
    *what: str,
    path: str | PathLike[str] | None = None,
    interactive: bool = False,
    over: str | None = None,
) -> Any:
    """Draw one result, or several on the same axes: a list, or {name: result}.

    what         names: "A", "piston.x", "speed of A", "reaction of B", "energy" …; none: coordinates, speeds, energies, work
    path         a file: .png, .svg, .pdf; .html for an interactive page that opens offline
    interactive  a plotly figure instead of a Matplotlib one
    over         the quantity of the horizontal axis, instead of time: plot(r, "speed of A", over="A")
    """
    page = path is not None and file_path(path).suffix.lower() == PAGE
    if path is not None:
        check_plot_file(path)
    found = charts(results, what, over)
    if truth(interactive, "interactive") or page:
        from .plotly_plots import interactive_figure, save_interactive

        figure = interactive_figure(found)
        if path is not None:
            save_interactive(found, path)
        return figure
    return _drawn(found, path)


def check_plot_file(path: str | PathLike[str]) -> None:
    """Refuse, before anything is computed, a file that no plot can be written to."""
    check_picture(path, also=(PAGE,))


def _drawn(found: Charts, path: str | PathLike[str] | None) -> Figure:
    n = len(found.charts)
    height = HEIGHT if found.over_time else PHASE
    figure = new_figure((WIDTH, 0.75 + height * max(n, 1)), window=path is None, layout="constrained")
    axes = figure.subplots(max(n, 1), 1, sharex=True, squeeze=False)[:, 0]
    for axis, chart in zip(axes, found.charts, strict=False):
        _lines(axis, chart)
    axes[0].margins(x=0.0 if found.over_time else 0.03)
    figure.align_ylabels(axes)
    axes[-1].set_xlabel(found.axis, fontsize=9, parse_math=False)
    figure.suptitle(found.title, x=0.01, ha="left", fontsize=12, fontweight="bold", color=INK, parse_math=False)
    note = ", ".join([found.note] * bool(found.note) + [f"{found.unmarked} more events not marked"] * bool(found.unmarked))
    figure.text(0.99, 0.995, note, ha="right", va="top", fontsize=8.5, color=GREY, parse_math=False)
    for event in found.events:
        for axis in axes:
            axis.axvline(event.t, color=GREY, linewidth=0.8, linestyle=(0, (1, 2)), zorder=0.5)
    for k, event in enumerate(found.named):
        axes[0].annotate(
            event.name or "event", (event.t, 1.0), (2, 2 + 8 * (k % 2)), xycoords=("data", "axes fraction"),
            textcoords="offset points", fontsize=7, color=GREY, parse_math=False, annotation_clip=False,
        )  # fmt: skip
    if path is not None:
        save_picture(figure, path)
    return figure


def _lines(axis: Axes, chart: Chart) -> None:
    handles = [axis.plot(c.x, c.y, color=c.colour, linestyle=c.dash, linewidth=c.width)[0] for c in chart.curves]
    plain_axes(axis, chart.panel.axis)
    low, high = axis.get_ylim()
    if low < 0.0 < high:
        axis.axhline(0.0, color="#bbbbbb", linewidth=0.8, zorder=0)
    axis.ticklabel_format(axis="y", useMathText=True, scilimits=(-3, 5))
    if chart.panel.left_out:
        axis.set_title(chart.panel.heading, loc="left", fontsize=8, color=GREY, parse_math=False)
    add_legend(
        axis, handles, [_legible(curve.label) for curve in chart.curves], loc="upper left", bbox_to_anchor=(1.0, 1.04),
        fontsize=8, ncols=-(-len(handles) // ROWS), handlelength=1.6, labelspacing=0.35, columnspacing=1.0, borderaxespad=0.3,
    )  # fmt: skip


def _legible(label: str) -> str:
    """Not so long that no room is left for the chart; Matplotlib leaves out what begins with an underscore."""
    short = shortened(label, LONGEST)
    return f" {short}" if short.startswith("_") else short
