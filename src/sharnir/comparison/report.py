"""A comparison in words: conclusions, the same on the screen, in the picture and on the page; as table, as text, as one page."""

from __future__ import annotations

from collections.abc import Callable
from io import StringIO
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..reporting.atomic_write import check_writable
from ..reporting.formats import MISSING, count, duration, error, memory, plural
from ..reporting.pages import SIZE, Json, page, write_page
from ..reporting.table import Cell, Column, Table
from .charts import Chart, Series, charts, log_ticks
from .comparison import TRUST, mechanism

if TYPE_CHECKING:
    from rich.console import Console

    from .comparison import Comparison, Row, Spread

TIE = 1.05
"""Ratio below which two times count as equal: another run may put either first."""
MAX_TIES = 4
"""Contenders named as equally fast."""


def conclusions(c: Comparison) -> list[str]:
    out = []
    if best := c.best:
        out.append(f"Fastest for single states: {best.label}, {duration(best.time('single'))}{_ties(c, 'single')}.")
    if batch := c.best_batch:
        size = plural(batch.batch_size, "state")
        out.append(f"Fastest in batches of {size}: {batch.label}, {duration(batch.time('batch'))} per state{_ties(c, 'batch')}.")
    out += _automatic_choice(c)
    if answered := sum(row.ok for row in c.rows):
        who = f"{plural(answered, 'contender')} answered in {plural(c.settings['states'], 'random state')}"
        what = f"the largest relative disagreement with the oracle ({c.oracle}) is {error(c.disagreement)}"
        out.append(f"{who}; {what}.")
    if c.status != "done":
        missing = sum(row.status == "not tried" for row in c.rows)
        out.append(f"This comparison is incomplete ({c.status}): {plural(missing, 'contender')} not tried.")
    return out


def _ties(c: Comparison, kind: str) -> str:
    best = c.fastest(kind)
    near = [r.label for r in c.rows if r is not best and (x := c.times_best(r, kind)) is not None and x <= TIE]
    others = " and others" if len(near) > MAX_TIES else ""
    return f" ({', '.join(near[:MAX_TIES])}{others} within {TIE - 1:.0%})" if near else ""


def _automatic_choice(c: Comparison) -> list[str]:
    if c.chosen and c.best:
        kinds = (("single", "for single states"), ("batch", "in batches"))
        parts = [f"{_relative_time(c, kind, x)} {words}" for kind, words in kinds if (x := c.behind(kind)) is not None]
        return [f"method='auto' chooses {c.chosen.label} ({c.auto['why']}): {', '.join(parts)}."]
    if c.auto.get("method"):
        return [f"method='auto' chooses {c.auto['method']} · {c.auto['backend']} ({c.auto['why']}), which was not timed here."]
    return []


def _relative_time(c: Comparison, kind: str, ratio: float) -> str:
    """Time of `auto`'s choice relative to the fastest, and whether this run can tell them apart."""
    if ratio < 1.005:
        return "the fastest"
    spread: Spread | None = getattr(c.fastest(kind), kind, None)
    time = c.chosen.time(kind) if c.chosen else None
    doubtful = spread is not None and time is not None and time <= spread.three_quarters
    return f"{ratio:.2f} times the fastest" + (" (within its spread)" if doubtful else "")


def footnotes(c: Comparison) -> list[str]:
    rows, step = [row for row in c.rows if row.ok], duration(c.settings["step"])
    smaller = [row.batch_size for row in rows if row.batch_size < c.settings["batch"]]
    cached = any(row.backend == "loops" and row.compile_single is None for row in rows)
    notes = {
        "CPU time, one thread: the minimum over all samples; spread: where the middle half of the samples lies above it.": True,
        "*  the choice of method='auto'.": any(row.auto for row in rows),
        "(ṗ)  gives no accelerations: its time is that of velocities and momentum rates; never called best.":
            any(row.gives != "q̈" for row in rows),
        f"Iterative methods start from their last solution: all are timed along one motion in steps of {step}.":
            any(row.iterates for row in rows),
        "cached: compiled loops are the same for all models and come from the cache; cold=True (--cold) recompiles them.": cached,
        f"Slow methods ran smaller batches, down to {plural(min(smaller, default=0), 'state')}.": bool(smaller),
    }  # fmt: skip
    return [note for note, applies in notes.items() if applies]


def without_answer(c: Comparison) -> dict[str, list[tuple[str, str]]]:
    """{status: [(contenders, reason)]}, contenders with the same reason together."""
    same: dict[tuple[str, str], dict[str, list[str]]] = {}
    for row in c.rows:
        if not row.ok:
            reason = row.reason.replace(f"method {row.method!r} ", "", 1)
            same.setdefault((row.status, reason), {}).setdefault(row.method, []).append(row.backend)
    out: dict[str, list[tuple[str, str]]] = {}
    for (status, reason), found in same.items():
        by_backends: dict[str, list[str]] = {}
        for method, backends in found.items():
            by_backends.setdefault(", ".join(backends), []).append(method)
        names = "; ".join(f"{', '.join(methods)} · {backends}" for backends, methods in by_backends.items())
        out.setdefault(status, []).append((names, reason))
    return out


