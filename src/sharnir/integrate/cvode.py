"""CVODE of SUNDIALS, by scikit-sundae: an independent check, step by step from Python. Optional.

Events are found by CVODE itself. A projection is applied to what is written out, not to the state inside CVODE.
"""

from __future__ import annotations

from functools import partial
from time import perf_counter
from typing import Any

import numpy as np

from ..errors import MethodError
from .methods import Integrator
from .request import Request
from .system import System
from .trajectory import (
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

EVENT = 2
_STATUS = {-1: "max_steps", -3: "step_too_small", -4: "no_convergence"}


def run_cvode(
    system: System,
    method: Integrator,
    request: Request,
    progress: Progress | None,
    limits: tuple[float, float],
    keep: Keep | None,
) -> Trajectory:
    try:
        from sksundae.cvode import CVODE
    except ImportError:
        raise MethodError(f'{method.name!r} needs SUNDIALS: pip install "sharnir[sundials]"') from None
    if not system.n:
        raise MethodError(f"{method.name!r} needs a state, and this one is empty: nothing moves; choose another integrator")
    return _Run(system, method, request, CVODE).run(progress, limits, keep)


class _Undefined(Exception):
    """The function of an event is not a number."""


class _Run:
    def __init__(self, system: System, method: Integrator, request: Request, solver: Any) -> None:
        self.system, self.method, self.request = system, method, request
        options: dict[str, Any] = {
            "method": "Adams" if method.name == "cvode-adams" else "BDF",
            "rtol": request.rtol,
            "atol": np.array(request.atol),
            "max_step": 0.0 if request.max_step == np.inf else request.max_step,
            "first_step": request.first_step or 0.0,
            "max_num_steps": 100_000,
        }
        if system.n_events:

            def events(t: float, y: np.ndarray, g: np.ndarray) -> None:
                g[:] = system.event_values(t, y)
                if np.isnan(g).any():
                    raise _Undefined(event_label(request.events, int(np.argmax(np.isnan(g)))))

            events.direction = [event.direction for event in request.events]  # type: ignore[attr-defined]
            events.terminal = [True] * system.n_events  # type: ignore[attr-defined]
            options |= {"eventsfn": events, "num_events": system.n_events}
        if system.has_jacobian:

            def jacobian(t: float, y: np.ndarray, yp: np.ndarray, J: np.ndarray) -> None:
                self.jacobians += 1
                J[:] = system.jacobian(t, y)

            options["jacfn"] = jacobian
        self.solver = solver(self._derivative, **options)
        self.t, self.x = request.t0, request.x0.copy()
        self.rows: list[Rows] = []
        self.found_events: list[EventRecord] = []
        self.steps: list[float] = []
        self.reached = self.tried = request.t0
        """Where CVODE stands, beyond the row it returned last; and the end of the step it tries."""
        self.evaluations = self.jacobians = 0
        self.counting = True
        self.detail = ""

    def _derivative(self, t: float, y: np.ndarray, yp: np.ndarray) -> None:
        self.evaluations += 1
        forward = (t - self.tried) * (self.request.t1 - self.tried) > 0.0
        if self.counting and forward:  # the step before was accepted: a retry would end earlier
            self._count()
        self.tried = t
        yp[:] = self.system.derivative(t, y)

    def _count(self) -> None:
        """The step to `tried`. CVODE has the number, but does not say it."""
        if self.tried != self.reached:
            self.steps.append(self.tried - self.reached)
            self.reached = self.tried

    def run(self, progress: Progress | None, limits: tuple[float, float], keep: Keep | None) -> Trajectory:
        status, cause = outcome(partial(self._run, progress, *limits, keep))
        if isinstance(cause, _Undefined):
            status, cause, self.detail = "event_undefined", None, f"the function of {cause} is not a number (nan)"
        elif cause is not None:
            self.detail = in_words(cause)
        return self._trajectory(status, cause)

    def _run(self, progress: Progress | None, max_steps: float, max_seconds: float, keep: Keep | None) -> str:
        request, end = self.request, perf_counter() + max_seconds
        wanted = list(request.times)
        self._start()
        returned = 0
        if not wanted or wanted[0] == request.t0:
            self._row(self.t, self.x)
            wanted = wanted[1:]
        while self.t != request.t1:
            goal = wanted[0] if wanted else request.t1
            result = self._step(goal, "normal" if request.times.size else "onestep")
            if result.status < 0:
                self.detail = str(result.message)
                return _STATUS.get(result.status, "not_finite")
            returned += 1
            self.t, self.x = float(result.t), np.array(result.y)
            fired = [int(k) for k in np.nonzero(np.ravel(result.i_events[-1]))[0]] if result.status == EVENT else []
            if self._apply(fired):
                return "stopped"
            if wanted and self.t == wanted[0]:
                self._row(self.t, self.x)
                wanted.pop(0)
            elif not request.times.size and (self.t == request.t1 or (request.every and returned % request.every == 0)):
                self._row(self.t, self.x)
            if progress is not None:
                progress(self.t, len(self.steps))
            if keep is not None:
                keep(self.rows)
            if len(self.steps) >= max_steps and self.t != request.t1:
                self.detail = "the greatest number of steps was reached"
                return "max_steps"
            if perf_counter() >= end and self.t != request.t1:
                self.detail = "the greatest number of seconds was reached"
                return "max_seconds"
        return "done"

    def _start(self) -> None:
        self._count()
        self.reached = self.tried = self.t
        self.counting = self.system.n_events > 0  # the search for the first step is none; with events a few trials are counted
        self.solver.init_step(self.t, self.x)
        if self.request.times.size and not self.counting:
            self._step(self.request.t1, "onestep")  # the next call goes on, or back, from there

    def _step(self, goal: float, mode: str) -> Any:
        result = self.solver.step(goal, method=mode, tstop=self.request.t1)
        self.counting = True
        return result

    def _row(self, t: float, x: np.ndarray) -> None:
        self.rows.append((np.array([t]), self.system.projected(t, x)[None]))

    def _apply(self, fired: list[int]) -> bool:
        """Record the events that CVODE found and apply their actions; whether to stop."""
        changed = stopped = False
        for k in fired:
            event = self.request.events[k]
            self.found_events.append(EventRecord(self.t, k, self.system.projected(self.t, self.x), event.name))
            stopped |= event.action == "stop"
            if event.change is not None:
                changed = True
                new = event.change(self.t, self.x.copy())
                self.x = self.x if new is None else np.array(new, dtype=float)
        if changed:
            self._start()
        if stopped and not self.request.times.size:
            self._row(self.t, self.x)
        return stopped

    def _trajectory(self, status: str, cause: Exception | None) -> Trajectory:
        self._count()
        n, h = self.system.n, np.array(self.steps or [0.0])
        sizes = (float(h[0]), float(h[-1]), float(np.abs(h).min()), float(np.abs(h).max()))
        return Trajectory(
            *joined(self.rows, n),
            status,
            f"{self.method.name!r} at t = {self.t:g}: {self.detail or status}",
            self.method.name,
            self.found_events,
            Statistics(len(self.steps), 0, self.evaluations, self.jacobians, 0, *sizes),
            self.t,
            self.x.copy(),
            cause=cause,
        )
