"""`Simulation`: one motion in steps from Python, for loops that decide what comes next; compiled once, cheap to step."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import isfinite

import numpy as np
from numpy.typing import ArrayLike

from ...equations.assembly.start import Start, StartState
from ...errors import SimulationError, StateError, brief, no_such, suggesting, suggestion
from ...integrate.short_runs import ShortRuns
from ...model.copying import with_limits
from ...model.events import Event
from ...model.model import Model
from ...model.parameters import ParameterView
from ...model.settings import ACT, IGNORE
from ...model.states import check_model, check_tau, check_time
from ...types import truth
from ..control.joint_laws import JointLaw
from ..events.events import Changes
from ..results.records import ByName
from ..results.result import Result
from .checks import Tau, check_events, check_resolution, check_step, choice, number, whole
from .lanes import SimulationBatch
from .options import MotionOptions, split
from .outcome import failure, make_result, root_cause
from .preparation import Prepared, state_at, tolerances


class Alone:
    """One at a time: a second thread, or a call from within the first, is refused."""

    def __init__(self, name: str) -> None:
        self._name, self._turn = name, [None]

    def __enter__(self) -> None:
        try:
            self._turn.pop()  # of two threads one gets it
        except IndexError:
            raise StateError(
                f"{self._name!r}: this Simulation is at work already, in another thread or around a function it calls; "
                "give each thread a Simulation of its own"
            ) from None

    def __exit__(self, *_: object) -> None:
        self._turn.append(None)


@dataclass(frozen=True)
class SimulationState(ByName):
    """The state of a simulation; `coordinate(joint)` and `speed(joint)` have q and v by name."""

    model: Model
    t: float
    q: np.ndarray
    v: np.ndarray
    states: Mapping[str, float] = field(default_factory=dict)
    """States of forces and controllers by name."""


SETTABLE = ("tau", "parameters", "states")
"""Attributes that may be set between steps."""


class Simulation:
    """A motion that goes on step by step.

        sim = sh.Simulation(model, q0={"hinge": 0.1})
        for _ in range(100):
            sim.tau = [-3.0 * sim.state.coordinate("hinge")]
            sim.step(0.01)
        result = sim.result()

    tau         joint forces, held until they are changed: `sim.tau = …`, an array (nv,) or {joint: value}; or a law, a function
                of `Motion`, to which those are added
    integrator  with `rtol`, `atol`, or the `step` of a method of fixed step, which is shortened at the end of a call
    events      those that stop do so within `step`: `sim.status` is "stopped", and the next call goes on from there
    limits      of joints: "act", as elastic stops; "ignore" them; or without stops "stop" there
    record      keep a row for every call, for `result`; without, nothing grows
    Between steps `sim.tau`, `sim.parameters` and `sim.states` may be set, and nothing else; `sim.reset` begins anew.
    The others are those of `simulate`. Everything is compiled here, once; neither `step` nor `reset` compiles anything.
    """

    model: Model
    status: str
    """ "done", or "stopped" by an event in the last step."""

    @suggesting
    def __init__(
        self,
        model: Model,
        q0: Start = None,
        v0: Start = None,
        *,
        t0: float = 0.0,
        fixed: Sequence[str] | None = None,
        nearest: bool = False,
        tau: Tau | JointLaw | None = None,
        parameters: Mapping[str, float] | None = None,
        states: Mapping[str, float] | None = None,
        method: str = "auto",
        backend: str = "auto",
        integrator: str = "auto",
        rtol: float = 1e-8,
        atol: float | ArrayLike = 1e-10,
        step: float | None = None,
        max_step: float = np.inf,
        events: Event | Sequence[Event] = (),
        limits: str = "act",
        stabilisation: str | None = None,
        decay: float | Sequence[float] | None = None,
        balance: bool = True,
        record: bool = True,
    ) -> None:
        given = {name: x for name, x in locals().items() if name not in ("self", "model", "record")}
        begun = time.perf_counter()
        user_model = check_model(model, "Simulation")
        choice(limits, "limits", (ACT, IGNORE, "stop"))
        vars(self)["model"] = user_model = with_limits(user_model, limits == ACT)
        own_events = check_events(events)
        compiled, options = split(given, MotionOptions)
        self._prepared, self._options = (prepared := Prepared(user_model, compiled, own_events)), options
        check_step(prepared.chosen, options.step)
        begin = prepared.begin(options)
        self._first = replace(begin, forces=begin.forces.copy())
        how = prepared.stabilisation(begin, 1.0 if options.step is None else options.step, options.step)
        self._events = prepared.events(begin.state)
        self._motion = prepared.motion(begin, how, self._events, controlled=True)
        self._record = truth(record, "record")
        self._tolerances = tolerances(options.atol, self._motion)
        self._alone = Alone(user_model.name)
        self._ready = time.perf_counter() - begun
        self._begin(begin.state, begin.t)

    def _begin(self, start: StartState, t: float) -> None:
        m = self._motion
        self._changes = Changes(m, 1.0)
        options, compiled = self._options, self._prepared.options
        self._t, self._x = t, state_at(m, start, t, m.parameters[len(self.model.parameters) :])
        self._base, self._dt, self._count = t, np.nan, 0
        self._runs = ShortRuns(
            m.system, t, self._x, compiled.integrator, compiled=compiled.backend != "python", record=self._record,
            events=[self._changes.root(event, k) for k, event in enumerate(self._events)], rtol=options.rtol,
            atol=self._tolerances, step=options.step, max_step=options.max_step,
        )  # fmt: skip
        self._wall, self._start_state = 0.0, start
        vars(self)["status"] = "done"

    def __setattr__(self, name: str, value: object) -> None:
        if name[0] != "_" and name not in SETTABLE:
            raise AttributeError(
                f"sim.{name} cannot be set; {suggestion(name, SETTABLE)}Between steps set sim.tau, sim.parameters or sim.states; "
                "sim.reset(q0, v0) begins from another state"
            )
        object.__setattr__(self, name, value)

    # --- what is read and set between steps ---------------------------------------------------------------------------------
    @property
    def t(self) -> float:
        """The time."""
        return self._t

    @property
    def state(self) -> SimulationState:
        """The present state."""
        m = self._motion
        q, v, z, _ = m.seen(self._t, self._x) if m.momenta else m.split(self._x)
        return SimulationState(self.model, self._t, q, v, self._view("states", m.structure.states, z))

    def _view(self, what: str, names: Iterable[str], values: np.ndarray) -> ParameterView:
        return ParameterView(dict(zip(names, values.tolist(), strict=False)), f"sim.{what}", f"set sim.{what} = {{}}")

    @property
    def tau(self) -> np.ndarray:
        """(nv,): joint forces, held until they are changed."""
        return self._motion.tau

    @tau.setter
    def tau(self, tau: Tau | None) -> None:
        held = self._motion.tau
        plain = type(tau) is np.ndarray and tau.dtype == held.dtype and tau.shape == held.shape and isfinite(tau @ tau)
        held[:] = tau if plain else check_tau(self.model, tau)

    @property
    def parameters(self) -> Mapping[str, float]:
        """Values of the parameters; `sim.parameters = {name: value}` changes those that are named."""
        return self._view("parameters", self.model.parameters, self._motion.parameters)  # states are the last

    @parameters.setter
    def parameters(self, values: Mapping[str, float]) -> None:
        self._set("parameter", values, self.parameters)

    @property
    def states(self) -> Mapping[str, float]:
        """Values of the states of forces; `sim.states = {name: value}` changes those that are named."""
        m = self._motion
        return self._view("states", m.structure.states, m.split(self._x)[2])

    @states.setter
    def states(self, values: Mapping[str, float]) -> None:
        self._set("state", values, self.states)

    def _set(self, kind: str, values: object, there: Mapping[str, float]) -> None:
        if not isinstance(values, Mapping):
            raise StateError(f"{kind}s: expected {{name: value}}, got {brief(values)}")
        for name in values:
            if name not in there:
                raise StateError(no_such(kind, name, there))
        given = (values, {}) if kind == "parameter" else ({}, values)
        self._changes.account_for("Simulation")
        self._x = self._changes.set_parameters("Simulation", given[0], self._t, self._x, given[1], "Simulation")

    # --- going on -----------------------------------------------------------------------------------------------------------
    def step(self, dt: float | None = None, times: int = 1) -> SimulationState:
        """Go on for `dt` seconds, so many times, with the joint forces as they are; returns the new state, whose arrays are read
        only. `dt` is by default the `step` of a method of fixed step. All times are one call of machine code and one row of the
        result. One call at a time."""
        with self._alone:
            if dt != self._dt or times != 1:  # steps of one length are counted: they do not drift
                self._check_length(dt, times)
            m, begun = self._motion, time.perf_counter()
            if not isfinite(m.tau @ m.tau):
                check_tau(self.model, m.tau)
            if self._record:
                self._changes.force(self._t)
            runs = self._runs
            self._count += times
            y = runs.go(self._x, self._base + self._count * self._dt)
            self._t, self._x, vars(self)["status"] = runs.t, runs.x, runs.status
            self._wall += time.perf_counter() - begun
            if y is None:
                return self.state
            if y.status != "done":
                self._dt = np.nan
            if not y.ok and y.status != "interrupted":
                message = failure(m, y, self._changes)
                text = f"{self.model.name!r}: {message}"
                raise SimulationError(text, self.result() if self._record else None, y.final_t) from root_cause(y.cause)
            if y.status == "interrupted":
                raise KeyboardInterrupt
            return self.state

    def _check_length(self, dt: float | None, times: int) -> None:
        dt = self._options.step if dt is None else dt
        if dt is None:
            raise StateError(
                f"dt: give the seconds to go on for; integrator {self._prepared.chosen.name!r} chooses its own steps"
            )
        whole(times, "times", 1)
        if dt == self._dt:
            return
        seconds = number(dt, "dt", "a number of seconds")
        if not 0.0 < seconds < np.inf:
            raise StateError(f"dt: expected a positive number of seconds, got {dt}")
        check_resolution(self._t, dt=seconds)
        self._base, self._dt, self._count = self._t, seconds, 0

    def reset(
        self,
        q0: Start = None,
        v0: Start = None,
        *,
        t0: float | None = None,
        tau: Tau | None = None,
        parameters: Mapping[str, float] | None = None,
        states: Mapping[str, float] | None = None,
    ) -> SimulationState:
        """Begin anew, from here or, where nothing is given, from where it began first; joint forces, parameters and states too.
        What was recorded is dropped."""
        with self._alone:
            m, first = self._motion, self._first
            t = first.t if t0 is None else check_time(t0)
            asked = first.asked if q0 is None and v0 is None else (q0, v0, first.asked[2])
            m.tau[:] = first.forces if tau is None else check_tau(self.model, tau)
            values = first.values if parameters is None and states is None else self._prepared.values(parameters, states)
            m.parameters[...] = values
            self._begin(self._prepared.start(asked, t, values), t)
            return self.state

    def batch(self, n: int, parameters: Mapping[str, ArrayLike] | None = None, threads: int = 1) -> SimulationBatch:
        """n simulations that begin as this one first did, side by side on the lanes of the processor; for methods of fixed step.
        `parameters`: {name: (n,)}, of each simulation its own."""
        return SimulationBatch(self._prepared, self._first, self._options.step, n, parameters, threads)

    def result(self) -> Result:
        """The motion since the start: a row for every step, and for every event that changed the state."""
        if not self._record:
            raise StateError("this Simulation was made with record=False: it has kept no rows")
        y = self._runs.whole()
        result = make_result(self._motion, y, self._changes, self._ready, self._wall, given_times=False)
        result.start = self._start_state
        return result

    def __repr__(self) -> str:
        return f"Simulation({self.model.name!r}, t = {self._t:g} s, {self.status})"
