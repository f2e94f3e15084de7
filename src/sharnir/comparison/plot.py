"""A comparison as a picture: a line for each contender; times of single states and in batches, operations beside them."""

from __future__ import annotations

from math import log10
from os import PathLike
from typing import TYPE_CHECKING, Any

from ..errors import StateError
from ..reporting.pictures import GREY, INK, PALE, check_picture, new_figure, save_picture
from .charts import BACKENDS, Chart, charts, log_ticks
from .summary import mechanism

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from .comparison import Comparison
    from .row import Row

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
        _clean(axis, title, foot)
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
    figure.text(0.012, 1.0 - 0.64 / height, _subtitle(c), fontsize=9.5, color=GREY, parse_math=False)
    _legend(figure, rows, 1.0 - 0.1 / height)
    if path is not None:
        save_picture(figure, path, facecolor="white")
    return figure


def _subtitle(c: Comparison) -> str:
    worst = "" if c.disagreement is None else f"; all agree with the oracle to {c.disagreement:.0e}"
    return f"{mechanism(c)}{worst}; {c.machine.get('processor', '')}, one thread. Bold: the choice of method='auto'"


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
    figure.legend(
        handles, [b.label for b in used], loc="upper right", bbox_to_anchor=(0.99, top), ncols=len(used), frameon=False,
        fontsize=9, handletextpad=0.3, columnspacing=1.3,
    )  # fmt: skip


def _clean(axis: Axes, title: str, foot: str) -> None:
    axis.set_title(title, loc="left", fontsize=10.5, color=INK)
    axis.set_xlabel(foot, fontsize=8.5, color=GREY)
    axis.tick_params(labelsize=8.5, color=GREY, labelcolor=GREY, length=0)
    axis.tick_params(axis="x", which="minor", length=0)
    axis.grid(True, axis="both", color=PALE, linewidth=0.8)
    axis.set_axisbelow(True)
    axis.spines[["top", "right", "left", "bottom"]].set_visible(False)
