"""The runs of a search: each point is run once and remembered; failures are counted, the budget kept; derivatives of outputs by
inputs are made, from the sensitivities of one run, or from differences of runs.

A run with sensitivities knows how its motion changes with an input, dq/dx and dv/dx, exactly. How an output changes with the
motion is differenced: it is computed for the motions q ± ε dq/dx, v ± ε dv/dx, parameters ± ε, and nothing is simulated again.
What has no derivative along with the motion (work, states of forces, joint forces of a law, times of events) is nan in these
motions, or refuses to be read; the derivative of an output that depends on it is nan, and is taken from differences of runs.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from ...backends.differentiated import displacement
from ...equations.motion.retraction import normalized_rows
from ...errors import StateError
from ...model.model import Model
from ...simulation.results.result import Result
from ..compute.execution import WorkerPool
from ..compute.outputs import Shape, outputs_of
from ..compute.worker import Bundle
from ..design.inputs import PARAMETER, Inputs
from ..statuses import COMPLETED, NOT_FINITE, OUTPUT_FAILED
from .problem import Problem, Quantity

STEP = 1e-5
"""Relative perturbation of a motion: about the third root of the rounding error."""
SHARE = 1e-3
"""Share of the change over the whole range of an input by which motions are moved that are smaller than this themselves."""
APART = 3e-4
"""Distance of runs whose difference is taken, relative to the bounds: runs are exact to 1e-8 or so, differences to less."""
GRADIENT = "derivatives of the outputs"
"""The output that holds them."""


def sensitivity_names(inputs: Inputs) -> dict[str, str]:
    """Inputs by which `simulate` has sensitivities: {input: its name there}."""
    return {
        name: entry if argument == PARAMETER else f"{argument}.{entry}"
        for name, (argument, entry) in inputs.places.items()
        if argument == PARAMETER or (argument == "v0" and entry) or (argument == "q0" and _is_displacement(inputs.model, entry))
    }


def _is_displacement(model: Model, coordinate: str) -> bool:
    """Whether a sensitivity by q0, which is along a speed, is by this coordinate: only it changes with the speed of its name."""
    if coordinate not in model.v_names:
        return False
    unit, moved = (np.array([float(name == coordinate) for name in names]) for names in (model.v_names, model.q_names))
    q = model.random_q(np.random.default_rng(0))
    return bool(np.allclose(displacement(model.structure, q.tolist(), unit.tolist(), [0.0], float), moved, atol=1e-12))


def with_sensitivities(run: Mapping[str, Any], names: Sequence[str]) -> dict[str, Any]:
    """Arguments of `simulate` for a run that may be one of `rollout`: the same rows."""
    out = {name: x for name, x in run.items() if name not in ("dt", "steps")}
    step = run.get("step", run.get("dt"))
    if step is not None:
        out = {"integrator": "rk4", **out, "step": step}
        out.setdefault("duration", run.get("steps", 0) * step)
        out.setdefault("output", None)
    return {**out, "sensitivities": tuple(names)}


class NoDerivative(Exception):
    """An output looks at something that has no derivative along with the motion."""


class _Unknown:
    """Placeholder for parts of a result that are unknown for a moved motion."""

    def _refuse(self, *_: Any) -> Any:
        raise NoDerivative

    __getattr__ = __getitem__ = __iter__ = __len__ = __bool__ = __contains__ = __eq__ = _refuse
    __hash__ = None  # type: ignore[assignment]


@dataclass(frozen=True)
class Gradient:
    """A function of a `Result`: (numbers of all outputs, inputs), derivatives by inputs scaled by `ranges`; nan where unknown."""

    outputs: Mapping[str, Quantity]
    names: tuple[str | None, ...]
    """Names of the sensitivities, one for each input; None where there is none."""
    ranges: tuple[float, ...]
    events: tuple[str, ...]

    def __call__(self, r: Result) -> np.ndarray:
        every = outputs_of(r.model, dict(self.outputs), self.events)
        size = sum(output.of_one(r).size for output in every)
        out = np.full((size, len(self.names)), np.nan)
        if r.status != "done":  # where a run stops at an event, its end moves too
            return out
        for k, (name, scale) in enumerate(zip(self.names, self.ranges, strict=True)):
            if name is None:
                continue
            step = _step(r, name, scale)
            ahead, behind = (moved(r, name, way * step) for way in (1.0, -1.0))
            at = 0
            for output in every:
                try:
                    with np.errstate(invalid="ignore"):
                        change = (output.of_one(ahead) - output.of_one(behind)).ravel()
                    out[at : at + len(change), k] = change * (scale / (2.0 * step))
                    at += len(change)
                except Exception:  # of a user's function too: differences of runs will tell
                    at += output.of_one(r).size
        return out


def _step(r: Result, name: str, whole: float) -> float:
    """Step of an input of range `whole` that moves nothing by more than a small share of its size, or of what the range does."""
    s, j = r.sensitivity(name), _parameter(r, name)
    parts = [(s.q, r.q), (s.v, r.v)] + ([] if j is None else [(np.ones(1), r.parameters[:, j])])
    sizes = [(float(np.abs(rate).max(initial=0.0)), float(np.abs(x).max(initial=0.0))) for rate, x in parts]
    return STEP * min((max(x / rate, SHARE * whole) for rate, x in sizes if rate > 0.0), default=whole)


def _parameter(r: Result, name: str) -> int | None:
    return list(r.model.parameters).index(name) if name in r.model.parameters else None


def moved(r: Result, name: str, step: float) -> Result:
    """The motion for an input that is larger by a small step, to first order."""
    s, j = r.sensitivity(name), _parameter(r, name)
    parameters = r.parameters
    if j is not None:
        parameters = parameters.copy()
        parameters[:, j] += step
    known = {f.name: getattr(r, f.name) for f in fields(r)}
    tau = r.tau if r.tau.ndim == 1 else np.full_like(r.tau, np.nan)
    hidden = {name: _Unknown() for name in ("events", "control", "impacts", "start")}
    changed = {
        "q": normalized_rows(r.model, r.q + step * s.q, r.t), "v": r.v + step * s.v, "parameters": parameters, "tau": tau,
        "work_done": np.full_like(r.work_done, np.nan), "state_values": np.full_like(r.state_values, np.nan),
    }  # fmt: skip
    return Result(**{**known, **changed, **hidden})


# --- differences of runs ------------------------------------------------------------------------------------------------------
def stencil(u: np.ndarray, columns: Sequence[int]) -> np.ndarray:
    """Offsets (columns, 2) from u (0 … 1) of two more runs for each input: on both sides of it, on one side near a bound."""
    out = []
    for k in columns:
        low, high = u[k] - APART < 0.0, u[k] + APART > 1.0
        out.append((APART, 2 * APART) if low else (-APART, -2 * APART) if high else (APART, -APART))
    return np.array(out).reshape(len(columns), 2)


def slope(f: np.ndarray, offsets: np.ndarray, others: Sequence[np.ndarray | None]) -> np.ndarray:
    """f' from f and its values at two offsets, by the parabola through the three, or a line where one of the runs failed."""
    known = [(float(h), g) for h, g in zip(offsets, others, strict=True) if g is not None]
    if len(known) < 2:
        return (known[0][1] - f) / known[0][0] if known else np.zeros_like(f)
    (a, fa), (b, fb) = known
    return np.asarray((fa - f) * (b / (a * (b - a))) - (fb - f) * (a / (b * (b - a))))


