"""Runs of one model that differ in numbers alone: start, joint forces, parameters, duration, tolerances. Compiled once."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...backends.thread_team import helped
from ...equations.assembly.start import StartState
from ...equations.motion.stabilisation import Stabilisation
from ...errors import MethodError, SimulationError
from ...integrate import run
from ...integrate.trajectory import LIMITED, Trajectory
from ...integrate.trajectory import Event as Root
from ...model.events import Event
from ...model.model import Model
from ...model.states import check_model
from ...model.validity import beyond_validity, warn_of_deformation
from ...reporting.progress import ProgressBar
from ..control.controllers import Controllers
from ..control.sampled import check_controlled
from ..events.contacts import Contacts, check_impacts, divided, with_contacts
from ..events.event_actions import Changes
from ..events.event_functions import gap_events
from ..events.impacts import Impacts
from ..results.result import Result
from ..results.storage import check_result_file
from ..systems.motion_system import MotionSystem
from ..systems.straight_line import StraightLine
from .checks import check_events, check_resolution, check_step, output_times
from .elastic_steps import warn_of_elastic_steps, warn_of_shapes
from .options import CompiledOptions, RunOptions
from .outcome import failure, make_result, root_cause, violated_constraint
from .preparation import Begin, Given, Prepared, state_at, tolerances
from .recording import HELD, Recording
from .sensitivities import Sensitivities, check_sensitivities, sensitivities_by

MOST_STARTS = 1024
"""Starts that are cached."""


@dataclass(frozen=True)
class ReadyRun:
    """A run that has only to be integrated."""

    motion: MotionSystem
    x: np.ndarray
    """The state at the start."""
    times: np.ndarray | None
    """Times of the rows; None: every step."""
    changes: Changes
    roots: list[Root]
    """All that is looked for: the user's events, limits, gaps, impacts."""
    limits: range
    """Which of them are limits of joints."""
    control: Controllers | None
    energy: float
    """Energy at the start, where no row of the result is there; else nan."""


