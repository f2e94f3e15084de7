"""A run from Python: arrays are allocated, the compiled loop runs from pause to pause, Python has control between them."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
from numpy.typing import ArrayLike

from ..dialect.cache import Cache
from ..errors import IntegrationError, MethodError
from ..machine import beyond_memory
from .chatter import ChatterWatch
from .kernels import state as s
from .kernels.control import NEVER
from .kernels.state import NODES
from .methods import Integrator, integrator
from .request import Change, Request
from .switching import Switching
from .system import System
from .trajectory import (
    ACTIONS,
    LIMITED,
    Event,
    EventRecord,
    Keep,
    Progress,
    Rows,
    Statistics,
    Trajectory,
    event_label,
    in_words,
    joined,
    outcome,
)
from .workspace import Workspace, borrow, give_back

STATUS = {
    s.DONE: "done",
    s.EVENT_STOP: "stopped",
    s.STEP_TOO_SMALL: "step_too_small",
    s.NOT_FINITE: "not_finite",
    s.NO_CONVERGENCE: "no_convergence",
    s.UNDEFINED: "event_undefined",
}
HANDED_OVER = {
    "state": "x dx atol clock tally rule total peak",
    "events": "direction action looks last pending dips gap slope rate rated back approach landing passing",
    "output": "wanted every next",
}
"""Arrays of a run that are not a method's own memory."""

ROWS = 4096
"""Rows the loop writes before Python collects them."""

FIRST = 16
"""Steps before the first pause, when their cost is not known yet; more for machine code on few numbers."""

PIECE = 0.05
"""Seconds between two pauses: short enough to notice Ctrl-C, long enough to cost nothing."""


def next_piece(steps: float, seconds: float) -> float:
    """Steps until the next pause, by what the last ones took."""
    steps = max(steps, 1.0)
    return min(max(1.0, steps * PIECE / max(seconds, 1e-6)), 64.0 * steps)


def run(
    system: System,
    x0: ArrayLike,
    t0: float,
    t1: float,
    method: str = "auto",
    *,
    rtol: float = 1e-6,
    atol: float | ArrayLike = 1e-9,
    step: float | None = None,
    first_step: float | None = None,
    max_step: float = np.inf,
    times: ArrayLike | None = None,
    every: int = 1,
    events: Sequence[Event] = (),
    looks: int = 4,
    max_steps: float | None = None,
    max_seconds: float | None = None,
    progress: Progress | None = None,
    keep: Keep | None = None,
    pauses: ArrayLike = (),
    at_pause: Change | None = None,
    compiled: bool = True,
    strict: bool = True,
    store: Cache | None = None,
) -> Trajectory:
    """Integrate from (t0, x0) to t1, forward or backward.

    Adaptive methods take `rtol`, `atol` (one or one for each number), `first_step`, `max_step`; those of fixed step take
    `step`, and end exactly at t1. Rows: at the given `times`, or at `every` so many steps (0: start and end alone).
    `events`: what to do at roots of the system's event functions; each step is scanned for sign changes in `looks` parts.
    'auto' begins with 'dop853' and switches to 'radau' where the problem is stiff, and back: `Trajectory.switches`.
    `max_steps`, `max_seconds`: the run ends there with what it has; seconds count from the first step. A run of any adaptive
    method that chatters across a jump of its right-hand side ends with status "chattering".
    `progress(t, steps)` is called some twenty times a second, and `keep(pieces)` with all rows so far, in pieces.
    `pauses`: times at which a step ends exactly and `at_pause(t, x)` is called, as the `change` of an event is; t0 may be one.
    With `compiled=False` the same text runs as plain Python.
    A run that cannot go on raises IntegrationError, which carries what was computed; with strict=False it is returned.
    """
    chosen = integrator(method)
    if beyond := beyond_memory(float(chosen.matrices) * system.n**2):
        raise MethodError(
            f"integrator {chosen.name!r} would need {beyond}, for dense matrices of {system.n} rows, one for each number of the "
            "state; choose one without such matrices, 'dop853' or 'rk4'"
        )
    request = Request(
        system, x0, t0, t1, chosen, rtol, atol, step, first_step, max_step, times, every, events, looks, pauses, at_pause
    )
    limits = (np.inf if max_steps is None else max_steps, np.inf if max_seconds is None else max_seconds)
    if chosen.entry is None:
        from .cvode import run_cvode

        trajectory = run_cvode(system, chosen, request, progress, limits, keep)
    else:
        trajectory = PiecewiseRun(system, chosen, request, compiled, store).run(progress, limits, keep)
    if strict and not (trajectory.ok or trajectory.status in LIMITED):
        raise IntegrationError(trajectory.message, trajectory) from trajectory.cause
    return trajectory