WIDTH = 140
"""Characters of a line where there is no terminal."""
COLOURS = {"llvm": "cyan", "loops": "green", "python": "yellow", "sparse": "magenta", "dense": "magenta"}
NAMES = 3
"""The first columns, which name a row."""


def measurements(c: Comparison) -> Table:
    """A row for each contender with an answer: rank, method, backend, then the numbers."""
    rows = [row for row in c.rows if row.ok]
    names = [Column("", numeric=True, dropped=8), Column("method"), Column("backend")]
    cells = [
        [Cell(f"{k}", k), Cell(row.name + "*" * row.auto), Cell(row.backend, style=COLOURS.get(row.backend, ""))]
        + [cell(c, row) for _, cell in NUMBERS]
        for k, row in enumerate(rows, 1)
    ]
    return Table([*names, *(column for column, _ in NUMBERS)], cells)


def _time(kind: str) -> Callable[[Comparison, Row], Cell]:
    return lambda c, row: Cell(duration(row.time(kind)), row.time(kind), "best" if row is c.fastest(kind) else "")


def _spread(kind: str) -> Callable[[Comparison, Row], Cell]:
    """Cells that say where the middle half of the samples lies above the minimum: +2…9 %."""

    def cell(c: Comparison, row: Row) -> Cell:
        s: Spread | None = getattr(row, kind)
        if s is None or s.turns < 2:
            return Cell(MISSING, style="muted")
        low, high = (100.0 * (x / s.least - 1.0) for x in (s.quarter, s.three_quarters))
        return Cell(f"+{low:.0f}…{high:.0f} %", high, "muted")

    return cell


def _operations(kind: str) -> Callable[[Comparison, Row], Cell]:
    return lambda c, row: Cell(count(row.operations(kind)), row.operations(kind))


def _compilation(c: Comparison, row: Row) -> Cell:
    """Seconds for single states + for batches."""
    if row.compile_single is None:
        return Cell("cached" if row.backend == "loops" else MISSING)
    return Cell(f"{row.compile_single:.1f} + {row.compile_batch or 0.0:.1f} s", row.compile_single)


def _disagreement(c: Comparison, row: Row) -> Cell:
    x = row.disagreement
    return Cell(error(x), x, "" if x is not None and x <= TRUST else "bad")


NUMBERS: list[tuple[Column, Callable[[Comparison, Row], Cell]]] = [
    (Column("one\nstate", True), _time("single")),
    (Column("spread", True, dropped=2), _spread("single")),
    (Column("batch,\nper state", True), _time("batch")),
    (Column("spread", True, dropped=1), _spread("batch")),
    (Column("operations\nwritten", True, dropped=6), _operations("written")),
    (Column("operations\ncompiled", True, dropped=7), _operations("compiled")),
    (Column("compile,\none + batch", True, dropped=5), _compilation),
    (Column("code", True, dropped=4), lambda c, row: Cell(memory(row.code_bytes), row.code_bytes)),
    (Column("work", True, dropped=3), lambda c, row: Cell(memory(row.work_bytes), row.work_bytes)),
    (Column("disagree-\nment", True), _disagreement),
]


def text(c: Comparison, width: int = WIDTH) -> str:
    """The comparison as text: title, conclusions, table, and why some contenders are not in it."""
    from rich.console import Console

    out = StringIO()
    show(c, Console(file=out, width=width, highlight=False, no_color=True, force_terminal=False, force_jupyter=False))
    return out.getvalue().rstrip()


def show(c: Comparison, console: Console) -> None:
    from rich.markup import escape

    console.print(f"[bold]{escape(c.model['name'])}[/]: {escape(mechanism(c))}")
    for line in conclusions(c):
        console.print(escape(line))
    console.print()
    if any(row.ok for row in c.rows):
        console.print(measurements(c).rich(console.width))
        for line in footnotes(c):
            console.print(f"[dim]{escape(line)}[/]")
    for status, rows in without_answer(c).items():
        console.print(f"\n[bold]{escape(status)}[/]")
        for names, reason in rows:
            console.print(f"  {escape(names)}: {escape(reason)}")


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


# --- the page
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
    chosen, ratio, cards = c.chosen, c.behind("single"), []
    if best := c.best:
        cards.append((duration(best.time("single")), f"one state, by {best.label}"))
    if batch := c.best_batch:
        cards.append((duration(batch.time("batch")), f"per state of a batch, by {batch.label}"))
    if chosen and ratio is not None:
        relative = "the fastest" if ratio < 1.005 else f"{ratio:.2f}×"
        cards.append((relative, f"the choice of method='auto' ({chosen.label}), relative to the fastest for one state"))
    if c.disagreement is not None:
        what = f"of {plural(sum(row.ok for row in c.rows), 'contender')} in {plural(c.settings['states'], 'state')}"
        cards.append((error(c.disagreement), f"largest relative disagreement with the oracle, {what}"))
    return cards