REMEMBERED = 4096
"""Points whose outputs are kept; the history keeps all runs."""

Told = Callable[[int, float], None]
"""Called with the number of runs and the best objective, whenever some are done."""

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
    """Where it is an array, the sum of its squares."""
    constraints: np.ndarray
    status: str
    message: str
    t_end: float
    purpose: str

    @property
    def residuals(self) -> np.ndarray:
        """The numbers of the objective, where the run did not fail."""
        assert self.outputs is not None
        return self.outputs[: len(self.outputs) - len(self.constraints)]


class BudgetExhausted(Exception):
    """The runs that were allowed are all made."""


class Evaluations:
    def __init__(self, problem: Problem, pool: WorkerPool, max_runs: int | None, told: Told) -> None:
        self.problem, self.pool, self.max_runs, self._told = problem, pool, max_runs, told
        self.rows: list[Point] = []
        self.shapes: dict[str, Shape] = {}
        self.by_differences: set[str] = set()
        """Inputs whose derivatives were taken from differences of runs."""
        self._points: OrderedDict[bytes, Point] = OrderedDict()
        self._size = 0
        self.is_array, self.best = False, np.inf
        self.scale, self.scales, self._is_scaled = 1.0, np.ones(len(problem.limits)), False
        """Scales of the objective and of the constraints, by their first values; searches see them divided by that."""

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
            self.scale, self.scales = abs(point.objective) or 1.0, self.problem.scales(point.constraints)
            self._is_scaled = True
        if not self.problem.violations(point.constraints, self.scales):
            self.best = min(self.best, point.objective)

    def _taken(self, u: np.ndarray, bundle: Bundle, k: int, purpose: str) -> Point:
        names, count = list(self.problem.outputs), len(self.problem.limits)
        status, message, t_end = bundle.status[k], bundle.message[k], float(bundle.t_end[k])
        failed = Point(u, None, None, np.nan, np.full(count, np.nan), status, message, t_end, purpose)
        if status not in COMPLETED:
            return failed
        self.shapes |= bundle.shapes
        for name in self.problem.limits:
            if bundle.shapes[name].sizes:
                raise StateError(f"constraints: {name!r} is an array; limit one number of it, such as its maximum")
        parts = {name: np.atleast_1d(bundle.values[name][k]).ravel() for name in names}
        self.is_array = bundle.values[names[0]].ndim > 1
        outputs = np.concatenate(list(parts.values()))
        if not np.isfinite(outputs).all():
            bad = next(name for name, part in parts.items() if not np.isfinite(part).all())
            return replace(failed, status=NOT_FINITE, message=f"output {bad!r} is not finite")
        if self._size not in (0, len(outputs)):
            sizes = f"{len(outputs) - count} numbers, of other runs {self._size - count}"
            return replace(failed, status=OUTPUT_FAILED, message=f"output {names[0]!r}: it has {sizes}")
        self._size = len(outputs)
        residuals, constraints = np.split(outputs, [self._size - count])
        objective = float(residuals @ residuals) if self.is_array else float(residuals[0])
        derivatives = bundle.values[GRADIENT][k] if GRADIENT in bundle.values else None
        return replace(failed, outputs=outputs, derivatives=derivatives, objective=objective, constraints=constraints)

    # --- what searches ask for ------------------------------------------------------------------------------------------------
    @property
    def squares(self) -> int:
        """How many numbers the objective is the sum of squares of; 0 where it is a number itself."""
        return self._size - len(self.problem.limits) if self.is_array else 0

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