class PiecewiseRun:
    """One run, from pause to pause: its arrays, and its output so far."""

    def __init__(self, system: System, method: Integrator, request: Request, compiled: bool, store: Cache | None) -> None:
        self.system, self.request, self.compiled, self.store = system, request, compiled, store
        self.switching = Switching(system, request.max_step, request.resolution) if method.switches else None
        self.watch = ChatterWatch(system, request.t0, request.t1) if method.adaptive else None
        self.name = method.name
        """Name of the method that the caller has chosen; `method` is the one at work."""
        self.preparing = 0.0
        self._use(self._workspace(method if self.switching is None else integrator(self.switching.method)))
        self.fill()
        self.rows: list[Rows] = []
        self.found_events: list[EventRecord] = []
        self._known_row = False
        """Whether the next row is there already, or was not asked for: the start of a piece is the end of the last."""

    def _workspace(self, method: Integrator) -> Workspace:
        system, request = self.system, self.request
        sizes = {
            "n": system.n,
            "nF": method.rows,
            "nN": NODES,
            "nr": len(system.buffers.report),
            "ng": system.n_events,
            "nf": 64 + 2 * system.n_events,
            "nw": len(request.times),
            "rows": max(4, min(self._most_rows(), 2**19 // max(system.n, 1))),
        }
        return borrow(system, method, sizes, self.compiled, self.store)

    def _most_rows(self) -> int:
        """Rows before Python collects them; few where only the ends of the run are wanted, so that its arrays are reused."""
        few = ROWS if self.request.every else 8
        return min(ROWS, len(self.request.times)) if self.request.times.size else few

    def _use(self, workspace: Workspace) -> None:
        self.workspace, self.method = workspace, workspace.method
        self.state, self.events, self.output = workspace.state, workspace.events, workspace.output

    def _is_delivered(self) -> bool:
        """Whether rows and events of the last step are all out: those that are not need the dense output of its method. A loop
        that has filled its buffers pauses before."""
        clock, wanted = self.state.clock, self.output.wanted
        if clock[s.STARTED] == 1.0 and self.system.n_events and (clock[s.SCANNED] != clock[s.T] or self.events.pending.any()):
            return False
        at = int(self.output.next[0])
        return at >= len(wanted) or (wanted[at] - clock[s.T]) * (self.request.t1 - self.request.t0) > 0.0

    def _hand_over(self, name: str) -> None:
        """Another method goes on from here."""
        begun = time.perf_counter()
        before, new = self.workspace, self._workspace(integrator(name))
        for part, fields in HANDED_OVER.items():
            for field in fields.split():
                getattr(getattr(new, part), field)[...] = getattr(getattr(before, part), field)
        new.events.count[0] = new.output.count[0] = 0.0  # collected at the pause
        if new.state.clock[s.STARTED] == 1.0:  # else it starts anew anyway
            new.state.clock[s.STARTED] = s.TAKEN_OVER
        self._use(new)
        give_back(self.system, before)
        self.preparing += time.perf_counter() - begun

    def fill(self) -> None:
        """Write the request into the arrays."""
        request, clock, rule = self.request, self.state.clock, self.state.rule
        self.state.x[:] = request.x0
        self.state.atol[:] = request.atol
        self.state.tally[:] = 0.0
        self.state.total[:] = 0.0
        self.state.peak[:] = -np.inf
        clock[s.T], clock[s.T_END], clock[s.STARTED] = request.t0, request.t1, 0.0
        clock[s.H] = np.nan if request.first_step is None else request.first_step
        rule[s.RTOL], rule[s.MAX_STEP], rule[s.STEP] = request.rtol, request.max_step, request.step
        quick = self.compiled and not self.system.calls_python
        rule[s.PIECE] = max(FIRST, 4096 // max(self.system.n, 1)) if quick else FIRST
        rule[s.SPLIT], rule[s.NUMBERS] = self.system.split, self.system.n
        rule[s.ALARM] = self.switching.alarm if self.switching else NEVER
        events = self.events
        if request.events:
            events.direction[:] = [event.direction for event in request.events]
            events.action[:] = [ACTIONS[event.action] for event in request.events]
            events.last[:], events.pending[:] = 1.0, 0.0
            events.dips[:], events.passing[:] = [event.dips for event in request.events], 0.0
            events.rated[0], events.landing[0], events.back[0], events.approach[0] = np.nan, 0.0, 0.0, 0.0
        events.looks[0], events.count[0] = request.looks, 0.0
        self.output.wanted[:] = request.times
        self.output.every[0], self.output.next[0], self.output.count[0] = request.every, 0.0, 0.0

    def run(self, progress: Progress | None, limits: tuple[float, float], keep: Keep | None = None) -> Trajectory:
        return self._finished(partial(self._run, progress, *limits, keep))

    def resume(self, interrupted: bool = False) -> Trajectory:
        """The whole run after its first piece was made by `workspace.drive` itself; `interrupted`: by Ctrl-C."""

        def rest() -> str:
            if interrupted:
                raise KeyboardInterrupt
            return self._run(None, np.inf, np.inf, None, driven=True)

        return self._finished(rest)

    def _finished(self, go: Callable[[], str]) -> Trajectory:
        status, cause = outcome(go)
        self._collect()
        found = self._trajectory(status, cause)
        give_back(self.system, self.workspace)
        return found

    def limit_piece(self, max_steps: float) -> None:
        """No piece goes on beyond the steps at which something is to be looked at."""
        rule, steps = self.state.rule, self.state.tally[s.STEPS]
        stops = [max_steps, *(one.look_at for one in (self.switching, self.watch) if one is not None)]
        rule[s.PIECE] = max(min(rule[s.PIECE], min(stops) - steps), min(1.0, max_steps - steps))

    def _run(
        self, progress: Progress | None, max_steps: float, max_seconds: float, keep: Keep | None, driven: bool = False
    ) -> str:
        """`driven`: the first piece is done."""
        end = time.perf_counter() + max_seconds
        self._until_pause()
        told = 0.0
        while True:
            rule, tally, clock = self.state.rule, self.state.tally, self.state.clock
            begun, before = time.perf_counter(), tally[s.STEPS]
            if not driven:
                self.limit_piece(max_steps)
                self.workspace.drive()
            driven = False
            code = self.workspace.drive.status
            self.system.raise_failure()
            fired = self._collect()
            if code == s.EVENT_CHANGE:
                self._change(fired)
            if code in (s.DONE, s.EVENT_CHANGE) and clock[s.T] == clock[s.T_END] != self.request.t1:
                self._end_piece(code)
                self._until_pause()
            elif code not in (s.PAUSED, s.EVENT_CHANGE) and not (self.switching and self.switching.rescued(self.state, code)):
                stuck = code in (s.STEP_TOO_SMALL, s.NO_CONVERGENCE)
                return "chattering" if stuck and self.watch is not None and self.watch.blocked(self.state) else STATUS[code]
            if tally[s.STEPS] >= max_steps:
                return "max_steps"
            now = time.perf_counter()
            if now >= end + self.preparing:
                return "max_seconds"
            if now - told > PIECE or code != s.DONE:  # pauses may be short
                told = now
                self._report_progress(progress, keep)
            rule[s.PIECE] = next_piece(tally[s.STEPS] - before, now - begun)
            if self.watch is not None and self.watch.chatters(self.state):
                return "chattering"
            if self.switching is not None and self._is_delivered():
                if self.watch is not None and self.watch.turning:
                    self.switching.suspected(self.state)
                self.switching.reconsider(self.state, self.workspace.problem)
                if self.switching.method != self.method.name:
                    self._hand_over(self.switching.method)

    def _report_progress(self, progress: Progress | None, keep: Keep | None) -> None:
        if progress is not None:
            progress(float(self.state.clock[s.T]), int(self.state.tally[s.STEPS]))
        if keep is not None:  # after the actions of events: they say which parameters the rows belong to
            keep(self.rows)

    def _until_pause(self) -> None:
        """Where a pause is due now, its function; the next piece ends at the next one, or at the end."""
        clock = self.state.clock
        if self.request.pauses.due(t := float(clock[s.T])):
            new = self.request.pauses.call(t, self.state.x.copy())
            if new is not None:
                self.state.x[:] = new
                self._known_row = False  # one row before the change, one after it
        clock[s.T_END] = self.request.pauses.next(self.request.t1)

    def _end_piece(self, code: int) -> None:
        """At a pause: the method starts anew there, with a step as long as it would have taken next."""
        self.state.clock[s.STARTED] = 0.0
        if self.request.times.size or code != s.DONE:
            return
        self._known_row = True
        if not self.request.every or self.state.tally[s.STEPS] % self.request.every:
            t, x = self.rows.pop()  # the loop writes the end of every piece, asked for or not
            self.rows += [(t[:-1], x[:-1])] if len(t) > 1 else []

    def _collect(self) -> list[EventRecord]:
        """Move rows and events out of their buffers; returns the new events."""
        count = int(self.output.count[0])
        first = int(count > 0 and self._known_row)  # where it started after a pause
        if count:
            self._known_row = False
            self.output.count[0] = 0.0
        if count > first:
            self.rows.append((self.output.t[first:count].copy(), self.output.x[first:count].copy()))
        new = []
        if self.system.n_events:
            for row in self.events.found[: int(self.events.count[0])]:
                index = int(row[1])
                new.append(EventRecord(float(row[0]), index, row[2:].copy(), self.request.events[index].name))
            self.events.count[0] = 0.0
            self.found_events += new
        return new

    def _change(self, fired: list[EventRecord]) -> None:
        """Apply the actions of events to the present state; the integrator restarts from there."""
        t = float(self.state.clock[s.T])
        for event in fired:
            change = self.request.events[event.index].change
            if change is not None and event.t == t:
                new = change(t, self.state.x.copy())
                if new is not None:
                    self.state.x[:] = new
                if not self.request.events[event.index].waits:
                    self.events.last[event.index] = 1.0
        self.state.clock[s.H] = np.nan
        end = float(self.state.clock[s.T_END])
        if abs(end - t) <= 16.0 * s.EPS * abs(t):  # no step is that short
            self.state.clock[s.T] = end
            due = self.request.times[int(self.output.next[0]) :]
            due = due[(due - end) * (self.request.t1 - self.request.t0) <= 0.0]
            self.output.next[0] += len(due)
            self.rows += [(due, np.tile(self.state.x, (len(due), 1)))] if len(due) else []

    def _trajectory(self, status: str, cause: Exception | None) -> Trajectory:
        tally, clock = self.state.tally.tolist(), self.state.clock.tolist()
        statistics = statistics_of(tally)
        chatter, bad = self.watch.found if self.watch else None, int(tally[s.BAD])
        message = _MESSAGES[status].format(
            name=self.method.name, t=clock[s.T], bad=bad, event=event_label(self.request.events, bad), error=in_words(cause),
            index=chatter.index if chatter else 0, how=chatter.words if chatter else "",
        )  # fmt: skip
        message, switches = (message + self.switching.note, self.switching.switches) if self.switching else (message, [])
        final = clock[s.T], self.state.x.copy(), self.state.total.copy(), self.state.peak.copy()
        rows, events = joined(self.rows, self.system.n), self.found_events
        return Trajectory(*rows, status, message, self.name, events, statistics, *final, cause, switches, chatter, self.preparing)


def statistics_of(tally: Sequence[float]) -> Statistics:
    counts = [int(tally[k]) for k in (s.STEPS, s.REJECTED, s.EVALUATIONS, s.JACOBIANS, s.FACTORIZATIONS)]
    return Statistics(*counts, *(tally[k] for k in (s.H_FIRST, s.H_LAST, s.H_MIN, s.H_MAX)))


_MESSAGES = {
    "done": "reached t = {t:g}",
    "stopped": "an event stopped the run at t = {t:g}",
    "interrupted": "interrupted at t = {t:g}",
    "max_steps": "the greatest number of steps was reached at t = {t:g}",
    "max_seconds": "the greatest number of seconds was reached at t = {t:g}",
    "chattering": "number {index} of the state chatters across a jump of its derivative at t = {t:.9g}: {how}",
    "step_too_small": "the step of {name!r} went below the rounding of the time at t = {t:g}: a singularity is near, "
    "the tolerance is too tight, or the problem is stiff (try 'radau' or 'auto')",
    "not_finite": "number {bad} of the state or of its derivative is not finite just after t = {t:g}",
    "no_convergence": "the iteration of {name!r} does not converge at t = {t:g}: take a smaller step",
    "event_undefined": "the function of {event} is not a number (nan) from t = {t:.9g} on, so that its zeros cannot be found",
    "raised": "at t = {t:.9g} {error}",
}
