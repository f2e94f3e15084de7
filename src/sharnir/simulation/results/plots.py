"""A motion as a picture, a chart for each unit under a common axis: with Matplotlib, or with plotly, as a figure or a page."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from html import escape
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np

from ...errors import shortened, suggesting
from ...reporting.atomic_write import file_path
from ...reporting.pages import Json, page, write_page
from ...reporting.pictures import GREY, INK, add_legend, check_picture, new_figure, plain_axes, save_picture
from ...types import FloatArray, truth
from .charts import Charts, Curve, Panel, Results, charts

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

DASHES = {"solid": "solid", "dashed": "dash", "dotted": "dot", "dashdot": "dashdot"}
"""Dashes of Matplotlib as plotly calls them."""
LETTERS = 10
"""Letters of the label of an axis in an inch."""
PIXELS, PLANE, GAP, ABOVE, NAMES, BELOW = 210, 480, 46, 30, 34, 50
"""Height of a chart of plotly, of one that is not over time; between two, above them all, there for events' names, and below."""
POINTER = {"hoverformat": ".4~g", "showspikes": True, "spikethickness": 1, "spikedash": "solid", "spikecolor": GREY}
POINTS = 5000
"""Points of a curve on a page; a screen has fewer columns."""


@suggesting
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
    if path is not None:
        check_plot_file(path)
    found = charts(results, what, over)
    is_page = path is not None and file_path(path).suffix.lower() == PAGE
    if not truth(interactive, "interactive") and not is_page:
        return _drawn(found, path)
    from plotly.graph_objects import Figure

    shape = _shape(found)
    title = {"text": f"<b>{escape(found.title)}</b>  {escape(found.note)}", "font": {"size": 15}, "x": 0.01}
    if path is not None:
        _write_page(found, path)
    return Figure({"data": shape["data"], "layout": shape["layout"] | {"title": title, "template": "plotly_white"}})


def check_plot_file(path: str | PathLike[str]) -> None:
    """Refuse, before anything is computed, a file that no plot can be written to."""
    check_picture(path, also=(PAGE,))


def _drawn(found: Charts, path: str | PathLike[str] | None) -> Figure:
    n = len(found.charts)
    height = HEIGHT if found.over_time else PHASE
    figure = new_figure((WIDTH, 0.75 + height * max(n, 1)), window=path is None, layout="constrained")
    axes = figure.subplots(max(n, 1), 1, sharex=True, squeeze=False)[:, 0]
    for axis, chart in zip(axes, found.charts, strict=False):
        _lines(axis, chart, height)
        if chart.is_path:
            axis.set_aspect("equal", adjustable="box" if n == 1 else "datalim", anchor="W")
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


