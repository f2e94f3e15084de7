"""Charts of a motion that answer the mouse: a plotly figure, and a page with it that opens offline."""

from __future__ import annotations

from html import escape
from os import PathLike
from typing import TYPE_CHECKING

import numpy as np

from ...reporting.pages import Json, page, write_page
from ...reporting.pictures import GREY
from ...types import FloatArray
from .charts import Chart, Charts, Curve

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

DASHES = {"solid": "solid", "dashed": "dash", "dotted": "dot", "dashdot": "dashdot"}
HEIGHT, GAP, EDGES = 210, 34, 110
"""Pixels of a chart, between two, above and below them all."""
_POINTER = {"hoverformat": ".4~g", "showspikes": True, "spikethickness": 1, "spikedash": "solid", "spikecolor": GREY}
POINTS = 5000
"""Points of a curve on a page; a screen has fewer columns."""


def interactive_figure(found: Charts) -> Figure:
    """A plotly figure: charts share the horizontal axis and are read at one time together."""
    from plotly.graph_objects import Figure

    shape = _shape(found)
    title = {"text": f"<b>{escape(found.title)}</b>  {escape(found.note)}", "font": {"size": 15}, "x": 0.01}
    layout = shape["layout"] | {"title": title, "template": "plotly_white"}
    return Figure({"data": shape["data"], "layout": layout})


def save_interactive(found: Charts, path: str | PathLike[str]) -> None:
    """One self-contained page."""
    thin = any(len(curve.x) > POINTS for chart in found.charts for curve in chart.curves)
    notes = [found.note] * bool(found.note) + [f"{found.unmarked} more events are not marked"] * bool(found.unmarked)
    notes += [f"curves are drawn through {POINTS} points that keep their peaks"] * thin
    headings = [chart.panel.heading for chart in found.charts]
    figures = {"motion": _shape(found, POINTS)}
    write_page(
        page("sharnir.simulation.results", "plot.html", figures=figures, title=found.title, notes=notes, headings=headings), path
    )


def _shape(found: Charts, most: int | None = None) -> Json:
    """Data and layout, with at most so many points of a curve. Texts are escaped: plotly reads them as a kind of HTML."""
    n = max(1, len(found.charts))
    height = n * HEIGHT + (n - 1) * GAP
    layout: Json = {
        "height": height + EDGES,
        "margin": {"l": 70, "r": 16, "t": 44, "b": 50},
        "xaxis": {"title": {"text": escape(found.axis)}, "anchor": f"y{n}" if n > 1 else "y", **_POINTER},
        "hovermode": "x unified" if found.over_time else "closest",
        "hoversubplots": "axis",
        "font": {"size": 12},
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "shapes": [_mark(event.t) for event in found.events],
        "annotations": [_name(event.t, event.name or "event", k) for k, event in enumerate(found.named)],
    }
    data: list[Json] = []
    for k, chart in enumerate(found.charts):
        top = 1.0 - k * (HEIGHT + GAP) / height
        which = k + 1 if k else ""  # plotly calls the first of everything by its bare name
        layout[f"yaxis{which}"] = {"domain": [max(0.0, top - HEIGHT / height), top], **_vertical(chart)}
        layout[f"legend{which}"] = {"y": top, "yanchor": "top", "x": 1.01, "xanchor": "left", "font": {"size": 11}}
        data += [_trace(curve, which, chart.panel.unit, most) for curve in chart.curves]
        if chart.panel.left_out:
            layout["annotations"].append(
                {"text": escape(chart.panel.heading), "x": 0.0, "xref": "paper", "y": top, "yref": "paper", "yanchor": "bottom",
                 "xanchor": "left", "showarrow": False, "font": {"size": 11, "color": GREY}}
            )  # fmt: skip
    return {"data": data, "layout": layout}


def _vertical(chart: Chart) -> Json:
    return {"title": {"text": escape(chart.panel.axis), "standoff": 8}, "automargin": True, "exponentformat": "power"}


def _trace(curve: Curve, which: int | str, unit: str, most: int | None) -> Json:
    x, y = (curve.x, curve.y) if most is None else thinned(curve.x, curve.y, most)
    return {
        "type": "scatter", "mode": "lines", "name": escape(curve.label), "x": _numbers(x), "y": _numbers(y),
        "hovertemplate": "%{y:.5~g}" + (f" {unit}" if unit not in ("", "1") else ""), "hoverlabel": {"namelength": -1},
        "line": {"color": curve.colour, "dash": DASHES[curve.dash], "width": curve.width + 0.4, "simplify": False},
        "xaxis": "x", "yaxis": f"y{which}", "legend": f"legend{which}",
    }  # fmt: skip


def _numbers(x: FloatArray) -> list[float | None]:
    """As JSON has them: what is not finite is a gap."""
    return [value if np.isfinite(value) else None for value in x.tolist()]


def thinned(x: FloatArray, y: FloatArray, most: int) -> tuple[FloatArray, FloatArray]:
    """At most about so many points of a curve: of every stretch the lowest and the highest, so that no peak is lost."""
    if len(x) <= most:
        return x, y
    stretches = np.array_split(np.arange(len(x)), most // 2)
    known = np.nan_to_num(y)
    kept = {0, len(x) - 1} | {int(s[np.argmin(known[s])]) for s in stretches} | {int(s[np.argmax(known[s])]) for s in stretches}
    at = np.array(sorted(kept))
    return x[at], y[at]


def _mark(t: float) -> Json:
    line = {"color": GREY, "width": 1, "dash": "dot"}
    return {"type": "line", "x0": t, "x1": t, "y0": 0.0, "y1": 1.0, "yref": "paper", "line": line, "layer": "below"}


def _name(t: float, name: str, k: int) -> Json:
    return {
        "x": t, "y": 1.0, "yref": "paper", "yanchor": "bottom", "xanchor": "left", "text": escape(name), "showarrow": False,
        "yshift": 12 * (k % 2), "font": {"size": 10, "color": GREY},
    }  # fmt: skip
