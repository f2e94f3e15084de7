"""The charts of the page, as data for plotly.js. A line for each method, a colour for each backend.

Nothing that comes from the model gets in here: plotly reads its texts as a kind of HTML.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .plot import COLOURS, WORDS
from .words import duration, number, small, total

if TYPE_CHECKING:
    from .comparison import Comparison
    from .row import Row

MARKS = {"llvm": "circle", "loops": "diamond", "python": "square", "sparse": "cross", "dense": "cross"}
"""Not by colour alone."""
ROW = 26
"""Pixels of a method."""


def charts(c: Comparison) -> dict[str, Any]:
    """{id: plotly figure}: those for which there are numbers."""
    rows = [row for row in c.rows if row.ok and row.single]
    if not rows:
        return {}
    out = {"single": _times(rows, "single"), "batch": _times(rows, "batch")}
    if any(row.written or row.compiled for row in rows):
        out["operations"] = _operations(rows)
        out["against"] = _against(rows)
    return out


def _methods(rows: list[Row], kind: str) -> list[str]:
    """The quickest at the top: plotly counts upward."""
    timed = sorted((row for row in rows if row.time(kind)), key=lambda row: row.time(kind) or 0.0)
    return list(dict.fromkeys(row.method for row in timed))[::-1]


def _by_backend(rows: list[Row]) -> dict[str, list[Row]]:
    return {name: found for name in COLOURS if (found := [row for row in rows if row.backend == name])}


def _layout(title_x: str, names: list[str], **more: Any) -> dict[str, Any]:
    return {
        "height": 120 + ROW * len(names),
        "margin": {"l": 8, "r": 16, "t": 8, "b": 44},
        "xaxis": {"type": "log", "title": {"text": title_x, "font": {"size": 12}}, "automargin": True},
        "yaxis": {"categoryorder": "array", "categoryarray": names, "automargin": True, "ticklabelstandoff": 8},
        "legend": {"orientation": "h", "y": 1.0, "yanchor": "bottom", "x": 0.0},
        "hovermode": "closest",
        "font": {"size": 12},
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        **more,
    }


def _seconds_axis(rows: list[Row], kinds: tuple[str, ...]) -> dict[str, Any]:
    """A tick at every power of ten, in the unit that suits."""
    from math import ceil, floor, log10

    times = [x for row in rows for kind in kinds if (s := getattr(row, kind)) for x in (s.least, s.three_quarters)]
    powers = range(floor(log10(min(times))), ceil(log10(max(times))) + 1)
    return {"tickvals": [10.0**k for k in powers], "ticktext": [duration(10.0**k) for k in powers]}


def _numbers_axis(values: list[int]) -> dict[str, Any]:
    """Ticks at 1, 2, 5, 10 … within a range that leaves room at both ends."""
    from math import floor, log10

    low, high = log10(min(values)) - 0.1, log10(max(values)) + 0.1
    powers = range(floor(low), floor(high) + 1)
    subs = (1, 2, 5) if high - low < 2.5 else (1,)
    ticks = [x for k in powers for s in subs if low <= log10(x := s * 10**k) <= high]
    return {"range": [low, high], "tickvals": ticks, "ticktext": [number(x) for x in ticks]}


def _times(rows: list[Row], kind: str) -> dict[str, Any]:
    names = _methods(rows, kind)
    traces = []
    for backend, mine in _by_backend(rows).items():
        spreads = [(row, s) for row in mine if (s := getattr(row, kind))]
        traces.append(
            {
                "type": "scatter",
                "mode": "markers",
                "name": WORDS[backend],
                "x": [s.least for _, s in spreads],
                "y": [row.method for row, _ in spreads],
                "error_x": {
                    "type": "data", "symmetric": False, "thickness": 2, "width": 4,
                    "array": [s.three_quarters - s.least for _, s in spreads], "arrayminus": [0.0] * len(spreads),
                },
                "marker": {"color": COLOURS[backend], "symbol": MARKS[backend], "size": 10},
                "text": [
                    f"{row.method} · {backend}<br>least {duration(s.least)}, middle {duration(s.middle)}, "
                    f"three quarters {duration(s.three_quarters)}<br>{s.turns} turns"
                    + (f", batches of {row.batch_size}" if kind == "batch" else "")
                    for row, s in spreads
                ],
                "hovertemplate": "%{text}<extra></extra>",
            }
        )  # fmt: skip
    layout = _layout("time of one evaluation (log scale)", names)
    layout["xaxis"] |= _seconds_axis(rows, (kind,))
    return {"data": traces, "layout": layout}


def _operations(rows: list[Row]) -> dict[str, Any]:
    """As written and as compiled, of each method once."""
    found: dict[str, dict[str, int]] = {}
    for row in rows:
        for kind in ("written", "compiled"):
            n = total(row, kind)
            if n is not None:
                found.setdefault(row.method, {})[kind] = n
    names = sorted(found, key=lambda name: -max(found[name].values()))
    traces = []
    for kind, words, colour, symbol in (
        ("written", "as written", "#8a8f98", "circle-open"),
        ("compiled", "once compiled for this model", COLOURS["llvm"], "circle"),
    ):
        mine = [name for name in names if kind in found[name]]
        traces.append(
            {
                "type": "scatter",
                "mode": "markers",
                "name": words,
                "x": [found[name][kind] for name in mine],
                "y": mine,
                "marker": {"color": colour, "symbol": symbol, "size": 10, "line": {"width": 2}},
                "text": [f"{name}, {words}: {number(found[name][kind])}" for name in mine],
                "hovertemplate": "%{text}<extra></extra>",
            }
        )
    layout = _layout("additions, multiplications, divisions, functions (log scale)", names)
    layout["xaxis"] |= _numbers_axis([n for counts in found.values() for n in counts.values()])
    return {"data": [trace for trace in traces if trace["x"]], "layout": layout}


def _against(rows: list[Row]) -> dict[str, Any]:
    """Time over the operations that are carried out: as compiled for straight-line code, as written for the others."""
    traces: list[dict[str, Any]] = []
    for backend, mine in _by_backend(rows).items():
        points = [(row, n) for row in mine if (n := total(row, "compiled" if backend == "llvm" else "written")) and row.batch]
        if not points:
            continue
        for kind, symbol, words in (("single", "circle-open", "one state"), ("batch", "circle", "batch")):
            traces.append(
                {
                    "type": "scatter",
                    "mode": "markers",
                    "name": f"{backend}, {words}",
                    "x": [n for _, n in points],
                    "y": [row.time(kind) for row, _ in points],
                    "marker": {"color": COLOURS[backend], "symbol": symbol, "size": 10, "line": {"width": 2}},
                    "text": [
                        f"{row.method} · {backend}, {words}<br>{number(n)} operations in {duration(row.time(kind))}: "
                        f"{duration((row.time(kind) or 0.0) / n)} each<br>disagreement {small(row.disagreement)}"
                        for row, n in points
                    ],
                    "hovertemplate": "%{text}<extra></extra>",
                }
            )
    layout = _layout("operations (log scale)", [], height=460)
    layout["yaxis"] = {"type": "log", "automargin": True, **_seconds_axis(rows, ("single", "batch"))}
    layout["xaxis"] |= _numbers_axis([n for trace in traces for n in trace["x"]])
    return {"data": traces, "layout": layout}
