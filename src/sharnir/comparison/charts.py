"""Charts of a comparison as data, and their picture; `report.py` draws them for the page.

Nothing that comes from the model gets into the data: plotly reads its texts as a kind of HTML.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from math import log10
from os import PathLike
from typing import TYPE_CHECKING, Any, NamedTuple

from ..errors import StateError
from ..reporting import pictures
from ..reporting.formats import count, duration, error
from ..reporting.pictures import COLOURS, GREY, INK, PALE, check_picture, new_figure, save_picture
from .comparison import mechanism

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from .comparison import Comparison, Row


class Backend(NamedTuple):
    label: str
    colour: str
    symbol: str
    """Backends are told apart by shape as well as by colour."""


BACKENDS = {
    "llvm": Backend("llvm: straight-line code", COLOURS[0], "circle"),
    "loops": Backend("loops: compiled loops", COLOURS[2], "diamond"),
    "python": Backend("python: interpreted", "#e09f3e", "square"),
    "sparse": Backend("sparse: SciPy's LU", "#9c4f96", "cross"),
    "dense": Backend("dense: NumPy", "#9c4f96", "cross"),
}


class Point(NamedTuple):
    row: Row
    x: float
    text: str
    """Text shown where the pointer rests."""
    upper: float | None = None
    """End of the error bar, which begins at x."""
    y: float | None = None
    """Height of the point; None: on the line of the row."""


@dataclass(frozen=True)
class Series:
    name: str
    colour: str
    symbol: str
    points: list[Point]
    filled: bool = True


@dataclass(frozen=True)
class Chart:
    title: str
    caption: str
    axis: str
    label: Callable[[float], str]
    """Values on the axis, as text."""
    series: list[Series]

    @property
    def xs(self) -> list[float]:
        return [x for s in self.series for p in s.points for x in (p.x, p.upper) if x]

    @property
    def ys(self) -> list[float]:
        return [p.y for s in self.series for p in s.points if p.y]


def charts(rows: Sequence[Row]) -> dict[str, Chart]:
    """Charts by name, those for which there are numbers."""
    timed = [row for row in rows if row.ok and row.single]
    found = {
        "single": _times(timed, "single", "Time of one state", "From the fastest sample (mark) to the third quartile (line)."),
        "batch": _times(timed, "batch", "Time per state of a batch", "The same, for many states in one call; one thread."),
        "operations": _operations(timed),
        "against": _time_over_operations(timed),
    }
    return {name: chart for name, chart in found.items() if chart.series}


def _by_backend(rows: Iterable[Row]) -> dict[str, list[Row]]:
    rows = list(rows)
    return {name: found for name in BACKENDS if (found := [row for row in rows if row.backend == name])}


def _times(rows: Sequence[Row], kind: str, title: str, caption: str) -> Chart:
    def point(row: Row) -> Point:
        s = getattr(row, kind)
        times = f"minimum {duration(s.least)}, median {duration(s.middle)}, third quartile {duration(s.three_quarters)}"
        batch = f", batches of {row.batch_size}" if kind == "batch" else ""
        return Point(row, s.least, f"{row.label}<br>{times}<br>{s.turns} samples{batch}", s.three_quarters)

    groups = _by_backend(row for row in rows if getattr(row, kind))
    series = [Series(*BACKENDS[name], [point(row) for row in mine]) for name, mine in groups.items()]
    return Chart(title, caption, "time of one evaluation (log scale)", duration, series)


def _operations(rows: Sequence[Row]) -> Chart:
    series = []
    for kind, name, colour, filled in (
        ("written", "as written", GREY, False),
        ("compiled", "once compiled for this model", BACKENDS["llvm"].colour, True),
    ):
        points = [Point(row, n, f"{row.method}, {name}: {count(n)}") for row in rows if (n := row.operations(kind))]
        series += [Series(name, colour, "circle", points, filled)] if points else []
    folded = "Straight-line code folds constants, drops zeros and shares common subexpressions of one model."
    caption = f"Additions, multiplications, divisions, functions. {folded}"
    return Chart("Operations", caption, "operations (log scale)", lambda x: count(round(x)), series)


def _time_over_operations(rows: Sequence[Row]) -> Chart:
    """Time over the operations that are carried out: as compiled in straight-line code, as written elsewhere."""
    series = []
    for backend, mine in _by_backend(row for row in rows if row.batch).items():
        counted = [(row, n) for row in mine if (n := row.operations("compiled" if backend == "llvm" else "written"))]
        for kind, name in (("single", "one state"), ("batch", "batch")) if counted else ():
            points = []
            for row, n in counted:
                time = row.time(kind) or 0.0
                rate = f"{count(n)} operations in {duration(time)}: {duration(time / n)} each"
                text = f"{row.label}, {name}<br>{rate}<br>disagreement {error(row.disagreement)}"
                points.append(Point(row, n, text, y=time))
            series.append(Series(f"{backend}, {name}", BACKENDS[backend].colour, "circle", points, filled=kind == "batch"))
    caption = "Rings: one state, the call from Python included. Dots: in batches. Lower left is better."
    return Chart("Time over operations", caption, "operations (log scale)", lambda x: count(round(x)), series)


STEPS = ((1,), (1, 2, 5), (1, 1.2, 1.5, 1.8, 2, 2.5, 3, 3.5, 4, 5, 6, 7, 8))
"""Places of ticks within a decade, from coarse to fine; the last has two at least within a factor of 1.5."""


def log_ticks(values: Iterable[float]) -> tuple[tuple[float, float], list[float]]:
    """Ends of a logarithmic axis (as powers of ten) with some room, and ticks: three or more where the axis is long enough."""
    logs = [log10(x) for x in values]
    low, high = min(logs) - 0.1, max(logs) + 0.1
    return (low, high), pictures.log_ticks(10.0**low, 10.0**high, STEPS)


MARKERS = {"circle": "o", "diamond": "D", "square": "s", "cross": "X"}
MAX_TICKS = 4

PANELS = {
    "single": "Time of one evaluation, one state",
    "batch": "Time of one evaluation, in batches",
    "operations": "Operations",
}
FOOTS = ("fastest sample (mark) to third quartile (line)",) * 2 + ("as written (ring), once compiled (dot)",)


def plot(c: Comparison, path: str | PathLike[str] | None = None) -> Figure:
    rows = [row for row in c.rows if row.ok and row.single]
    if not rows:
        raise StateError("nothing to plot: no contender was timed")
    check_picture(path)
    height = 2.1 + 0.29 * len(rows)
    figure = new_figure((12.0, height), window=path is None)
    axes = figure.subplots(1, 3, sharey=True, gridspec_kw={"width_ratios": (1.0, 1.0, 0.62), "wspace": 0.06})
    figure.subplots_adjust(left=0.205, right=0.985, top=1.0 - 1.3 / height, bottom=0.62 / height)
    found = charts(rows)
    for axis, (name, title), foot in zip(axes, PANELS.items(), FOOTS, strict=True):
        axis.set_title(title, loc="left", fontsize=10.5, color=INK)
        axis.set_xlabel(foot, fontsize=8.5, color=GREY)
        axis.tick_params(labelsize=8.5, color=GREY, labelcolor=GREY, length=0)
        axis.tick_params(axis="x", which="minor", length=0)
        axis.grid(True, axis="both", color=PALE, linewidth=0.8)
        axis.set_axisbelow(True)
        axis.spines[["top", "right", "left", "bottom"]].set_visible(False)
        if name in found:
            best = c.fastest(name) if name != "operations" else None
            _draw(axis, found[name], rows, best)
        else:
            axis.set_xticks([])
            axis.text(0.5, 0.5, "none", transform=axis.transAxes, ha="center", color=GREY, fontsize=9)
    axes[0].set_yticks(range(len(rows)), [row.name for row in rows], fontsize=9.5, color=INK)
    for label, row in zip(axes[0].get_yticklabels(), rows, strict=True):
        label.set_fontweight("bold" if row.auto else "normal")
    axes[0].set_ylim(len(rows) - 0.4, -0.6)
    figure.text(0.012, 1.0 - 0.36 / height, c.model["name"], fontsize=15, fontweight="bold", color=INK, parse_math=False)
    worst = "" if c.disagreement is None else f"; all agree with the oracle to {c.disagreement:.0e}"
    about = f"{mechanism(c)}{worst}; {c.machine.get('processor', '')}, one thread. Bold: the choice of method='auto'"
    figure.text(0.012, 1.0 - 0.64 / height, about, fontsize=9.5, color=GREY, parse_math=False)
    _legend(figure, rows, 1.0 - 0.1 / height)
    if path is not None:
        save_picture(figure, path, facecolor="white")
    return figure


def _draw(axis: Axes, chart: Chart, rows: list[Row], best: Row | None) -> None:
    """Draw marks with their values beside them, on a logarithmic axis."""
    places = {row.label: k for k, row in enumerate(rows)}
    rings = any(not series.filled for series in chart.series)  # numbers of rings to the right, those of dots to the left
    for series in chart.series:
        left = rings and series.filled
        for p in series.points:
            at, end = places[p.row.label], p.upper or p.x
            axis.plot([p.x, end], [at, at], color=series.colour, lw=4.5, alpha=0.35, solid_capstyle="round")
            face, edge = (series.colour, "white") if series.filled else ("white", series.colour)
            axis.plot(p.x, at, MARKERS[series.symbol], markerfacecolor=face, markeredgecolor=edge, markersize=7)
            weight: dict[str, Any] = {"color": INK, "fontweight": "bold"} if p.row is best else {"color": GREY}
            axis.annotate(
                chart.label(p.x), (p.x if left else end, at), (-8 if left else 8, -0.5), ha="right" if left else "left",
                textcoords="offset points", va="center", fontsize=8, zorder=1.5,
                bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.6}, **weight,  # no grid line through a number
            )  # fmt: skip
    (low, high), ticks = log_ticks(chart.xs)
    room = 0.42 * (high - low) + 0.1 if rings else 0.16 * (high - low)  # for the numbers
    axis.set_xscale("log")
    axis.set_xlim(10.0 ** (low - room * rings), 10.0 ** (high + room))
    ticks = ticks if len(ticks) <= MAX_TICKS else [x for x in ticks if log10(x).is_integer()]
    axis.set_xticks(ticks, [chart.label(x) for x in ticks])
    axis.minorticks_off()


def _legend(figure: Figure, rows: list[Row], top: float) -> None:
    from matplotlib.lines import Line2D

    used = [backend for name, backend in BACKENDS.items() if any(row.backend == name for row in rows)]
    handles = [Line2D([], [], marker=MARKERS[b.symbol], linestyle="", markersize=6.5, color=b.colour) for b in used]
    look = {"ncols": len(used), "frameon": False, "fontsize": 9, "handletextpad": 0.3, "columnspacing": 1.3}
    figure.legend(handles, [b.label for b in used], loc="upper right", bbox_to_anchor=(0.99, top), **look)
