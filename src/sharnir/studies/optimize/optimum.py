"""Result of an optimisation, and the history of its runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np
from xarray import Dataset, Variable

from ...reporting.formats import plural
from ...simulation.results.result import Result
from ..compute.worker import Worker
from ..statuses import COMPLETED
from .evaluations import Evaluations

if TYPE_CHECKING:
    from matplotlib.figure import Figure

AT_BOUND = 1e-6
"""Share of its range by which an input may be away from a bound and still be at it."""
MOST_REASONS = 3


@dataclass(eq=False)
class Optimum:
    """The best run of an optimisation. Unpacked in `summary()`, drawn by `plot()`; all runs are in `history`."""

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
        from .convergence import plot_optimum

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
    """All runs, in the order in which they were made."""
    p, rows = e.problem, e.rows
    inputs = p.columns(np.array([row.u for row in rows]).reshape(len(rows), len(p.names)))
    coords: dict[str, Any] = {name: Variable("run", x, {"role": "input"}) for name, x in inputs.items()}
    coords["run"] = Variable("run", np.arange(len(rows)))
    limited = np.array([row.constraints for row in rows]).reshape(len(rows), len(p.limits))
    outputs = {p.objective: np.array([row.objective for row in rows])}
    outputs |= {name: limited[:, k] for k, name in enumerate(p.limits)}
    data = {}
    for name, x in outputs.items():
        units = e.shapes[name].units if name in e.shapes and not e.shapes[name].sizes else ""
        data[name] = Variable("run", x, {"role": "output", **({"units": units} if units else {})})
    for name in ("status", "message", "purpose"):
        data[name] = Variable("run", np.array([getattr(row, name) for row in rows], dtype=object), {"role": "run"})
    data["t_end"] = Variable("run", np.array([row.t_end for row in rows]), {"role": "run", "units": "s"})
    feasible = np.isfinite(outputs[p.objective]) & (p.violations(limited, e.scales) == 0.0)
    data["feasible"] = Variable("run", feasible, {"role": "run"})
    return Dataset(data, coords, dict(attributes))


def best_of(e: Evaluations) -> tuple[int, bool]:
    """The best run: of those that meet the constraints the one with the least objective, else the nearest to them; and whether it
    meets them. -1 where all runs failed."""
    objective = np.array([row.objective for row in e.rows])
    if not np.isfinite(objective).any():
        return -1, False
    limited = np.array([row.constraints for row in e.rows]).reshape(len(e.rows), len(e.problem.limits))
    violations = np.where(np.isfinite(objective), e.problem.violations(limited, e.scales), np.inf)
    feasible = violations == 0.0
    if not feasible.any():
        return int(np.argmin(violations)), False
    return int(np.argmin(np.where(feasible, objective, np.inf))), True


def at_bounds(names: tuple[str, ...], u: np.ndarray) -> dict[str, str]:
    ends = {name: "low" if x < AT_BOUND else "high" if x > 1.0 - AT_BOUND else "" for name, x in zip(names, u, strict=True)}
    return {name: end for name, end in ends.items() if end}
