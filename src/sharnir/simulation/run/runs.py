"""Runs of one model that differ in numbers alone: start, joint forces, parameters, duration, tolerances. Compiled once."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ...backends.thread_team import helped
from ...equations.assembly.consistent_speeds import Start
from ...equations.assembly.start import StartState, as_guess
from ...equations.motion.stabilisation import Stabilisation
from ...errors import MethodError, SimulationError
from ...integrate import run
from ...integrate.compiled import make_ready
from ...integrate.methods import integrator as integrator_named
from ...integrate.trajectory import LIMITED
from ...integrate.trajectory import Event as Root
from ...model.events import Event
from ...model.impacts import Impact
from ...model.model import Model
from ...model.states import check_model, check_state
from ...model.validity import beyond_validity, warn_of_deformation
from ...reporting.progress import ProgressBar
from ...types import truth
from ..control.controllers import Controllers
from ..control.joint_laws import JointLaw
from ..control.sampled import Sampled, check_control, check_controlled
from ..events.contacts import Contacts, check_impacts, divided, with_contacts
from ..events.event_actions import Changes
from ..events.event_functions import gap_events, limit_events
from ..events.impacts import Impacts
from ..results.result import Result
from ..results.storage import PathLike, check_result_file
from ..systems.motion_system import MotionSystem
from ..systems.straight_line import StraightLine
from .checks import check_ends, check_events, check_step, output_times, tolerances
from .elastic_steps import warn_of_elastic_steps, warn_of_shapes
from .options import (
    Tau,
    check_duration,
    check_resolution,
    choice,
    number,
    values_of,
    whole,
)
from .outcome import failure, make_result, root_cause, violated_constraint
from .preparation import Prepared, state_at
from .recording import HELD, Recording
from .sensitivities import Sensitivities, check_sensitivities, sensitivities_by

MOST_STARTS = 1024
"""Starts that are cached."""


class Runs(Prepared):
    """The compiled part of `simulate`, shared by all runs of a model; options mean the same. `run` makes them, one at a time.

    A run does not depend on those before it, to the last bit.
    """

    def __init__(
        self,
        model: Model,
        *,
        law: JointLaw | None = None,
        control: Sampled | Sequence[Sampled] | None = None,
        method: str = "auto",
        backend: str = "auto",
        threads: int = 1,
        integrator: str = "auto",
        events: Event | Impact | Sequence[Event | Impact] = (),
        limits: str = "ignore",
        stabilisation: str | None = None,
        decay: float | Sequence[float] | None = None,
        balance: bool = True,
        sensitivities: Sequence[str] = (),
        many: bool = False,
    ) -> None:
        """`law`: joint forces as a function of `Motion`; numbers are given to `run`. `many`: it pays to compile what a single run
        interprets, and to remember starts."""
        model = check_model(model, "simulate")
        self.limits = choice(limits, "limits", ("ignore", "stop", "error"))
        self.balance = truth(balance, "balance")
        given, self.impacts = divided(events)
        self.own_events, self.sensitivities = check_events(given), sensitivities
        check_impacts(self.impacts, method, stabilisation, sensitivities)
        self.controllers = [] if control is None else check_control(control)
        with_impacts = with_contacts(model, self.impacts) if self.impacts else model
        super().__init__(model, with_impacts, law, method, backend, threads, stabilisation, decay)
        self.integrator, self.chosen = integrator, integrator_named(integrator)
        if many and self.table is not None:
            self.table.compile()
        self._starts: dict[object, StartState] | None = {} if many else None
        self.contacts = Contacts.of(self.model, self.impacts, self.table.rows) if self.impacts and self.table else None
        self.gaps = gap_events(self.model.structure) if self.chosen.adaptive and not len(sensitivities) else []
        self._motions: dict[object, MotionSystem] = {}
        self._begun = False

    def run(
        self,
        duration: float,
        *,
        q0: Start = None,
        v0: Start = None,
        fixed: Sequence[str] | None = None,
        nearest: bool = False,
        t0: float = 0.0,
        tau: Tau | None = None,
        parameters: Mapping[str, float] | None = None,
        states: Mapping[str, float] | None = None,
        rtol: float = 1e-8,
        atol: float | ArrayLike = 1e-10,
        step: float | None = None,
        max_step: float = np.inf,
        max_steps: int | None = None,
        max_seconds: float | None = None,
        output: float | ArrayLike | None = 0.01,
        every: int = 1,
        on_failure: str = "raise",
        progress: bool | None = None,
        save: PathLike | None = None,
        begun: float | None = None,
    ) -> Result:
        """One motion, as `simulate` describes it; `begun`: when its preparation did, by `perf_counter`."""
        begun = time.perf_counter() if begun is None else begun
        model, d = self.model, self.d
        duration = check_duration(duration)
        choice(on_failure, "on_failure", ("raise", "return"))
        rtol, max_step = number(rtol, "rtol"), number(max_step, "max_step")
        step = None if step is None else number(step, "step")
        check_ends(max_steps, max_seconds)
        every = whole(every, "every")
        if self.impacts and duration < 0.0:
            raise MethodError(
                f"{self.impacts[0].label}: an impact cannot be run backward, the speed before it is not known after it"
            )
        _, _, t0 = check_state(self.user_model, q0, v0, t0)
        check_resolution(t0, duration=duration, step=step, max_step=max_step, output=output)
        check_controlled(self.controllers, t0, duration, self.sensitivities)
        forces, values = self.forces_and_values(tau, parameters, states)
        own = values if values.size else None
        bar = ProgressBar(progress, model.name, t0 + duration, t0)
        q0, v0, fixed = as_guess(self.user_model, q0, v0, fixed, nearest)
        start = self.start(q0, v0, t0, fixed, values)
        q, v = start.q, start.v
        check_step(self.chosen, step)
        if not self._begun:
            self._begun = True
            warn_of_shapes(d, q, v, t0, forces, own)
        too_long = "" if step is None else warn_of_elastic_steps(d, q, t0, own, step, self.integrator)
        times = output_times(output, t0, t0 + duration, 2 * (model.nq + model.nv))
        if save is not None:
            rows = len(times) if times is not None else 1000
            check_result_file(save, rows * (model.nq + 2 * model.nv + 12 * len(model.bodies)) * 8)
        all_events = [*self.own_events, *(limit_events(model, q) if self.limits != "ignore" else [])]
        (how,) = self.stabilisations(q[None], v[None], forces, t0, duration, self.integrator, step, own)
        directions = None
        if len(self.sensitivities):
            directions = sensitivities_by(model, self.sensitivities, q, v, t0, values, start.free, self.table)
            check_sensitivities(d, how.name)
        with bar.meanwhile("compiling"):
            motion = self._motion(forces, values, all_events, how, directions, t0)
        x0 = state_at(motion, start, t0, values[len(model.parameters) :])
        if directions is not None:
            x0 = np.concatenate([x0, np.pad(directions.start, ((0, 0), (0, len(motion.more)))).ravel()])
        x0 = motion.consistent(t0, x0) if motion.partitioning else x0
        impacts = Impacts(motion, self.contacts) if self.contacts else None
        x0 = impacts.begin(t0, x0) if impacts else x0
        late = times is not None and len(times) > 0 and times[0] != t0
        start_energy = motion.energy(t0, x0) if late and motion.accounted else np.nan
        changes = Changes(motion, duration, impacts)
        sampled = Controllers(self.controllers, motion, changes, t0, t0 + duration) if self.controllers else None
        ready = time.perf_counter()
        with Recording(save, motion, changes, self.integrator) as recording:
            with bar, helped(motion.system.natives("derivative")):
                trajectory = run(
                    motion.system,
                    x0,
                    t0,
                    t0 + duration,
                    self.integrator,
                    rtol=rtol,
                    atol=tolerances(atol, motion),
                    step=step,
                    max_step=max_step,
                    max_steps=max_steps,
                    max_seconds=max_seconds,
                    times=times,
                    every=every,
                    events=[
                        *(changes.root(event, k) for k, event in enumerate(all_events)),
                        *(Root(dips=True) for _ in self.gaps),
                        *changes.of_impacts(),
                    ],
                    progress=bar.reached,
                    keep=None if save is None else recording.keep,
                    pauses=() if sampled is None else sampled.pauses,
                    at_pause=None if sampled is None else sampled.at_pause,
                    compiled=self.backend != "python",
                    strict=False,
                )
            given_times = output is not None and np.ndim(output) > 0
            result = make_result(motion, trajectory, changes, ready - begun, time.perf_counter() - ready, given_times)
            result.start, result.start_energy = start, start_energy
            result.control = sampled.records() if sampled is not None else {}
            last = trajectory.events[-1] if trajectory.status == "stopped" else None
            if last and self.limits == "error" and len(self.own_events) <= last.index < len(all_events):
                result.status, result.message = "limit", f"reached the {last.name} at t = {trajectory.final_t:.9g}"
            elif not trajectory.ok:
                result.message = failure(motion, trajectory, changes, result, too_long)
            elif violated := violated_constraint(motion, result):
                result.status, result.message = "constraints_violated", violated
            recording.finish(result)
        ended = result.status in ("done", "stopped", *LIMITED)
        if not ended and on_failure == "raise":
            text = f"{model.name!r}: {result.message}. The motion up to there {HELD}"
            raise SimulationError(text, result, trajectory.final_t) from root_cause(trajectory.cause)
        if ended and not too_long:
            warn_of_deformation(beyond_validity(model, result.q, result.t))
        return result

    def options(self, options: Mapping[str, Any]) -> dict[str, Any]:
        """Those options of `simulate` that `run` takes."""
        return {name: x for name, x in options.items() if name not in COMPILED and not (name == "tau" and callable(x))}

    def start(self, q0: Start, v0: Start, t0: float, fixed: Sequence[str] | None, values: np.ndarray | None = None) -> StartState:
        """Where a run starts, by `values` of parameters and states; assembled once for all that start alike and whose constraints
        read the same parameters."""
        values = values_of(self.model, None, None) if values is None else values
        if self._starts is None:
            return self.start_at(q0, v0, t0, fixed, values)[0]
        read = b"" if self.table is None else values[self.table.reads].tobytes()
        key = (_hashable(q0), _hashable(v0), t0, _hashable(fixed), read)
        if key not in self._starts:
            if len(self._starts) >= MOST_STARTS:
                self._starts.clear()
            self._starts[key] = self.start_at(q0, v0, t0, fixed, values)[0]
        return self._starts[key]

    def _motion(
        self,
        forces: np.ndarray,
        values: np.ndarray,
        all_events: list[Event],
        how: Stabilisation,
        directions: Sensitivities | None,
        t0: float,
    ) -> MotionSystem:
        """The equations, compiled for the first run and then filled with the numbers of this one."""
        works = bool(self.controllers) or bool(forces.any())
        key = (works, how.name, how.backward)
        if (motion := self._motions.get(key)) is not None:
            motion.fill(forces, values, how, directions)
            return motion
        watched = [*all_events, *self.gaps, *(self.contacts.events() if self.contacts else [])]
        motion = self.equations(
            self.chosen, forces, values, watched, self.balance, how, t0, controlled=bool(self.controllers),
            sensitivities=directions, contacts=self.contacts, gaps=range(len(all_events), len(all_events) + len(self.gaps)),
        )  # fmt: skip
        if directions is not None and not isinstance(motion, StraightLine):
            why = (
                f"model {self.model.name!r} is too large for it"
                if self.backend == "auto"
                else f"backend {self.backend!r} has none"
            )
            raise MethodError(f"sensitivities need straight-line code: {why} by method {self.d.method!r}")
        if self.backend != "python":
            make_ready(self.chosen)
        if motion.reusable:
            self._motions[key] = motion
        return motion


def _hashable(x: Any) -> object:
    if isinstance(x, Mapping):
        return tuple((name, _hashable(value)) for name, value in x.items())
    return None if x is None else tuple(x) if isinstance(x, Sequence) else np.asarray(x).tobytes()


COMPILED = (
    "method", "backend", "threads", "integrator", "events", "limits", "stabilisation", "decay", "balance", "sensitivities",
    "control",
)  # fmt: skip
"""Options of `simulate` that belong to all runs of `Runs`; the others are given to each."""


def runs_of(model: Model, options: Mapping[str, Any], many: bool = True) -> tuple[Runs, dict[str, Any]]:
    """Split options of `simulate` into `Runs`, common to many runs, and the options left for `Runs.run`."""
    common = {name: options[name] for name in COMPILED if name in options}
    law = options.get("tau") if callable(options.get("tau")) else None
    runs = Runs(model, **common, law=law, many=many)
    return runs, runs.options(options)
