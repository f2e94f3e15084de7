"""One worker of a study, a thread or a process: the model compiled once, then bundle after bundle of runs.

What a bundle gives depends on the task and on its inputs alone: not on the worker, nor on the bundles before it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ..errors import SharnirError, SimulationError
from ..integrate.trajectory import LIMITED, in_words
from ..model.model import Model
from ..simulation.result import Result
from ..simulation.rollout import rollout
from ..simulation.runs import Runs, runs_of
from ..simulation.trajectories import Rollout
from .design import Columns
from .inputs import WORDS, Inputs, in_one_line
from .outputs import Final, Function, Output, Reduced, Shape, outputs_of

ENDED = ("done", "stopped", *LIMITED)
"""Statuses of runs that did not fail."""
REFUSED, OUTPUT_FAILED = "refused", "output_failed"
"""Statuses of runs that could not begin, and of those whose output raised an exception."""
MOST_KINDS = 64
"""Kinds of runs, by method, integrator …, that are kept compiled."""


@dataclass(frozen=True)
class Task:
    """What is the same for all runs of a study."""

    model: Model
    names: tuple[str, ...]
    run: Mapping[str, Any]
    outputs: Any


@dataclass
class Bundle:
    """What runs side by side in the dataset have given. `values`: by output (n, …), nan where a run has none."""

    status: list[str]
    message: list[str]
    t_end: np.ndarray
    values: dict[str, np.ndarray] = field(default_factory=dict)
    shapes: dict[str, Shape] = field(default_factory=dict)

    @classmethod
    def of(cls, n: int) -> Bundle:
        return cls([""] * n, [""] * n, np.full(n, np.nan))

    def put(self, output: Output, at: Sequence[int], values: np.ndarray) -> None:
        """Of runs `at`."""
        known = self.values.get(output.name)
        if known is None:
            known = self.values[output.name] = np.full((len(self.status), *output.shape.sizes), np.nan)
            self.shapes[output.name] = output.shape
        known[at] = values


class Stopped(Exception):
    """The study was interrupted: what is not finished is not wanted."""


class Worker:
    def __init__(self, task: Task) -> None:
        self.inputs = Inputs(task.model, task.names, task.run)
        self.model = self.inputs.model
        self.outputs = outputs_of(self.model, task.outputs, event_names(self.inputs.run))
        self._kinds: dict[tuple[Any, ...], Runs] = {}

    def compute(self, rows: Columns, stopped: Callable[[], bool] = lambda: False) -> Bundle:
        """The runs with these inputs."""
        n = len(next(iter(rows.values())))
        out = Bundle.of(n)
        if self.inputs.on_lanes:
            for group in self._alike(rows, n):
                self._side_by_side(rows, group, out, stopped)
        else:
            self._one_by_one(rows, n, out, stopped)
        return out

    def result(self, row: Mapping[str, Any]) -> Result:
        """One run, whole."""
        if self.inputs.on_lanes:
            return self._rolled_out({name: np.array([x]) for name, x in row.items()}, 1, ends=False)[0]
        runs, rest = self._runs(self.inputs.arguments(row))
        return runs.run(**rest, on_failure="return", progress=False)

    # --- one after another ----------------------------------------------------------------------------------------------------
    def _one_by_one(self, rows: Columns, n: int, out: Bundle, stopped: Callable[[], bool]) -> None:
        results: list[tuple[int, Result]] = []
        for k in range(n):
            if stopped():
                raise Stopped
            try:
                arguments = self.inputs.arguments({name: x[k] for name, x in rows.items()})
                runs, rest = self._runs(arguments)
                r = runs.run(**rest, on_failure="return", progress=False)
            except Exception as error:  # of a user's function too
                out.status[k], out.message[k] = REFUSED, in_one_line(error)
                continue
            if r.status == "interrupted":
                raise Stopped
            self._record(out, k, r)
            results.append((k, r))
        self._reduce(results, out)

    def _runs(self, arguments: dict[str, Any]) -> tuple[Runs, dict[str, Any]]:
        """The compiled runs of a kind, and what is left to give to them."""
        key = tuple(arguments.get(name) for name in (*WORDS, "decay"))
        if (runs := self._kinds.get(key)) is None:
            runs, rest = runs_of(self.model, arguments)
            while len(self._kinds) >= MOST_KINDS:
                self._kinds.pop(next(iter(self._kinds)))
            self._kinds[key] = runs
            return runs, rest
        return runs, runs.options(arguments)

    def _record(self, out: Bundle, k: int, r: Result) -> None:
        out.status[k], out.t_end[k] = r.status, r.t[-1] if len(r.t) else np.nan
        out.message[k] = " ".join(r.message.split()) if r.status not in ("done", "stopped") else ""

    # --- side by side ---------------------------------------------------------------------------------------------------------
    def _alike(self, rows: Columns, n: int) -> list[list[int]]:
        """Runs that have all options in common."""
        names = self.inputs.varied_options
        groups: dict[tuple[Any, ...], list[int]] = {}
        for k in range(n) if names else ():
            groups.setdefault(tuple(rows[name][k] for name in names), []).append(k)
        return list(groups.values()) or [list(range(n))]

    def _side_by_side(self, rows: Columns, at: list[int], out: Bundle, stopped: Callable[[], bool]) -> None:
        """Those that cannot be run are found by halves: they must not keep the others from running."""
        if stopped():
            raise Stopped
        try:
            found = self._rolled_out({name: x[at] for name, x in rows.items()}, len(at))
        except SimulationError:
            raise
        except SharnirError as error:
            if len(at) == 1:
                out.status[at[0]], out.message[at[0]] = REFUSED, in_one_line(error)
                return
            for half in (at[: len(at) // 2], at[len(at) // 2 :]):
                self._side_by_side(rows, half, out, stopped)
            return
        if found.status == "interrupted":
            raise Stopped
        good = found.ok
        for k, ok, failed in zip(at, good.tolist(), found.failed.tolist(), strict=True):
            out.status[k], out.t_end[k] = ("done", found.t[-1]) if ok else ("not_finite", failed)
            out.message[k] = "" if ok else f"failed after t = {failed:.9g}"
        if good.all():
            self._reduce_many(found, at, out)
        else:
            chosen = np.flatnonzero(good)
            if len(chosen):
                self._reduce_many(_part(found, chosen), [at[k] for k in chosen], out)
            self._reduce([(at[k], found[k]) for k in np.flatnonzero(~good).tolist()], out)

    def _rolled_out(self, rows: Columns, n: int, ends: bool = True) -> Rollout:
        """`ends`: no more rows than the outputs look at."""
        inputs, model = self.inputs, self.model
        arguments = inputs.arguments({name: x[0] for name, x in rows.items()})
        for argument in {argument for argument, entry in inputs.places.values() if entry}:
            arguments[argument] = inputs.run.get(argument)
        entries: dict[str, dict[str, np.ndarray]] = {}
        for name, x in rows.items():
            argument, entry = inputs.places[name]
            if entry:
                entries.setdefault(argument, {})[entry] = np.asarray(x, dtype=float)
        for argument in ("parameters", "states"):
            if argument in entries:
                arguments[argument] = {**(arguments.get(argument) or {}), **entries[argument]}
        arguments["q0"], arguments["v0"] = self._starts(arguments, entries, n)
        if "tau" in entries:
            tau = np.tile(model.speeds(arguments.get("tau")), (n, 1))
            for entry, x in entries["tau"].items():
                tau[:, model.v_names.index(entry)] = x
            count = round(arguments["duration"] / arguments["step"]) if "duration" in arguments else arguments["steps"]
            arguments["tau"] = np.repeat(tau[:, None], count, axis=1)
        ends = ends and not any(output.needs_rows for output in self.outputs)
        if ends and "every" not in arguments and "duration" in arguments:
            arguments["every"] = max(1, round(float(arguments["duration"]) / float(arguments["step"])))
        return rollout(model, **arguments, progress=False)

    def rows_of_one(self) -> int:
        """Numbers of the rows of one run on lanes, about."""
        run, model = self.inputs.run, self.model
        if not any(output.needs_rows for output in self.outputs):
            return 4 * (model.nq + model.nv)
        steps = run.get("steps") or round(float(run.get("duration", 1.0)) / float(run.get("step", run.get("dt", 1e-2))))
        return int(steps // run.get("every", 1) + 1) * 2 * (model.nq + model.nv + len(model.states))

    def _starts(
        self, arguments: Mapping[str, Any], entries: Mapping[str, Mapping[str, np.ndarray]], n: int
    ) -> tuple[np.ndarray, np.ndarray]:
        """(n, nq), (n, nv): as `simulate` takes them, by name, what is named held while loops are closed."""
        model = self.model
        if model.constraints:
            return self._closed_starts(arguments, entries, n)
        q = np.tile(model.coordinates(arguments.get("q0")), (n, 1))
        v = np.tile(model.speeds(arguments.get("v0")), (n, 1))
        for x, argument, names in ((q, "q0", model.q_names), (v, "v0", model.v_names)):
            for entry, values in entries.get(argument, {}).items():
                x[:, names.index(entry)] = values
        return q, v

    def _closed_starts(
        self, arguments: Mapping[str, Any], entries: Mapping[str, Mapping[str, np.ndarray]], n: int
    ) -> tuple[np.ndarray, np.ndarray]:
        runs, model = self._runs({"integrator": "dop853"})[0], self.model
        q, v = np.empty((n, model.nq)), np.empty((n, model.nv))
        for k in range(n):
            own = {
                x: {entry: float(values[k]) for entry, values in entries.get(x, {}).items()} for x in ("q0", "v0", "parameters")
            }
            values = {name: x if np.ndim(x) == 0 else x[k] for name, x in (arguments.get("parameters") or {}).items()}
            q0, v0 = (self.inputs.merged(x, own[x]) if own[x] else arguments.get(x) for x in ("q0", "v0"))
            start = runs.start(q0, v0, arguments.get("t0", 0.0), arguments.get("fixed"), values)
            q[k], v[k] = start.q, start.v
        return q, v

    # --- outputs --------------------------------------------------------------------------------------------------------------
    def _reduce(self, results: list[tuple[int, Result]], out: Bundle) -> None:
        """Runs whose rows are at the same times together: what follows from a motion is computed for all its states at once."""
        together: dict[bytes, list[tuple[int, Result]]] = {}
        for k, r in results:
            if r.status in ENDED and len(r.t) and _constant(r.parameters):
                together.setdefault(r.t.tobytes(), []).append((k, r))
            elif len(r.t):
                self._reduce_one(k, r, out)
        for group in together.values():
            if len(group) == 1:
                self._reduce_one(*group[0], out)
            else:
                self._reduce_many(_stacked([r for _, r in group]), [k for k, _ in group], out, [r for _, r in group])

    def _reduce_many(self, many: Rollout, at: list[int], out: Bundle, results: Sequence[Result] | None = None) -> None:
        for output in self.outputs:
            try:
                found = output.of_many(many)
            except SharnirError:  # of one of them: which one is found below
                found = None
            if found is not None:
                out.put(output, at, found)
                continue
            for place, k in enumerate(at):
                self._put_one(output, k, many[place] if results is None else results[place], out)

    def _reduce_one(self, k: int, r: Result, out: Bundle) -> None:
        """Of a run that failed, what is known where it ended."""
        for output in self.outputs:
            if r.status in ENDED or isinstance(output, Final) or (isinstance(output, Reduced) and not output.needs_rows):
                self._put_one(output, k, r, out)

    def _put_one(self, output: Output, k: int, r: Result, out: Bundle) -> None:
        try:
            out.put(output, [k], output.of_one(r)[None])
        except Exception as error:
            if r.status in ENDED and out.status[k] != OUTPUT_FAILED:
                verb = "" if isinstance(error, SharnirError) else "raised "
                out.status[k] = OUTPUT_FAILED
                out.message[k] = " ".join(f"output {output.name!r}: {verb}{in_words(error)}".split())

    @property
    def functions(self) -> list[str]:
        """Outputs that are the user's own functions."""
        return [output.name for output in self.outputs if isinstance(output, Function)]


