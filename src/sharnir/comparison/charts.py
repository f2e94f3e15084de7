"""Charts of a comparison as data; `report.py` draws them for the page, `plot.py` as a picture.

Nothing that comes from the model gets in here: plotly reads its texts as a kind of HTML.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from math import log10
from typing import TYPE_CHECKING, NamedTuple

from ..reporting import pictures
from ..reporting.formats import count, duration, error
from ..reporting.pictures import COLOURS, GREY

if TYPE_CHECKING:
    from .row import Row


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
    caption = (
        "Additions, multiplications, divisions, functions. Straight-line code folds constants, drops zeros and shares common "
        "subexpressions of one model."
    )
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
