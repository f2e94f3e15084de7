"""A comparison as one HTML page with everything in it (`reporting/pages.py`)."""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..reporting.atomic_write import check_writable
from ..reporting.formats import duration, error, plural
from ..reporting.pages import SIZE, Json, page, write_page
from .charts import Chart, Series, charts, log_ticks
from .summary import conclusions, footnotes, mechanism, without_answer
from .table import NAMES, measurements

if TYPE_CHECKING:
    from .comparison import Comparison


# --- the charts of the page, as data for plotly.js: a line for each method, the fastest at the top
LINE = 26
"""Pixels for each method."""


def figure(chart: Chart) -> Json:
    """A plotly figure: methods on the y axis, or times where the points have a y."""
    points = sorted((p for s in chart.series for p in s.points), key=lambda p: p.x)
    methods = list(dict.fromkeys(p.row.method for p in points))[::-1]  # plotly counts upward: the fastest last
    by_method = {"categoryorder": "array", "categoryarray": methods, "automargin": True, "ticklabelstandoff": 8}
    timed = bool(chart.ys)
    return {
        "data": [_trace(series) for series in chart.series],
        "layout": {
            "height": 460 if timed else 120 + LINE * len(methods),
            "margin": {"l": 8, "r": 16, "t": 8, "b": 44},
            "xaxis": _log_axis(chart.xs, chart.label) | {"title": {"text": chart.axis, "font": {"size": 12}}},
            "yaxis": _log_axis(chart.ys, duration) if timed else by_method,
            "legend": {"orientation": "h", "y": 1.0, "yanchor": "bottom", "x": 0.0},
            "showlegend": True,
            "hovermode": "closest",
            "font": {"size": 12},
            "paper_bgcolor": "rgba(0,0,0,0)",
            "plot_bgcolor": "rgba(0,0,0,0)",
        },
    }


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


# --- report
def write_report(c: Comparison, path: str | PathLike[str]) -> Path:
    check_writable(path, SIZE)
    shown = charts(c.rows)
    table = measurements(c)
    text = page(
        "sharnir.comparison",
        "page.html",
        name=c.model["name"],
        mechanism=mechanism(c),
        joints=", ".join(f"{n} {kind}" for kind, n in c.model["joints"].items()),
        cards=_cards(c),
        conclusions=conclusions(c),
        charts=shown,
        figures={key: figure(chart) for key, chart in shown.items()},
        columns=table.columns[NAMES:],
        rows=list(zip([row for row in c.rows if row.ok], [cells[NAMES:] for cells in table.rows], strict=True)),
        footnotes=footnotes(c),
        missing=without_answer(c),
        oracle=c.oracle or "the oracle",
        settings=c.settings,
        facts={**c.machine, "measured in": duration(c.seconds), "status": c.status},
    )
    return write_page(text, path)


def _cards(c: Comparison) -> list[tuple[str, str]]:
    """Pairs of a number and what it is."""
    best, batch, chosen, ratio = c.best, c.best_batch, c.chosen, c.behind("single")
    cards = []
    if best:
        cards.append((duration(best.time("single")), f"one state, by {best.label}"))
    if batch:
        cards.append((duration(batch.time("batch")), f"per state of a batch, by {batch.label}"))
    if chosen and ratio is not None:
        relative = "the fastest" if ratio < 1.005 else f"{ratio:.2f}×"
        cards.append((relative, f"the choice of method='auto' ({chosen.label}), relative to the fastest for one state"))
    if c.disagreement is not None:
        what = f"of {plural(sum(row.ok for row in c.rows), 'contender')} in {plural(c.settings['states'], 'state')}"
        cards.append((error(c.disagreement), f"largest relative disagreement with the oracle, {what}"))
    return cards
