"""Picture of a search: the objective run by run, and the inputs between their bounds."""

from __future__ import annotations

from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ...errors import StateError, shortened
from ...reporting.formats import plural
from ...reporting.pictures import INK, add_legend, check_picture
from ...types import FloatArray
from ..pictures.captions import runs
from ..pictures.colours import ONE_COLOUR, WORD_COLOURS
from ..pictures.columns import Column
from ..pictures.drawing import EDGE, FAILED, GREY, SMALL, Sheet, pale_frame, set_axis
from ..pictures.scales import Scale, scale_of
from ..statuses import COMPLETED
from .evaluations import SEARCH

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from xarray import Dataset

    from .optimum import Optimum

WIDTH, UPPER, LOWER, GAP = 8.4, 2.6, 2.0, 0.3
"""Inches of the figure, of its two panels and between them."""
LEFT, RIGHT, FOOT = 0.95, 1.95, 0.55
MOST_INPUTS = 8
"""Inputs drawn, each with its name."""
OUTLIERS, FAR = 0.02, 10.0
"""The worst share of the objectives is drawn at the upper edge where it reaches so much further than the others."""


def plot_optimum(best: Optimum, path: str | PathLike[str] | None = None) -> Figure:
    """Above, the objective of every run and the best so far; below, the inputs scaled to their bounds."""
    check_picture(path)
    ds = best.history
    if not ds.sizes["run"]:
        raise StateError("the history has no runs")
    sheet = Sheet(WIDTH, 0.15 + UPPER + GAP + LOWER + FOOT, str(ds.attrs["title"]), _caption(best), path)
    upper = sheet.axes(LEFT, FOOT + LOWER + GAP, WIDTH - LEFT - RIGHT, UPPER)
    lower = sheet.axes(LEFT, FOOT, WIDTH - LEFT - RIGHT, LOWER)
    lower.sharex(upper)
    so_far = best_so_far(ds)
    _objective(upper, best, so_far)
    _inputs(lower, best, so_far)
    n = ds.sizes["run"]
    for axes in (upper, lower):
        axes.set_xlim(-0.02 * n - 0.3, 1.02 * n - 0.7)
    upper.tick_params(axis="x", labelbottom=False, length=0)
    lower.set_xlabel("run", fontsize=9, color=INK)
    return sheet.finished()


def _caption(best: Optimum) -> str:
    values = ", ".join(f"{name} = {x:.6g}" for name, x in list(best.values.items())[:MOST_INPUTS])
    parts = [f"{runs(best.runs)} by {best.method}, {best.status.replace('_', ' ')}"]
    parts += [f"gradients from {best.gradients}"] * (best.gradients != "none")
    parts += [f"{best.failed} failed"] * bool(best.failed)
    return "; ".join([*parts, f"the best is run {best.best}: {values}"])


def best_so_far(ds: Dataset) -> NDArray[np.int64]:
    """For each run the number of the best one until then; -1 where there is none."""
    objective = np.where(ds["feasible"].values, ds[ds.attrs["objective"]].values, np.inf)
    least = np.minimum.accumulate(objective)
    new = objective < np.concatenate([[np.inf], least[:-1]])
    return np.maximum.accumulate(np.where(new, np.arange(len(objective)), -1))


def _scale(values: FloatArray, column: Column) -> Scale:
    """Axis of the objectives, without those that are far worse than nearly all the others."""
    least, most = float(values.min()), float(np.quantile(values, 1.0 - OUTLIERS))
    shown = values if values.max() - least <= FAR * (most - least) else values[values <= most]
    return scale_of(Column(column.name, column.role, column.units, shown), 5)


def _objective(axes: Axes, best: Optimum, so_far: NDArray[np.int64]) -> None:
    ds, name = best.history, str(best.history.attrs["objective"])
    values, at = ds[name].values.astype(float), np.arange(best.runs)
    column = Column(name, "output", ds[name].attrs.get("units", ""), values)
    known = np.isfinite(values)
    scale = _scale(values[known], column)
    feasible, search = ds["feasible"].values, ds["purpose"].values == SEARCH
    failed = ~np.isin(ds["status"].values, COMPLETED)
    ceiling = float(scale.value(np.array([1.06]))[0])
    drawn = np.minimum(np.where(known, values, np.nan), ceiling)
    size = 22.0 if best.runs < 100 else 10.0 if best.runs < 1000 else 4.0
    ring = 0.9 if best.runs < 100 else 0.6
    marks: list[tuple[NDArray[np.bool_], dict[str, Any]]] = [
        (known & feasible & search, {"label": "runs", "facecolor": ONE_COLOUR, "alpha": 0.55, "linewidth": 0}),
        (known & feasible & ~search, {"label": "runs for differences", "facecolor": EDGE, "linewidth": 0}),
        (known & ~feasible, {"label": "outside the constraints", "facecolor": "none", "edgecolor": "#b85c00", "linewidth": ring}),
    ]
    for which, mark in marks:
        if which.any():
            axes.scatter(at[which], drawn[which], s=size, zorder=3, clip_on=False, **mark)
    if failed.any():
        there = np.full(int(failed.sum()), ceiling)
        axes.scatter(at[failed], there, s=size * 1.2, marker="x", color=FAILED, linewidth=1.0, zorder=3, label="failed runs")
    if (so_far >= 0).any():
        line = np.where(so_far >= 0, values[so_far], np.nan)
        axes.step(at, line, where="post", color=INK, lw=1.4, zorder=4, label="best so far")
        axes.plot([best.best], [values[best.best]], marker="D", ms=5.5, mfc="white", mec=INK, mew=1.4, zorder=5, clip_on=False)
    set_axis(axes, "y", scale, 0.07)
    pale_frame(axes, "y")
    axes.set_ylabel(shortened(column.label, 40), fontsize=9, color=INK, parse_math=False)
    _legend(axes)


def _inputs(axes: Axes, best: Optimum, so_far: NDArray[np.int64]) -> None:
    ds, at = best.history, np.arange(best.runs)
    names = list(best.values)[:MOST_INPUTS]
    there = so_far >= 0
    few = best.runs <= 60
    for k, name in enumerate(names):
        low, high = best.bounds[name]
        u = (ds[name].values - low) / (high - low)
        colour = WORD_COLOURS[k % len(WORD_COLOURS)]
        mark: dict[str, Any] = {"ls": "-", "lw": 0.6, "ms": 4.0} if few else {"ls": "", "ms": 1.6}
        axes.plot(at, u, marker="o", color=colour, alpha=0.5, zorder=2, mew=0, clip_on=False, **mark)
        line = np.where(there, u[so_far], np.nan) if there.any() else u
        label = shortened(f"{name} = {best.values[name]:.5g}", 24)
        axes.step(at, line, where="post", color=colour, lw=1.8, zorder=3, label=label)
    axes.set_ylim(-0.04, 1.04)
    axes.set_yticks([0.0, 0.5, 1.0], ["low", "", "high"], fontsize=SMALL, color=GREY)
    axes.set_ylabel("inputs between bounds", fontsize=9, color=INK)
    axes.tick_params(labelsize=SMALL, color=GREY, labelcolor=GREY, length=2.5)
    pale_frame(axes, "y")
    more = len(best.values) - len(names)
    _legend(axes, f"{plural(more, 'more input')} not drawn" if more else "")


def _legend(axes: Axes, title: str = "") -> None:
    add_legend(
        axes, loc="upper left", bbox_to_anchor=(1.02, 1.0), fontsize=8, labelcolor=INK, handlelength=1.6, title=title or None,
        title_fontsize=8,
    )  # fmt: skip
