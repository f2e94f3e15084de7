"""Result of an optimisation: the best run, the history of all runs, and the picture of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from xarray import Dataset, Variable

from ...errors import StateError, shortened
from ...reporting.formats import plural
from ...reporting.pictures import INK, add_legend, check_picture
from ...simulation.results.result import Result
from ..compute.worker import Worker
from ..pictures.columns import Column, runs
from ..pictures.drawing import EDGE, FAILED, GREY, ONE_COLOUR, SMALL, WORD_COLOURS, Sheet, pale_frame, scale_of, set_axis
from ..statuses import COMPLETED
from .evaluations import SEARCH, Evaluations

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

AT_BOUND = 1e-6
"""Share of its range by which an input may be away from a bound and still be at it."""
MOST_REASONS = 3


@dataclass(eq=False)
class Optimum:
    """The best run of an optimisation, in words by `summary()`, drawn by `plot()`; all runs are in `history`."""

    values: dict[str, float]
    objective: float
    """The least objective; for an array of residuals, the sum of their squares."""
    constraints: dict[str, float]
    status: str
    """converged; not_converged (`message` says why); max_runs: as many as were allowed; interrupted by Ctrl-C; infeasible: no run
    meets the constraints, and this one comes nearest."""
    message: str
    method: str
    gradients: str
    """Source of the gradients: "sensitivities", "differences of runs", both with the inputs of each, or "none"."""
    at_bounds: dict[str, str]
    """Inputs that are at a bound: "low" or "high"."""
    history: Dataset
    """A row for each run, as a study has it: `sharnir.plot_study` draws it."""
    bounds: dict[str, tuple[float, float]]
    limits: dict[str, tuple[float, float]]
    _worker: Worker = field(repr=False)

    @property
    def runs(self) -> int:
        """Number of runs, those for differences and those that failed included."""
        return int(self.history.sizes["run"])

    @property
    def failed(self) -> int:
        return int((~np.isin(self.history["status"].values, COMPLETED)).sum())

    @property
    def best(self) -> int:
        """The number of the best run."""
        return int(self.history.attrs["best"])

    @cached_property
    def _result(self) -> Result:
        return self._worker.result(self.values)

    def result(self) -> Result:
        """The best run, made again when it is first asked for; with its sensitivities where gradients came from them."""
        return self._result

    def plot(self, path: str | PathLike[str] | None = None) -> Figure:
        """Draw the search: the objective run by run, and the inputs between their bounds. `path`: .png, .svg, .pdf."""
        from .optimum import plot_optimum

        return plot_optimum(self, path)

    def summary(self) -> str:
        """The optimum in a few lines of text."""
        name = self.history.attrs["objective"]
        lines = [f"{self.history.attrs['title']}: {self.status}, {plural(self.runs, 'run')} by {self.method}"]
        lines += [f"  {self.message}"] * bool(self.message)
        lines += [f"  gradients: {self.gradients}"] * (self.gradients != "none")
        squares = self.history.attrs.get("squares")
        of = f"sum of squares of {name} ({squares} numbers)" if squares else name
        lines.append(f"  {of} = {self.objective:.9g}{'' if squares else _unit(self.history, name)}")
        width = max(map(len, self.values))
        for key, x in self.values.items():
            low, high = self.bounds[key]
            there = f", at its {self.at_bounds[key]} bound" if key in self.at_bounds else ""
            lines.append(f"  {key:<{width}} = {x:.9g}, between {low:g} and {high:g}{there}")
        for key, x in self.constraints.items():
            low, high = self.limits[key]
            within = [f"{low:g} ≤ "] * bool(np.isfinite(low)) + [key] + [f" ≤ {high:g}"] * bool(np.isfinite(high))
            lines.append(f"  {''.join(within)}: {x:.9g}{_unit(self.history, key)}")
        if self.failed:
            lines.append(f"  {plural(self.failed, 'run')} failed: {reasons(self.history)}")
        return "\n".join(lines)

    def __repr__(self) -> str:
        values = ", ".join(f"{name}={x:.6g}" for name, x in self.values.items())
        return f"Optimum({values}; {self.objective:.6g}, {self.status}, {plural(self.runs, 'run')})"


def _unit(ds: Dataset, name: str) -> str:
    unit = ds[name].attrs.get("units", "")
    return f" {unit}" if unit not in ("", "1") else ""


def reasons(ds: Dataset) -> str:
    """Reasons why runs failed, the most frequent first, each with the message of one of them."""
    status, message = ds["status"].values, ds["message"].values
    failed = ~np.isin(status, COMPLETED)
    most = Counter(status[failed].tolist()).most_common(MOST_REASONS)
    return "; ".join(f"{n} {name} ({message[failed & (status == name)][0]})" for name, n in most)


def history_of(e: Evaluations, attributes: Mapping[str, Any]) -> Dataset:
    p, rows = e.problem, e.rows
    objective, limited, violations = _found(e)

    def column(x: Any, role: str, units: str = "") -> Variable:
        return Variable("run", x, {"role": role, **({"units": units} if units else {})})

    inputs = p.columns(np.array([row.u for row in rows]).reshape(len(rows), len(p.names)))
    coords = {name: column(x, "input") for name, x in inputs.items()} | {"run": Variable("run", np.arange(len(rows)))}
    data = {}
    for name, x in {p.objective: objective, **dict(zip(p.limits, limited.T, strict=True))}.items():
        data[name] = column(x, "output", e.shapes[name].units if name in e.shapes and not e.shapes[name].sizes else "")
    for name in ("status", "message", "purpose"):
        data[name] = column(np.array([getattr(row, name) for row in rows], dtype=object), "run")
    data["t_end"] = column(np.array([row.t_end for row in rows]), "run", "s")
    data["feasible"] = column(violations == 0.0, "run")
    return Dataset(data, coords, dict(attributes))


def _found(e: Evaluations) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Objectives and constraints of all runs, and violations, infinite where a run failed."""
    objective = np.array([row.objective for row in e.rows])
    limited = np.array([row.constraints for row in e.rows]).reshape(len(e.rows), len(e.problem.limits))
    return objective, limited, np.where(np.isfinite(objective), e.problem.violations(limited, e.scales), np.inf)


