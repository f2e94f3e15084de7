"""The runs of a search: each point is run once and remembered; failures are counted, gradients made, the budget kept."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from ...errors import StateError
from ..compute.outputs import Shape
from ..compute.worker import Bundle
from ..compute.worker_pool import WorkerPool
from ..statuses import COMPLETED, NOT_FINITE, OUTPUT_FAILED
from .gradients import GRADIENT, slope, stencil
from .problem import Problem

REMEMBERED = 4096
"""Points whose outputs are kept; the history keeps all runs."""

SEARCH, DIFFERENCE = "search", "difference"
"""Purposes of runs: to look for the optimum, or to take their difference for a gradient."""


@dataclass(frozen=True, eq=False)
class Point:
    """One run. `outputs` is None where it failed."""

    u: np.ndarray
    outputs: np.ndarray | None
    """All numbers: those of the objective, then of the constraints; the history does without them."""
    derivatives: np.ndarray | None
    objective: float
    constraints: np.ndarray
    status: str
    message: str
    t_end: float
    purpose: str


class BudgetExhausted(Exception):
    """All runs that were allowed are made."""


class Evaluations:
    def __init__(self, problem: Problem, pool: WorkerPool, max_runs: int | None, told: Callable[[int, float], None]) -> None:
        """`told` is called with the number of runs and the best objective, whenever some are done."""
        self.problem, self.pool, self.max_runs, self._told = problem, pool, max_runs, told
        self.rows: list[Point] = []
        self.shapes: dict[str, Shape] = {}
        self.by_differences: set[str] = set()
        """Inputs whose derivatives were taken from differences of runs."""
        self._points: OrderedDict[bytes, Point] = OrderedDict()
        self._size = 0
        self.is_array = False
        self.scale = 1.0
        """Scale of the objective, by its first value; searches see it divided by that."""
        self.scales = np.ones(len(problem.limits))
        self.best = np.inf
        self._is_scaled = False

    # --- runs -----------------------------------------------------------------------------------------------------------------
    def points(self, us: np.ndarray, purpose: str = SEARCH) -> list[Point]:
        """Points for (n, inputs): those that are new are run side by side."""
        us = np.clip(us, 0.0, 1.0) + 0.0
        new = {u.tobytes(): u for u in us if u.tobytes() not in self._points}
        left = len(new) if self.max_runs is None else max(0, self.max_runs - len(self.rows))
        if new and left:
            self._run(np.array(list(new.values())[:left]), purpose)
        if len(new) > left:
            raise BudgetExhausted
        return [self._points[u.tobytes()] for u in us]

    def point(self, u: np.ndarray) -> Point:
        return self.points(np.asarray(u, dtype=float)[None])[0]

    def _run(self, us: np.ndarray, purpose: str) -> None:
        columns = self.problem.columns(us)
        done: list[Point] = []
        try:
            for span, bundle in self.pool.compute(columns):
                done += [self._taken(us[span][k], bundle, k, purpose) for k in range(len(bundle.status))]
        finally:  # runs that are done before Ctrl-C count
            order = {u.tobytes(): k for k, u in enumerate(us)}
            for point in sorted(done, key=lambda one: order[one.u.tobytes()]):
                self._keep(point)
            self._told(len(self.rows), self.best)
        while len(self._points) > max(REMEMBERED, 2 * len(us)):
            self._points.popitem(last=False)

    def _keep(self, point: Point) -> None:
        self._points[point.u.tobytes()] = point
        self.rows.append(replace(point, outputs=None, derivatives=None))
        if point.outputs is None:
            return
        if not self._is_scaled:
            self._is_scaled = True
            self.scale, self.scales = abs(point.objective) or 1.0, self.problem.scales(point.constraints)
        if not self.problem.violations(point.constraints, self.scales):
            self.best = min(self.best, point.objective)

    def _taken(self, u: np.ndarray, bundle: Bundle, k: int, purpose: str) -> Point:
        status, message = bundle.status[k], bundle.message[k]
        names, count = list(self.problem.outputs), len(self.problem.limits)
        outputs = derivatives = None
        objective, constraints = np.nan, np.full(count, np.nan)
        if status in COMPLETED:
            self.shapes |= bundle.shapes
            for name in self.problem.limits:
                if bundle.shapes[name].sizes:
                    raise StateError(f"constraints: {name!r} is an array; limit one number of it, such as its maximum")
            parts = [np.atleast_1d(bundle.values[name][k]).ravel() for name in names]
            self.is_array = bundle.values[names[0]].ndim > 1
            outputs = np.concatenate(parts)
            if not np.isfinite(outputs).all():
                bad = [name for name, part in zip(names, parts, strict=True) if not np.isfinite(part).all()]
                status, message, outputs = NOT_FINITE, f"output {bad[0]!r} is not finite", None
            elif self._size not in (0, len(outputs)):
                sizes = f"{len(outputs) - count} numbers, of other runs {self._size - count}"
                status, message, outputs = OUTPUT_FAILED, f"output {names[0]!r}: it has {sizes}", None
        if outputs is not None:
            self._size = len(outputs)
            objective, constraints = self.value(outputs), self.constraints(outputs)
            if GRADIENT in bundle.values:
                derivatives = bundle.values[GRADIENT][k]
        t_end = float(bundle.t_end[k])
        return Point(u, outputs, derivatives, objective, constraints, status, message, t_end, purpose)

    # --- what searches ask for ------------------------------------------------------------------------------------------------
    def value(self, outputs: np.ndarray) -> float:
        """The objective; where it is an array, the sum of its squares."""
        residuals = self.residuals(outputs)
        return float(residuals @ residuals) if self.is_array else float(residuals[0])

    @property
    def squares(self) -> int:
        """How many numbers the objective is the sum of squares of; 0 where it is a number itself."""
        return self._size - len(self.problem.limits) if self.is_array else 0

    def residuals(self, outputs: np.ndarray) -> np.ndarray:
        return outputs[: len(outputs) - len(self.problem.limits)]

    def constraints(self, outputs: np.ndarray) -> np.ndarray:
        return outputs[len(outputs) - len(self.problem.limits) :]

    def penalty(self) -> float:
        """Objective that searches see for a failed run, which has none."""
        known = [abs(row.objective) for row in self.rows if np.isfinite(row.objective)]
        return 10.0 * max(known, default=1.0) + self.scale

    def last_constraints(self) -> np.ndarray:
        """Constraints of the last run that has any, in place of those of a failed one."""
        known = (row.constraints for row in reversed(self.rows) if np.isfinite(row.constraints).all())
        return next(known, np.zeros(len(self.problem.limits)))

    def derivatives(self, point: Point) -> np.ndarray:
        """(numbers of the outputs, inputs) of a point that did not fail, by scaled inputs."""
        assert point.outputs is not None
        found = point.derivatives
        if found is None:
            found = np.full((len(point.outputs), len(point.u)), np.nan)
        unknown = np.flatnonzero(np.isnan(found).any(axis=0)).tolist()
        if not unknown:
            return found
        self.by_differences |= {self.problem.names[k] for k in unknown}
        offsets = stencil(point.u, unknown)
        us = np.repeat(point.u[None], 2 * len(unknown), axis=0)
        us[np.arange(len(us)), np.repeat(unknown, 2)] += offsets.ravel()
        others = [p.outputs for p in self.points(us, DIFFERENCE)]
        found = found.copy()
        for k, column in enumerate(unknown):
            slopes = slope(point.outputs, offsets[k], others[2 * k : 2 * k + 2])
            found[:, column] = np.where(np.isnan(found[:, column]), slopes, found[:, column])
        return found
