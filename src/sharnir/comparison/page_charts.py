"""The charts of the page, as data for plotly.js: a line for each method, the fastest at the top."""

from __future__ import annotations

from typing import Any

from ..reporting.formats import duration
from .charts import Chart, Series, log_ticks

LINE = 26
"""Pixels of a method."""
Json = dict[str, Any]


def figure(chart: Chart) -> Json:
    """A plotly figure: methods on the y axis, or times where the points have a y."""
    methods = _methods(chart)
    timed = bool(chart.ys)
    return {
        "data": [_trace(series) for series in chart.series],
        "layout": {
            "height": 460 if timed else 120 + LINE * len(methods),
            "margin": {"l": 8, "r": 16, "t": 8, "b": 44},
            "xaxis": _log_axis(chart.xs, chart.label) | {"title": {"text": chart.axis, "font": {"size": 12}}},
            "yaxis": _log_axis(chart.ys, duration) if timed else _categories(methods),
            "legend": {"orientation": "h", "y": 1.0, "yanchor": "bottom", "x": 0.0},
            "showlegend": True,
            "hovermode": "closest",
            "font": {"size": 12},
            "paper_bgcolor": "rgba(0,0,0,0)",
            "plot_bgcolor": "rgba(0,0,0,0)",
        },
    }


def _methods(chart: Chart) -> list[str]:
    """plotly counts upward: the fastest last."""
    points = sorted((p for s in chart.series for p in s.points), key=lambda p: p.x)
    return list(dict.fromkeys(p.row.method for p in points))[::-1]


def _categories(names: list[str]) -> Json:
    return {"categoryorder": "array", "categoryarray": names, "automargin": True, "ticklabelstandoff": 8}


def _log_axis(values: list[float], label: Any) -> Json:
    ends, ticks = log_ticks(values)
    return {"type": "log", "automargin": True, "range": ends, "tickvals": ticks, "ticktext": [label(x) for x in ticks]}


def _trace(series: Series) -> Json:
    points = list({(p.x, p.y or p.row.method): p for p in series.points}.values())  # backends share the counts of a method
    marker = {"color": series.colour, "symbol": series.symbol + "-open" * (not series.filled), "size": 10, "line": {"width": 2}}
    out = {
        "type": "scatter", "mode": "markers", "name": series.name, "marker": marker,
        "x": [p.x for p in points], "y": [p.y or p.row.method for p in points],
        "text": [p.text for p in points], "hovertemplate": "%{text}<extra></extra>",
    }  # fmt: skip
    if any(p.upper for p in points):
        lengths = [(p.upper or p.x) - p.x for p in points]
        bar = {"type": "data", "symmetric": False, "thickness": 2, "width": 4}
        out["error_x"] = bar | {"array": lengths, "arrayminus": [0.0] * len(points)}
    return out