def best_of(e: Evaluations) -> tuple[int, bool]:
    """The best run: of those that meet the constraints the one with the least objective, else the nearest to them; and whether it
    meets them. -1 where all runs failed."""
    objective, _, violations = _found(e)
    if not np.isfinite(objective).any():
        return -1, False
    feasible = violations == 0.0
    best = np.argmin(np.where(feasible, objective, np.inf) if feasible.any() else violations)
    return int(best), bool(feasible.any())


def at_bounds(names: tuple[str, ...], u: np.ndarray) -> dict[str, str]:
    ends = {name: "low" if x < AT_BOUND else "high" if x > 1.0 - AT_BOUND else "" for name, x in zip(names, u, strict=True)}
    return {name: end for name, end in ends.items() if end}


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


def _objective(axes: Axes, best: Optimum, so_far: NDArray[np.int64]) -> None:
    ds, name = best.history, str(best.history.attrs["objective"])
    values, at = ds[name].values.astype(float), np.arange(best.runs)
    column = Column(name, "output", ds[name].attrs.get("units", ""), values)
    known = np.isfinite(values)
    shown = values[known]
    least, most = float(shown.min()), float(np.quantile(shown, 1.0 - OUTLIERS))
    if shown.max() - least > FAR * (most - least):  # some are far worse than nearly all the others
        shown = shown[shown <= most]
    scale = scale_of(replace(column, values=shown), 5)
    feasible, search = ds["feasible"].values, ds["purpose"].values == SEARCH
    failed = ~np.isin(ds["status"].values, COMPLETED)
    ceiling = float(scale.value(np.array([1.06]))[0])
    drawn = np.minimum(np.where(known, values, np.nan), ceiling)
    size = 22.0 if best.runs < 100 else 10.0 if best.runs < 1000 else 4.0
    ring = {"facecolor": "none", "edgecolor": "#b85c00", "linewidth": 0.9 if best.runs < 100 else 0.6}
    marks: dict[str, tuple[NDArray[np.bool_], dict[str, Any]]] = {
        "runs": (known & feasible & search, {"facecolor": ONE_COLOUR, "alpha": 0.55, "linewidth": 0}),
        "runs for differences": (known & feasible & ~search, {"facecolor": EDGE, "linewidth": 0}),
        "outside the constraints": (known & ~feasible, ring),
    }
    for label, (which, mark) in marks.items():
        if which.any():
            axes.scatter(at[which], drawn[which], s=size, zorder=3, clip_on=False, label=label, **mark)
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
    mark: dict[str, Any] = {"ls": "-", "lw": 0.6, "ms": 4.0} if best.runs <= 60 else {"ls": "", "ms": 1.6}
    for k, name in enumerate(names):
        low, high = best.bounds[name]
        u = (ds[name].values - low) / (high - low)
        colour = WORD_COLOURS[k % len(WORD_COLOURS)]
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
    look = {"bbox_to_anchor": (1.02, 1.0), "fontsize": 8, "labelcolor": INK, "handlelength": 1.6, "title_fontsize": 8}
    add_legend(axes, loc="upper left", title=title or None, **look)