class Runs(Prepared):
    """The compiled part of `simulate`, shared by all runs of a model; options mean the same. `run` makes them, one at a time.

    A run does not depend on those before it, to the last bit.
    """

    def __init__(self, model: Model, options: CompiledOptions | None = None, many: bool = False) -> None:
        """`many`: it pays to compile what a single run interprets, and to remember starts."""
        options = CompiledOptions() if options is None else options
        model = check_model(model, "simulate")
        given, self.impacts = divided(options.events)
        own_events = check_events(given)
        check_impacts(self.impacts, options.method, options.stabilisation, options.sensitivities)
        super().__init__(model, options, own_events, with_contacts(model, self.impacts) if self.impacts else model)
        if many and self.table is not None:
            self.table.compile()
        self._starts: dict[object, StartState] | None = {} if many else None
        self.contacts = Contacts.of(self.model, self.impacts, self.table.rows) if self.impacts and self.table else None
        self.gaps = gap_events(self.model.structure) if self.chosen.adaptive and not len(options.sensitivities) else []
        self._motions: dict[object, MotionSystem] = {}
        self._begun = False

    def run(self, options: RunOptions, begun: float | None = None) -> Result:
        """One motion; `begun`: when its preparation did, by `perf_counter`."""
        begun = time.perf_counter() if begun is None else begun
        self._check(options)
        bar = ProgressBar(options.progress, self.model.name, options.end, options.t0)
        begin = self.begin(options)
        q, v = begin.state.q, begin.state.v
        if not self._begun:
            self._begun = True
            warn_of_shapes(self.d, q, v, begin.t, begin.forces, begin.parameters)
        step, too_long = options.step, ""
        if step is not None:
            too_long = warn_of_elastic_steps(self.d, q, begin.t, begin.parameters, step, self.chosen.name)
        times = self._times(options)
        with bar.meanwhile("compiling"):
            ready = self._prepare(options, begin, times)
        begun_running = time.perf_counter()
        with Recording(options.save, ready.motion, ready.changes, self.chosen.name) as recording:
            with bar, helped(ready.motion.system.natives("derivative")):
                trajectory = self._integrate(options, ready, bar, recording)
            seconds = begun_running - begun, time.perf_counter() - begun_running
            given_times = options.output is not None and np.ndim(options.output) > 0
            result = make_result(ready.motion, trajectory, ready.changes, *seconds, given_times)
            result.start, result.start_energy = begin.state, ready.energy
            result.control = ready.control.records() if ready.control else {}
            self._judge(result, ready, trajectory, too_long)
            recording.finish(result)
        ended = result.status in ("done", "stopped", *LIMITED)
        if not ended and options.on_failure == "raise":
            text = f"{self.model.name!r}: {result.message}. The motion up to there {HELD}"
            raise SimulationError(text, result, trajectory.final_t) from root_cause(trajectory.cause)
        if ended and not too_long:
            warn_of_deformation(beyond_validity(self.model, result.q, result.t))
        return result

    def start(self, asked: Given, t0: float, values: np.ndarray) -> StartState:
        """The state where a run starts, assembled once for all that start alike and whose constraints read equal parameters."""
        if self._starts is None:
            return super().start(asked, t0, values)
        read = b"" if self.table is None else values[self.table.reads].tobytes()
        key = (*map(_hashable, asked), t0, read)
        if key not in self._starts:
            if len(self._starts) >= MOST_STARTS:
                self._starts.clear()
            self._starts[key] = super().start(asked, t0, values)
        return self._starts[key]

    # --- the parts of a run ---------------------------------------------------------------------------------------------------
    def _check(self, options: RunOptions) -> None:
        """Refuse options that do not go together."""
        o, compiled = options, self.options
        if self.impacts and o.duration < 0.0:
            raise MethodError(
                f"{self.impacts[0].label}: an impact cannot be run backward, the speed before it is not known after it"
            )
        check_resolution(o.t0, duration=o.duration, step=o.step, max_step=o.max_step, output=o.output)
        check_controlled(compiled.control, o.t0, o.duration, compiled.sensitivities)
        check_step(self.chosen, o.step)

    def _times(self, options: RunOptions) -> np.ndarray | None:
        """Times of the rows of the result; None: every step. The file of the result must be one that can be written."""
        model = self.model
        times = output_times(options.output, options.t0, options.end, 2 * (model.nq + model.nv))
        if options.save is not None:
            rows = len(times) if times is not None else 1000
            check_result_file(options.save, rows * (model.nq + 2 * model.nv + 12 * len(model.bodies)) * 8)
        return times

    def _prepare(self, options: RunOptions, begin: Begin, times: np.ndarray | None) -> ReadyRun:
        """The equations, the state at the start, and what happens on the way."""
        q, v, t = begin.state.q, begin.state.v, begin.t
        every_event = self.events(begin.state)
        how = self.stabilisation(begin, options.duration, options.step)
        directions = None
        if len(names := self.options.sensitivities):
            directions = sensitivities_by(self.model, names, q, v, t, begin.values, begin.state.free, self.table)
            check_sensitivities(self.d, how.name)
        motion = self._motion(begin, how, every_event, directions)
        x = state_at(motion, begin.state, t, begin.values[len(self.model.parameters) :])
        if directions is not None:
            x = np.concatenate([x, np.pad(directions.start, ((0, 0), (0, len(motion.more)))).ravel()])
        impacts = Impacts(motion, self.contacts) if self.contacts else None
        x = impacts.begin(t, x) if impacts else x
        late = times is not None and len(times) > 0 and times[0] != t
        energy = motion.energy(t, x) if late and motion.accounted else np.nan
        changes = Changes(motion, options.duration, impacts)
        roots = [
            *(changes.root(event, k) for k, event in enumerate(every_event)),
            *(Root(dips=True) for _ in self.gaps),
            *changes.of_impacts(),
        ]
        control = Controllers(self.options.control, motion, changes, t, options.end) if self.options.control else None
        return ReadyRun(motion, x, times, changes, roots, range(len(self.own_events), len(every_event)), control, energy)

    def _motion(self, begin: Begin, how: Stabilisation, events: list[Event], directions: Sensitivities | None) -> MotionSystem:
        """The equations, compiled for the first run and then filled with the numbers of this one."""
        controlled = bool(self.options.control)
        key = (controlled or bool(begin.forces.any()), how.name, how.backward)
        if (motion := self._motions.get(key)) is not None:
            motion.fill(begin.forces, begin.values, how, directions)
            return motion
        watched = [*events, *self.gaps, *(self.contacts.events() if self.contacts else [])]
        motion = self.motion(
            begin, how, watched, controlled=controlled, sensitivities=directions, contacts=self.contacts,
            gaps=range(len(events), len(events) + len(self.gaps)),
        )  # fmt: skip
        if directions is not None and not isinstance(motion, StraightLine):
            why = (
                f"model {self.model.name!r} is too large for it"
                if self.options.backend == "auto"
                else f"backend {self.options.backend!r} has none"
            )
            raise MethodError(f"sensitivities need straight-line code: {why} by method {self.d.method!r}")
        if motion.reusable:
            self._motions[key] = motion
        return motion

    def _integrate(self, options: RunOptions, ready: ReadyRun, bar: ProgressBar, recording: Recording) -> Trajectory:
        return run(
            ready.motion.system,
            ready.x,
            options.t0,
            options.end,
            self.chosen.name,
            rtol=options.rtol,
            atol=tolerances(options.atol, ready.motion),
            step=options.step,
            max_step=options.max_step,
            max_steps=options.max_steps,
            max_seconds=options.max_seconds,
            times=ready.times,
            every=options.every,
            events=ready.roots,
            progress=bar.reached,
            keep=None if options.save is None else recording.keep,
            pauses=ready.control.pauses if ready.control else (),
            at_pause=ready.control.at_pause if ready.control else None,
            compiled=self.options.backend != "python",
            strict=False,
        )

    def _judge(self, result: Result, ready: ReadyRun, trajectory: Trajectory, too_long: str) -> None:
        """Status and message of a run that did not come to its end as it should."""
        last = trajectory.events[-1] if trajectory.status == "stopped" else None
        if last and self.options.limits == "error" and last.index in ready.limits:
            result.status, result.message = "limit", f"reached the {last.name} at t = {trajectory.final_t:.9g}"
        elif not trajectory.ok:
            result.message = failure(ready.motion, trajectory, ready.changes, result, too_long)
        elif violated := violated_constraint(ready.motion, result):
            result.status, result.message = "constraints_violated", violated


def _hashable(x: Any) -> object:
    if isinstance(x, Mapping):
        return tuple((name, _hashable(value)) for name, value in x.items())
    return None if x is None else tuple(x) if isinstance(x, Sequence) else np.asarray(x).tobytes()
