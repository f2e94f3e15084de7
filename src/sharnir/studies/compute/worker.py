"""One worker of a study, a thread or a process: the model compiled once, then bundle after bundle of runs.

Results of a bundle depend on the task and on its inputs alone: not on the worker, nor on the bundles before it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any

import numpy as np

from ...dialect.jit import host_lanes
from ...errors import SharnirError, SimulationError
from ...integrate.trajectory import in_words
from ...model.model import Model
from ...model.parameters import check_values
from ...model.validity import beyond_validity, warn_of_deformation
from ...simulation.results.records import Cost
from ...simulation.results.result import Result
from ...simulation.results.trajectories import Rollout
from ...simulation.run.adaptive_lanes import AdaptiveLanes, can_batch
from ...simulation.run.checks import output_times
from ...simulation.run.options import CompiledOptions, FixedSteps, RunOptions, fixed_steps, split
from ...simulation.run.rollout import rollout
from ...simulation.run.runs import Runs
from ..design.designs import ArgumentError, Columns
from ..design.inputs import Inputs, ManyInputs, Refused, in_one_line
from ..statuses import COMPLETED, ENDED, OUTPUT_FAILED, REFUSED
from .outputs import MOTION, Output, Reduced, Shape, outputs_of

FEWEST = 8
"""Runs of a study for which lanes are compiled."""
MOST_KINDS = 64
"""Kinds of runs, by method, integrator …, that are kept compiled."""


ON_LANES = {
    "duration", "q0", "v0", "fixed", "nearest", "t0", "tau", "parameters", "states", "method", "backend", "integrator", "rtol",
    "atol", "max_step", "output", "balance", "stabilisation", "limits",
}  # fmt: skip
"""Arguments of adaptive runs that may go side by side."""

COMPILED = {one.name for one in fields(CompiledOptions)}

SideBySide = Callable[[Columns, int], tuple[Rollout, np.ndarray]]
"""Runs from their inputs, and which of them are left to be run alone."""


@dataclass(frozen=True)
class Task:
    """Everything that all runs of a study have in common."""

    model: Model
    names: tuple[str, ...]
    run: Mapping[str, Any]
    outputs: Any
    count: int | None = None
    """Number of runs, where it is known: for few it does not pay to compile lanes."""
    first: Columns | None = None
    """Inputs of the first run."""


@dataclass
class Bundle:
    """Results of consecutive runs. `values`: by output (n, …), nan where a run has none."""

    status: np.ndarray
    message: np.ndarray
    """Words, as objects."""
    t_end: np.ndarray
    values: dict[str, np.ndarray] = field(default_factory=dict)
    shapes: dict[str, Shape] = field(default_factory=dict)

    @classmethod
    def of(cls, n: int) -> Bundle:
        return cls(np.full(n, "", dtype=object), np.full(n, "", dtype=object), np.full(n, np.nan))

    def put(self, output: Output, at: Sequence[int], values: np.ndarray) -> None:
        known = self.values.get(output.name)
        if known is None:
            known = self.values[output.name] = np.full((len(self.status), *output.shape.sizes), np.nan)
            self.shapes[output.name] = output.shape
        known[at] = values


class Worker:
    def __init__(self, task: Task) -> None:
        self.inputs = Inputs(task.model, task.names, task.run)
        self.model = self.inputs.model
        self.outputs = outputs_of(self.model, task.outputs, event_names(self.inputs.run))
        for output in self.outputs:
            if output.name in task.names:
                raise ArgumentError(f"{output.name!r} is the name of an input; give the output another", "outputs")
        self._kinds: dict[tuple[Any, ...], Runs] = {}
        self._lanes: dict[Runs, AdaptiveLanes | None] = {}
        self._first = task.first
        few = task.count is not None and task.count < FEWEST
        self._alone = few or not all(output.of_motions for output in self.outputs)
        self._tell_times()

    def compute(self, rows: Columns, stopped: Callable[[], bool] = lambda: False) -> Bundle:
        n = len(next(iter(rows.values())))
        out = Bundle.of(n)
        for group in self._alike(rows, n):
            if self.inputs.on_lanes:
                self._side_by_side(self._rolled_out, rows, group, out, stopped)
            elif self.go_together(rows, group[0]):
                self._side_by_side(self._adaptive, rows, group, out, stopped)
            else:
                self._one_by_one(rows, group, out, stopped)
        return out

    def _tell_times(self) -> None:
        """Give outputs that are motions their times, the same in all runs."""
        motions = [output for output in self.outputs if isinstance(output, Reduced) and output.word == MOTION]
        for name in ("duration", "t0", "step"):
            if motions and name in self.inputs.varied_options:
                what = f"motions have the same times in all runs, {name!r} cannot be an input"
                raise ArgumentError(what, "outputs", motions[0].name)
        if self.inputs.on_lanes or not motions:
            return
        times = _times(self.inputs.run, self.model.nq + self.model.nv)
        if times is None:
            raise ArgumentError("motions need times, run=dict(output=0.1), not every step", "outputs", motions[0].name)
        for output in motions:
            output.times = times

    def result(self, row: Mapping[str, Any]) -> Result:
        if self.inputs.on_lanes:
            return self._rolled_out({name: np.array([x]) for name, x in row.items()}, 1, ends=False)[0][0]
        return self._run(row)

    # --- one after another ----------------------------------------------------------------------------------------------------
    def _one_by_one(self, rows: Columns, at: Sequence[int], out: Bundle, stopped: Callable[[], bool]) -> None:
        results: list[tuple[int, Result]] = []
        for k in at:
            if stopped():
                raise KeyboardInterrupt  # unfinished bundles are dropped
            try:
                r = self._run({name: x[k] for name, x in rows.items()})
            except Exception as error:  # of a user's function too
                out.status[k], out.message[k] = REFUSED, in_one_line(in_words(error))
                continue
            if r.status == "interrupted":
                raise KeyboardInterrupt
            out.status[k], out.t_end[k] = r.status, r.t[-1] if len(r.t) else np.nan
            out.message[k] = in_one_line(r.message) if r.status not in COMPLETED else ""
            results.append((k, r))
        self._reduce(results, out)

    def _run(self, row: Mapping[str, Any]) -> Result:
        runs, options = self._runs(self.inputs.arguments(row))
        return runs.run(options)

    def _runs(self, arguments: Mapping[str, Any]) -> tuple[Runs, RunOptions]:
        """The compiled runs of a kind, and the options of one run."""
        compiled, options = split({**arguments, "on_failure": "return", "progress": False}, RunOptions)
        key = tuple(arguments[name] for name in self.inputs.varied_options if name in COMPILED)
        if (runs := self._kinds.get(key)) is None:
            runs = Runs(self.model, compiled, many=True)
            while len(self._kinds) >= MOST_KINDS:
                self._lanes.pop(self._kinds.pop(next(iter(self._kinds))), None)
            self._kinds[key] = runs
        return runs, options

    @cached_property
    def _of_starts(self) -> Runs:
        """Runs that find the start for all kinds."""
        return Runs(self.model, CompiledOptions(integrator="dop853"), many=True)

    # --- side by side ---------------------------------------------------------------------------------------------------------
    def _alike(self, rows: Columns, n: int) -> list[list[int]]:
        """Groups of runs that have all options in common."""
        names = self.inputs.varied_options
        groups: dict[tuple[Any, ...], list[int]] = {}
        for k in range(n) if names else ():
            groups.setdefault(tuple(rows[name][k] for name in names), []).append(k)
        return list(groups.values()) or [list(range(n))]

    def _side_by_side(self, run: SideBySide, rows: Columns, at: list[int], out: Bundle, stopped: Callable[[], bool]) -> None:
        """Run a group. Runs that are refused must not stop the others: where it is unknown which they are, it is halved."""
        if stopped():
            raise KeyboardInterrupt
        try:
            found, left = run({name: x[at] for name, x in rows.items()}, len(at))
        except SimulationError:
            raise
        except Refused as error:
            for k, words in error.words.items():
                out.status[at[k]], out.message[at[k]] = REFUSED, words
            if others := [place for k, place in enumerate(at) if k not in error.words]:
                self._side_by_side(run, rows, others, out, stopped)
            return
        except SharnirError as error:
            if len(at) == 1:
                out.status[at[0]], out.message[at[0]] = REFUSED, in_one_line(in_words(error))
                return
            for half in (at[: len(at) // 2], at[len(at) // 2 :]):
                self._side_by_side(run, rows, half, out, stopped)
            return
        if found.status == "interrupted":
            raise KeyboardInterrupt
        ended = found.ok & ~left
        places = np.array(at)
        out.status[places], out.t_end[places] = "done", found.t[-1]
        for k in np.flatnonzero(~ended).tolist():
            out.status[at[k]], out.t_end[at[k]] = "not_finite", found.failed[k]
            out.message[at[k]] = f"failed after t = {found.failed[k]:.9g}"
        if ended.any():
            self._reduce_many(found if ended.all() else _part(found, np.flatnonzero(ended)), places[ended].tolist(), out)
        self._reduce([(at[k], found[k]) for k in np.flatnonzero(~found.ok).tolist()], out)
        self._one_by_one(rows, [at[k] for k in np.flatnonzero(left)], out, stopped)

    def _rolled_out(self, rows: Columns, n: int, ends: bool = True) -> tuple[Rollout, np.ndarray]:
        """Runs of fixed step. `ends`: store no more rows than the outputs read."""
        given = ManyInputs(self.inputs, rows)
        arguments = {**given.arguments}
        arguments["q0"], arguments["v0"] = given.starts(self._of_starts, given.values())
        for argument in ("parameters", "states"):
            if argument in given.entries:
                arguments[argument] = {**(arguments.get(argument) or {}), **given.entries[argument]}
        if "tau" in given.entries:
            arguments["tau"] = np.repeat(given.tau()[:, None], _steps(arguments).count, axis=1)
        if ends and not any(output.needs_rows for output in self.outputs) and "every" not in arguments:
            arguments["every"] = max(1, _steps(arguments).count)
        return rollout(self.model, **arguments, progress=False), np.zeros(n, dtype=bool)

    # --- adaptive, on lanes ---------------------------------------------------------------------------------------------------
    def go_together(self, rows: Columns, k: int = 0) -> bool:
        """Whether adaptive runs with the options of run k go side by side."""
        if self.inputs.on_lanes:
            return False
        try:
            return self._lanes_of(self.inputs.arguments({name: x[k] for name, x in rows.items()})) is not None
        except SharnirError:  # the row of each run reports it
            return False

    def _lanes_of(self, arguments: dict[str, Any]) -> AdaptiveLanes | None:
        """Lanes for runs whose outputs read only their motion; None where runs go one after another."""
        if self._alone or not set(arguments) <= ON_LANES or arguments.get("output", RunOptions.output) is None:
            return None
        runs, _ = self._runs(arguments)
        if runs not in self._lanes:
            lanes = self._lanes[runs] = AdaptiveLanes(runs) if can_batch(runs) else None
            if lanes is not None and self._first is not None:
                self._find_typical_pivots(lanes, self._first)
        return self._lanes[runs]

    def _find_typical_pivots(self, lanes: AdaptiveLanes, first: Columns) -> None:
        """Prepare lanes by the first run of the study, so that no run depends on those before it in this worker."""
        given = ManyInputs(self.inputs, first)
        with suppress(SharnirError):  # it cannot begin
            values = given.values()
            q, _ = given.starts(self._of_starts, values)
            lanes.find_typical_pivots(q[0], split(given.arguments, RunOptions)[1].t0, values[0])

    def _adaptive(self, rows: Columns, n: int) -> tuple[Rollout, np.ndarray]:
        """Adaptive runs on lanes, and which of them lanes could not finish."""
        model = self.model
        given = ManyInputs(self.inputs, rows)
        runs, options = self._runs(given.arguments)
        lanes = self._lanes_of(given.arguments)
        assert lanes is not None
        times = _times(given.arguments, 2 * (model.nq + model.nv))
        assert times is not None
        values, tau = given.values(), given.tau()
        check_values(model, values)
        q, v = given.starts(self._of_starts, values)
        with_a = any(output.of_accelerations for output in self.outputs)
        x, _, ok = lanes.run(q, v, times, options, tau=tau, parameters=values, accelerations=with_a)
        warn_of_deformation(beyond_validity(model, x[..., : model.nq], times))
        q, v, states, a = np.split(x, np.cumsum([model.nq, model.nv, len(model.states)]), axis=-1)
        cost = Cost(runs.d.method, runs.d.why.details, runs.d.backend, runs.options.integrator, 0, 0, 0, 0, 0.0, 0.0, 0.0, 0.0)
        forces = np.repeat(tau[:, None], len(times), axis=1) if tau.any() else tau[0]
        own = values[:, : len(model.parameters)]
        never = np.full(n, np.inf)
        return Rollout(model, times, q, v, never, forces, cost, parameters=own, state_values=states, found_a=a), ~ok

    def rows_of_one(self, row: Mapping[str, Any]) -> int:
        """Approximate count of numbers in the rows of a run."""
        arguments, size = self.inputs.arguments(row), 2 * (self.model.nq + self.model.nv + len(self.model.states))
        if not self.inputs.on_lanes:
            times = _times(arguments, size)
            return 1000 * size if times is None else len(times) * size
        if not any(output.needs_rows for output in self.outputs):
            return 2 * size
        steps = _steps(arguments)
        return (steps.count // steps.every + 1) * size

    # --- outputs --------------------------------------------------------------------------------------------------------------
    def _reduce(self, results: list[tuple[int, Result]], out: Bundle) -> None:
        """Reduce runs with rows at the same times together: quantities of a motion are computed for all its states at once."""
        together: dict[bytes, list[tuple[int, Result]]] = {}
        for k, r in results:
            constant = not r.parameters.size or (r.parameters == r.parameters[0]).all()
            if r.status in ENDED and len(r.t) and constant and not r.contacts:
                together.setdefault(r.t.tobytes(), []).append((k, r))
                continue
            for output in self.outputs if len(r.t) else ():
                if r.status in ENDED or not output.needs_rows:  # of a failed one, what reads only where it ended
                    self._put_one(output, k, r, out)
        for group in together.values():
            self._reduce_many(_stacked([r for _, r in group]), [k for k, _ in group], out, [r for _, r in group])

    def _reduce_many(self, many: Rollout, at: list[int], out: Bundle, results: Sequence[Result] | None = None) -> None:
        fewest = -(-host_lanes() // max(1, len(many.t)))
        filled = many if len(many) >= fewest else _part(many, np.resize(np.arange(len(many)), fewest))  # by the code for many
        for output in self.outputs:
            try:
                found = output.of_many(filled)
            except SharnirError:  # of one of them: which one is found below
                found = None
            if found is not None:
                out.put(output, at, found[: len(at)])
                continue
            for place, k in enumerate(at):
                self._put_one(output, k, many[place] if results is None else results[place], out)

    def _put_one(self, output: Output, k: int, r: Result, out: Bundle) -> None:
        try:
            out.put(output, [k], output.of_one(r)[None])
        except Exception as error:
            if r.status in ENDED and out.status[k] != OUTPUT_FAILED:
                verb = "" if isinstance(error, SharnirError) else "raised "
                out.status[k] = OUTPUT_FAILED
                out.message[k] = in_one_line(f"output {output.name!r}: {verb}{in_words(error)}")


def _times(arguments: Mapping[str, Any], size: int) -> np.ndarray | None:
    """Times of the rows of a run, of so many numbers each; None: every step."""
    options = RunOptions(**{name: arguments[name] for name in ("duration", "t0", "output") if name in arguments})
    return output_times(options.output, options.t0, options.end, size)


def _steps(arguments: Mapping[str, Any]) -> FixedSteps:
    duration, step, dt, steps = (arguments.get(name) for name in ("duration", "step", "dt", "steps"))
    return fixed_steps(duration, step, dt, steps, arguments.get("every", 1), arguments.get("t0", 0.0))


def event_names(run: Mapping[str, Any]) -> list[str]:
    events = run.get("events", ())
    return [e.name for e in (events if np.iterable(events) else [events]) if getattr(e, "name", "")]


def _part(many: Rollout, at: np.ndarray) -> Rollout:
    given = {name: x[at] for name in ("parameters", "state_values", "found_a") if (x := getattr(many, name)).size}
    tau = many.tau if many.tau.ndim == 1 else many.tau[at]
    return replace(many, q=many.q[at], v=many.v[at], failed=many.failed[at], tau=tau, **given)


def _stacked(results: Sequence[Result]) -> Rollout:
    """Runs at the same times, with constant parameters, as one motion of many states."""
    r = results[0]
    q, v, states = (np.stack([getattr(one, name) for one in results]) for name in ("q", "v", "state_values"))
    parameters = np.stack([one.parameters[0] for one in results]) if r.parameters.size else np.zeros((0, 0))
    tau = r.tau
    if any(one.tau.ndim > 1 or not np.array_equal(one.tau, tau) for one in results):
        tau = np.stack([np.broadcast_to(one.tau, one.v.shape) for one in results])
    return Rollout(r.model, r.t, q, v, np.full(len(results), np.inf), tau, r.cost, parameters=parameters, state_values=states)