def event_names(run: Mapping[str, Any]) -> list[str]:
    events = run.get("events", ())
    return [e.name for e in (events if np.iterable(events) else [events]) if getattr(e, "name", "")]


def _constant(parameters: np.ndarray) -> bool:
    return not parameters.size or bool((parameters == parameters[0]).all())


def _part(many: Rollout, at: np.ndarray) -> Rollout:
    states = many.state_values[at] if many.state_values.size else many.state_values
    return replace(
        many, q=many.q[at], v=many.v[at], failed=many.failed[at], tau=many.tau if many.tau.ndim == 1 else many.tau[at],
        parameters=many.parameters[at] if many.parameters.size else many.parameters, state_values=states,
    )  # fmt: skip


def _stacked(results: Sequence[Result]) -> Rollout:
    """Runs at the same times, with constant parameters, as one motion of many states."""
    r = results[0]
    tau = r.tau
    if any(one.tau.ndim > 1 or not np.array_equal(one.tau, tau) for one in results):
        tau = np.stack([np.broadcast_to(one.tau, one.v.shape) for one in results])
    return Rollout(
        r.model, r.t, np.stack([one.q for one in results]), np.stack([one.v for one in results]),
        np.full(len(results), np.inf), tau, r.cost,
        parameters=np.stack([one.parameters[0] for one in results]) if r.parameters.size else np.zeros((0, 0)),
        state_values=np.stack([one.state_values for one in results]) if r.state_values.size else np.zeros((0, 0, 0)),
    )  # fmt: skip
