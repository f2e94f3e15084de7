"""Runs of one model that differ in numbers alone: start, joint forces, parameters, duration, tolerances. Compiled once."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from ...backends.thread_team import helped
from ...equations.assembly.start import StartState
from ...equations.motion.stabilisation import Stabilisation
from ...errors import MethodError, SimulationError
from ...integrate import run
from ...integrate.trajectory import LIMITED
from ...integrate.trajectory import Event as Root
from ...model.copying import with_limits
from ...model.events import Event
from ...model.model import Model
from ...model.per_structure import per_structure
from ...model.settings import ACT
from ...model.states import check_model
from ...model.validity import beyond_validity, warn_of_deformation
from ...reporting.progress import ProgressBar
from ..control.controllers import Controllers
from ..control.sampled import check_controlled
from ..events.events import Changes, gap_events
from ..events.impacts import Contacts, Impacts, check_impacts, divided, with_contacts
from ..results.result import Result
from ..results.storage import check_result_file
from ..systems.motion_system import MotionSystem
from ..systems.straight_line import StraightLine
from .checks import check_events, check_resolution, check_step, output_times
from .elastic_steps import warn_of_elastic_steps, warn_of_shapes, warn_of_shapes_in_motion
from .options import CompiledOptions, RunOptions
from .outcome import failure, make_result, root_cause, violated_constraint
from .preparation import Begin, Given, Prepared, state_at, tolerances
from .recording import HELD, Recording
from .sensitivities import Sensitivities, check_sensitivities, sensitivities_by

MOST_STARTS = 1024
"""Starts that are cached."""


class Runs(Prepared):
    """The compiled part of `simulate`, shared by all runs of a model; options mean the same. `run` makes them, one at a time.

    A run does not depend on those before it, to the last bit.
    """

    def __init__(self, model: Model, options: CompiledOptions | None = None, many: bool = False) -> None:
        """`many`: it pays to compile what a single run interprets."""
        options = CompiledOptions() if options is None else options
        model = check_model(model, "simulate")
        given, self.impacts = divided(options.events)
        own_events = check_events(given)
        check_impacts(self.impacts, options.method, options.stabilisation, options.sensitivities)
        model = with_limits(model, options.limits == ACT)
        super().__init__(model, options, own_events, with_contacts(model, self.impacts) if self.impacts else model)
        if many and self.table is not None:
            self.table.compile()
        self._starts: dict[object, StartState] = {}
        self.contacts = Contacts.of(self.model, self.impacts, self.table.rows) if self.impacts and self.table else None
        self.gaps = gap_events(self.model.structure) if self.chosen.adaptive and not len(options.sensitivities) else []
        self._motions: dict[object, MotionSystem] = {}
        self._begun = False

    def begin_anew(self) -> None:
        """Say again what is said once for all runs."""
        self._begun = False

    def run(self, options: RunOptions, begun: float | None = None) -> Result:
        """One motion; `begun`: when its preparation did, by `perf_counter`."""
        begun = time.perf_counter() if begun is None else begun
        if self.impacts and options.duration < 0.0:
            label = self.impacts[0].label
            raise MethodError(f"{label}: an impact cannot be run backward, the speed before it is not known after it")
        o, compiled = options, self.options
        check_resolution(o.t0, duration=o.duration, step=o.step, max_step=o.max_step, output=o.output)
        check_controlled(compiled.control, o.t0, o.duration, compiled.sensitivities)
        check_step(self.chosen, o.step)
        bar = ProgressBar(options.progress, self.model.name, options.end, options.t0)
        begin = self.begin(options)
        q, v = begin.state.q, begin.state.v
        said = self._begun or warn_of_shapes(self.d, q, v, begin.t, begin.forces, begin.parameters)
        self._begun = True
        too_long = warn_of_elastic_steps(self.d, q, begin.t, begin.parameters, options.step, self.chosen.name)
        times = output_times(options.output, options.t0, options.end, 2 * (self.model.nq + self.model.nv))
        if options.save is not None:
            rows, row = len(times) if times is not None else 1000, self.model.nq + 2 * self.model.nv + 12 * len(self.model.bodies)
            check_result_file(options.save, rows * row * 8)
        with bar.meanwhile("compiling"):
            events = self.events(begin.state)
            m, x = self._system(options, begin, events)
            impacts = Impacts(m, self.contacts) if self.contacts else None
            x = impacts.begin(begin.t, x) if impacts else x
            late = times is not None and len(times) > 0 and times[0] != begin.t
            energy = m.energy(begin.t, x) if late and m.accounted else np.nan  # where no row of the result is the start
            changes = Changes(m, options.duration, impacts)
            roots = [changes.root(event, k) for k, event in enumerate(events)]
            roots += [*(Root(dips=True) for _ in self.gaps), *(impacts.roots(changes.recorded) if impacts else [])]
            given = self.options.control
            control = Controllers(given, m, changes, begin.t, options.end) if given else None
        begun_running = time.perf_counter()
        with Recording(options.save, m, changes, self.chosen.name) as recording:
            with bar, helped(m.system.natives("derivative")):
                trajectory = run(
                    m.system, x, options.t0, options.end, self.chosen.name, rtol=options.rtol, atol=tolerances(options.atol, m),
                    step=options.step, max_step=options.max_step, max_steps=options.max_steps, max_seconds=options.max_seconds,
                    times=times, every=options.every, events=roots, progress=bar.reached,
                    keep=None if options.save is None else recording.keep, pauses=control.pauses if control else (),
                    at_pause=control.at_pause if control else None, compiled=self.options.backend != "python", strict=False,
                )  # fmt: skip
            seconds = begun_running - begun, time.perf_counter() - begun_running
            given_times = options.output is not None and np.ndim(options.output) > 0
            result = make_result(m, trajectory, changes, *seconds, given_times)
            result.start, result.start_energy, result.control = begin.state, energy, control.records() if control else {}
            last = trajectory.events[-1] if trajectory.status == "stopped" else None
            if last and self.options.limits == "error" and len(self.own_events) <= last.index < len(events):
                result.status, result.message = "limit", f"reached the {last.name} at t = {trajectory.final_t:.9g}"
            elif not trajectory.ok:
                result.message = failure(m, trajectory, changes, result, too_long)
            elif violated := violated_constraint(m, result):
                result.status, result.message = "constraints_violated", violated
            recording.finish(result)
        ended = result.status in ("done", "stopped", *LIMITED)
        if not ended and options.on_failure == "raise":
            text = f"{self.model.name!r}: {result.message}. The motion up to there {HELD}"
            raise SimulationError(text, result, trajectory.final_t) from root_cause(trajectory.cause)
        if ended and not too_long:
            warn_of_deformation(beyond_validity(self.model, result.q, result.t))
            if not said:
                warn_of_shapes_in_motion(result, begin.parameters)
        return result

    def start(self, asked: Given, t0: float, values: np.ndarray) -> StartState:
        """The state where a run starts, assembled once for all that start alike and whose constraints read equal parameters."""
        read = b"" if self.table is None else values[self.table.reads].tobytes()
        key = (*map(_hashable, asked), t0, read)
        if key not in self._starts:
            if len(self._starts) >= MOST_STARTS:
                self._starts.clear()
            self._starts[key] = super().start(asked, t0, values)
        return self._starts[key]

    # --- the parts of a run ---------------------------------------------------------------------------------------------------
    def _system(self, options: RunOptions, begin: Begin, events: list[Event]) -> tuple[MotionSystem, np.ndarray]:
        """The equations, and the state at the start."""
        q, v, t = begin.state.q, begin.state.v, begin.t
        how = self.stabilisation(begin, options.duration, options.step)
        directions = None
        if len(names := self.options.sensitivities):
            directions = sensitivities_by(self.model, names, q, v, t, begin.values, begin.state.free, self.table)
            check_sensitivities(self.d, how.name)
        motion = self._motion(begin, how, events, directions)
        x = state_at(motion, begin.state, t, begin.values[len(self.model.parameters) :])
        if directions is not None:
            x = np.concatenate([x, np.pad(directions.start, ((0, 0), (0, len(motion.more)))).ravel()])
        return motion, x

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
            too_large, has_none = f"model {self.model.name!r} is too large for it", f"backend {self.options.backend!r} has none"
            why = too_large if self.options.backend == "auto" else has_none
            raise MethodError(f"sensitivities need straight-line code: {why} by method {self.d.method!r}")
        if not self.d.formulation.method.iterates:
            self._motions[key] = motion
        return motion


# --- the runs of `simulate`, which a model keeps for the next call
MOST_KEPT = 4
"""Kinds of runs of one model that are kept."""


@contextmanager
def borrowed(model: Model, options: CompiledOptions) -> Iterator[Runs]:
    """Runs with these options: those of an earlier call, unless they are in use or call functions of the user, else new ones."""
    check_model(model, "simulate")
    own = (options.law, options.control, options.events, options.sensitivities)
    if any(not (x is None or (isinstance(x, (tuple, list)) and not x)) for x in own) or not model.parts.bodies:
        yield Runs(model, options)
        return
    decay = options.decay if options.decay is None else tuple(np.ravel(options.decay).tolist())
    key = (
        options.method, options.backend, options.threads, options.integrator, options.limits, options.stabilisation, decay,
        options.balance,
    )  # fmt: skip
    idle = _idle(model)
    runs = idle.pop(key, None) or Runs(model, options)
    runs.begin_anew()
    yield runs
    if not runs.d.formulation.method.iterates:
        while len(idle) >= MOST_KEPT:
            idle.pop(next(iter(idle)), None)
        idle[key] = runs


@per_structure
def _idle(model: Model) -> dict[object, Runs]:
    return {}


def _hashable(x: Any) -> object:
    if isinstance(x, Mapping):
        return tuple((name, _hashable(value)) for name, value in x.items())
    return None if x is None else tuple(x) if isinstance(x, Sequence) else np.asarray(x).tobytes()