def _lines(axis: Axes, chart: Panel, height: float) -> None:
    handles = [axis.plot(c.x, c.y, color=c.colour, linestyle=c.dash, linewidth=c.width)[0] for c in chart.curves]
    plain_axes(axis, textwrap.fill(chart.axis, int(LETTERS * height)))
    if chart.flat:
        axis.set_ylim(chart.flat)
    low, high = axis.get_ylim()
    if low < 0.0 < high:
        axis.axhline(0.0, color="#bbbbbb", linewidth=0.8, zorder=0)
    axis.ticklabel_format(axis="y", useMathText=True, scilimits=(-3, 5))
    if chart.left_out:
        axis.set_title(chart.heading, loc="left", fontsize=8, color=GREY, parse_math=False)
    short = [shortened(curve.label, LONGEST) for curve in chart.curves]  # so that room is left for the chart
    labels = [f" {label}" if label.startswith("_") else label for label in short]  # Matplotlib would leave these out
    add_legend(
        axis, handles, labels, loc="upper left", bbox_to_anchor=(1.0, 1.04),
        fontsize=8, ncols=-(-len(handles) // ROWS), handlelength=1.6, labelspacing=0.35, columnspacing=1.0, borderaxespad=0.3,
    )  # fmt: skip


# --- with plotly ------------------------------------------------------------------------------------------------------------
def _write_page(found: Charts, path: str | PathLike[str]) -> None:
    thin = any(len(curve.x) > POINTS for chart in found.charts for curve in chart.curves)
    notes = [found.note] * bool(found.note) + [f"{found.unmarked} more events are not marked"] * bool(found.unmarked)
    notes += ["of many lines those that move most"] * any(chart.left_out for chart in found.charts)
    notes += [f"curves are drawn through {POINTS} points that keep their peaks"] * thin
    headings = [chart.heading for chart in found.charts]
    values: Json = {"figures": {"motion": _shape(found, POINTS)}, "title": found.title, "notes": notes, "headings": headings}
    write_page(page("sharnir.simulation.results", "plot.html", **values), path)


def _shape(found: Charts, most: int | None = None) -> Json:
    """Data and layout, with at most so many points of a curve. Texts are escaped: plotly reads them as a kind of HTML."""
    n, pixels = max(1, len(found.charts)), PIXELS if found.over_time else PLANE
    height, above = n * pixels + (n - 1) * GAP, ABOVE + NAMES * bool(found.events)
    mark = {"color": GREY, "width": 1, "dash": "dot"}

    def text(size: int, **font: str) -> Json:
        where = {"yref": "paper", "yanchor": "bottom", "xanchor": "left"}
        return {**where, "showarrow": False, "font": {"size": size, **font}}

    layout: Json = {
        "height": height + above + BELOW,
        "margin": {"l": 46, "r": 16, "t": above, "b": BELOW},
        "xaxis": {"title": {"text": escape(found.axis)}, "anchor": f"y{n}" if n > 1 else "y", **POINTER},
        "hovermode": "x unified" if found.over_time else "closest",
        "hoversubplots": "axis",
        "font": {"size": 12},
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "shapes": [
            {"type": "line", "x0": event.t, "x1": event.t, "y0": 0.0, "y1": 1.0, "yref": "paper", "line": mark, "layer": "below"}
            for event in found.events
        ],
        "annotations": [
            {"x": event.t, "y": 1.0, "text": escape(event.name or "event"), "yshift": 20 + 13 * (k % 2), **text(11, color=GREY)}
            for k, event in enumerate(found.named)
        ],
    }
    if not found.over_time:
        layout["xaxis"] |= _room([curve.x for chart in found.charts for curve in chart.curves])
    if n == 1:  # equal scales make one chart narrower, and several of them wider
        layout["xaxis"] |= {"constrain": "domain", "constraintoward": "left"}
    data: list[Json] = []
    for k, chart in enumerate(found.charts):
        top = 1.0 - k * (pixels + GAP) / height
        which = k + 1 if k else ""  # plotly calls the first of everything by its bare name
        vertical = {"automargin": True, "exponentformat": "power", **({"range": chart.flat} if chart.flat else {})}
        vertical |= {"scaleanchor": "x", "scaleratio": 1} if chart.is_path else {}
        layout[f"yaxis{which}"] = {"domain": [max(0.0, top - pixels / height), top], **vertical}
        layout[f"legend{which}"] = {"y": top, "yanchor": "top", "x": 1.01, "xanchor": "left", "font": {"size": 11}}
        data += [_trace(curve, which, chart.unit, most) for curve in chart.curves]
        name = f"<b>{escape(chart.title)}</b>" + (f", {chart.unit}" if chart.unit not in ("", "1") else "")
        name += f"   {len(chart.lines)} of {len(chart.lines) + chart.left_out}" if chart.left_out else ""
        layout["annotations"].append({"x": 0.0, "xref": "paper", "y": top, "yshift": 2, "text": name, "name": "axis", **text(13)})
    return {"data": data, "layout": layout}


def _room(values: Sequence[FloatArray]) -> Json:
    """The range of an axis, with room for curves that turn at its ends."""
    known = np.concatenate([x[np.isfinite(x)] for x in values] or [np.zeros(0)])
    room = 0.04 * float(np.ptp(known)) if known.size else 0.0
    return {"range": [float(known.min()) - room, float(known.max()) + room]} if room else {}


def _trace(curve: Curve, which: int | str, unit: str, most: int | None) -> Json:
    both = (curve.x, curve.y) if most is None else thinned(curve.x, curve.y, most)
    x, y = ([value if np.isfinite(value) else None for value in one.tolist()] for one in both)  # what is not finite is a gap
    return {
        "type": "scatter", "mode": "lines", "name": escape(curve.label), "x": x, "y": y,
        "hovertemplate": "%{y:.5~g}" + (f" {unit}" if unit not in ("", "1") else ""), "hoverlabel": {"namelength": -1},
        "line": {"color": curve.colour, "dash": DASHES[curve.dash], "width": curve.width + 0.4, "simplify": False},
        "xaxis": "x", "yaxis": f"y{which}", "legend": f"legend{which}",
    }  # fmt: skip


def thinned(x: FloatArray, y: FloatArray, most: int) -> tuple[FloatArray, FloatArray]:
    """At most about so many points of a curve: of every stretch the lowest and the highest, so that no peak is lost."""
    if len(x) <= most:
        return x, y
    stretches = np.array_split(np.arange(len(x)), most // 2)
    known = np.nan_to_num(y)
    kept = {0, len(x) - 1} | {int(s[np.argmin(known[s])]) for s in stretches} | {int(s[np.argmax(known[s])]) for s in stretches}
    at = np.array(sorted(kept))
    return x[at], y[at]
