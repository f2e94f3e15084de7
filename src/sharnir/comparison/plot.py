"""A comparison as a picture: a dot where the quickest turn was, a line as far as three quarters of them reached."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..errors import StateError
from ..simulation.storage import check_writable
from .words import duration, mechanism, number, total

if TYPE_CHECKING:
    from .comparison import Comparison
    from .row import Row

COLOURS = {"llvm": "#1b6ca8", "loops": "#2e8b57", "python": "#e09f3e", "sparse": "#9c4f96", "dense": "#9c4f96"}
WORDS = {
    "llvm": "llvm: straight-line code",
    "loops": "loops: compiled loops",
    "python": "python: interpreted",
    "sparse": "sparse: SciPy's LU",
    "dense": "dense: NumPy",
}
GREY, PALE, INK = "#8a8f98", "#e7e9ec", "#22262b"


def plot(c: Comparison, path: Any = None) -> Any:
    from matplotlib.figure import Figure

    rows = [row for row in c.rows if row.ok and row.single]
    if not rows:
        raise StateError("nothing to plot: no contender was timed")
    if path:
        check_writable(path)
    size = (12.0, 2.1 + 0.29 * len(rows))
    if path:
        figure = Figure(figsize=size)  # no window, whatever the screen
    else:
        import matplotlib.pyplot as plt

        figure = plt.figure(figsize=size)
    height = size[1]
    axes = figure.subplots(
        1, 3, sharey=True, gridspec_kw={"width_ratios": (1.0, 1.0, 0.62), "wspace": 0.06},
        subplot_kw={"facecolor": "white"},
    )  # fmt: skip
    figure.subplots_adjust(left=0.205, right=0.985, top=1.0 - 1.3 / height, bottom=0.62 / height)
    _times(axes[0], c, rows, "single", "one state")
    _times(axes[1], c, rows, "batch", "per state of a batch")
    _operations(axes[2], rows)
    axes[0].set_yticks(range(len(rows)), [_name(row) for row in rows], fontsize=9.5, color=INK)
    for label, row in zip(axes[0].get_yticklabels(), rows, strict=True):
        label.set_fontweight("bold" if row.auto else "normal")
    axes[0].set_ylim(len(rows) - 0.4, -0.6)
    figure.text(0.012, 1.0 - 0.36 / height, c.model["name"], fontsize=15, fontweight="bold", color=INK, parse_math=False)
    figure.text(0.012, 1.0 - 0.64 / height, _subtitle(c), fontsize=9.5, color=GREY, parse_math=False)
    used = [name for name in COLOURS if any(row.backend == name for row in rows)]
    handles = [_dot(COLOURS[name]) for name in used]
    figure.legend(
        handles, [WORDS[name] for name in used], loc="upper right", bbox_to_anchor=(0.99, 1.0 - 0.1 / height), ncols=len(used),
        frameon=False, fontsize=9, handletextpad=0.3, columnspacing=1.3,
    )  # fmt: skip
    if path:
        figure.savefig(path, dpi=150, facecolor="white")
    return figure


def _subtitle(c: Comparison) -> str:
    worst = "" if c.disagreement is None else f"; all agree with the oracle to {c.disagreement:.0e}"
    return f"{mechanism(c)}{worst}; {c.machine.get('processor', '')}, one thread. Bold: what method='auto' takes"


def _name(row: Row) -> str:
    return row.method + (" (ṗ)" if row.gives != "q̈" else "")


def _dot(colour: str) -> Any:
    from matplotlib.lines import Line2D

    return Line2D([], [], marker="o", linestyle="", markersize=6.5, color=colour)


def _times(axis: Any, c: Comparison, rows: list[Row], kind: str, title: str) -> None:
    """Seconds on a log axis; the number beside the dot."""
    from matplotlib.ticker import LogLocator

    best = c.fastest(kind)
    for at, row in enumerate(rows):
        spread = getattr(row, kind)
        if spread is None:
            continue
        colour = COLOURS[row.backend]
        axis.plot([spread.least, spread.three_quarters], [at, at], color=colour, lw=4.5, alpha=0.35, solid_capstyle="round")
        axis.plot(spread.least, at, "o", color=colour, markersize=7, markeredgecolor="white", markeredgewidth=0.8)
        said = {"color": INK, "fontweight": "bold"} if row is best else {"color": GREY}
        _label(axis, duration(spread.least), (spread.three_quarters, at), 8, **said)
    axis.set_xscale("log")
    _clean(axis)
    low, high = axis.get_xlim()
    axis.set_xlim(low / 1.3, high * (high / low) ** 0.16)  # room for the numbers
    axis.xaxis.set_major_locator(LogLocator(numticks=7))
    axis.minorticks_off()
    axis.xaxis.set_major_formatter(lambda x, _: duration(x))
    axis.set_title(f"Time of one evaluation, {title}", loc="left", fontsize=10.5, color=INK)
    axis.set_xlabel("least of the turns (dot), to three quarters of them (line)", fontsize=8.5, color=GREY)


def _operations(axis: Any, rows: list[Row]) -> None:
    """As written pale, as compiled dark."""
    known = [x for row in rows for kind in ("written", "compiled") if (x := total(row, kind))]
    for at, row in enumerate(rows):
        written, compiled = total(row, "written"), total(row, "compiled")
        if written and compiled:
            axis.plot([compiled, written], [at, at], color=PALE, lw=2.5, zorder=1)
        if written:
            axis.plot(written, at, "o", markerfacecolor="white", markeredgecolor=COLOURS[row.backend], markersize=6.5)
        if compiled:
            axis.plot(compiled, at, "o", color=COLOURS[row.backend], markersize=6.5)
        for value, shift, side in ((written, 8, "left"), (compiled, -8, "right")):
            if value:
                _label(axis, number(value), (value, at), shift, ha=side, color=GREY)
    _clean(axis)
    axis.set_title("Operations", loc="left", fontsize=10.5, color=INK)
    axis.set_xlabel("as written (ring), once compiled (dot)", fontsize=8.5, color=GREY)
    if known:
        axis.set_xscale("log")
        wide = (max(known) / min(known)) ** 0.42 * 1.7  # room for the numbers on both sides
        axis.set_xlim(min(known) / wide, max(known) * wide)
        axis.minorticks_off()
        axis.xaxis.set_major_formatter(lambda x, _: number(round(x)))
    else:
        axis.set_xticks([])
        axis.text(0.5, 0.5, "none counted", transform=axis.transAxes, ha="center", color=GREY, fontsize=9)


def _label(axis: Any, text: str, at: tuple[float, float], shift: float, **more: Any) -> None:
    box = {"facecolor": "white", "edgecolor": "none", "pad": 0.6}  # no line of the grid through a number
    axis.annotate(text, at, (shift, -0.5), textcoords="offset points", va="center", fontsize=8, bbox=box, zorder=1.5, **more)


def _clean(axis: Any) -> None:
    axis.tick_params(labelsize=8.5, color=GREY, labelcolor=GREY, length=0)
    axis.tick_params(axis="x", which="minor", length=0)
    axis.grid(True, axis="both", color=PALE, linewidth=0.8)
    axis.set_axisbelow(True)
    axis.spines[["top", "right", "left", "bottom"]].set_visible(False)
