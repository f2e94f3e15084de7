"""Short runs that continue one another, for callers who decide between them what comes next: prepared once, joined to one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial, reduce
from typing import Any

import numpy as np

from .driver import PiecewiseRun, run, statistics_of
from .kernels import state as s
from .methods import integrator
from .request import Request
from .system import System
from .trajectory import EventRecord, Rows, Statistics, Trajectory, joined

SUMS = ("steps", "rejected", "evaluations", "jacobians", "factorizations")


class ShortRuns:
    """Runs from (t, x) on, each from where the last ended and each as `run` makes it with `every=0`, to the last bit. The arrays
    are filled once: what a run costs beside its steps is one copy of them. `record`: keep the rows of all runs for `whole`."""

    def __init__(
        self, system: System, t: float, x: np.ndarray, method: str, *, compiled: bool = True, record: bool = True, **options: Any
    ) -> None:
        self.system, self.t, self.x, self.status = system, t, x, "done"
        """Where the last run has ended, and why."""
        self.rows: list[Rows] = [(np.array([t]), x[None].copy())]
        self.events: list[EventRecord] = []
        self.last: Trajectory | None = None
        self._record, self._method = record, integrator(method)
        self._tallies: list[tuple[np.ndarray | Statistics, np.ndarray]] = []
        self._options = {**options, "every": 0, "events": list(options.get("events", ()))}
        self._run: Callable[..., Trajectory] = partial(
            run, system, method=method, compiled=compiled, strict=False, **self._options
        )
        self._prepared: PiecewiseRun | None = None
        self._at_once = compiled and self._method.entry is not None

    def go(self, x: np.ndarray, end: float) -> Trajectory | None:
        """Go on to the time `end` from a state x, that of the last run or another. Returns the run, unless it was one piece
        without an event, which is the rule."""
        if self._at_once:
            prepared = self._prepared or self._prepare(x, end)
            workspace, interrupted = prepared.workspace, False
            workspace.block[:] = self._filled
            state = workspace.state
            state.x[:] = x
            state.clock[s.T], state.clock[s.T_END], workspace.output.count[0] = self.t, end, 0.0
            try:
                workspace.drive()
            except KeyboardInterrupt:
                interrupted = True
            quiet = not self.system.n_events or workspace.events.count[0] == 0.0
            if workspace.drive.status == s.DONE and quiet and self.system.failure is None and not interrupted:
                self.t, self.x, self.status = end, state.x.copy(), "done"
                self.x.flags.writeable = False  # callers see parts of it
                if self._record:
                    self.rows.append((np.array([end]), self.x[None]))
                    self._tallies.append((state.tally.copy(), state.total.copy()))
                    self.last = None
                return None
            self._prepared, prepared.request = None, self._request(x, end)  # it may end with another method's arrays
            y = prepared.resume(interrupted)
        else:
            y = self._run(x, self.t, end)
        self.t, self.x, self.status = y.final_t, y.final_x, y.status
        if self._record:
            self.rows.append((y.t[1:], y.x[1:]) if len(y.t) > 1 else (np.array([y.final_t]), y.final_x[None]))
            self._tallies.append((y.statistics, y.report_total))
            self.events += y.events
            self.last = y
        return y

    def _request(self, x: np.ndarray, end: float) -> Request:
        given: dict[str, Any] = {"rtol": 1e-6, "atol": 1e-9, "step": None, "first_step": None, "max_step": np.inf, "times": None}
        return Request(self.system, x, self.t, end, self._method, **{**given, "looks": 4, **self._options})

    def _prepare(self, x: np.ndarray, end: float) -> PiecewiseRun:
        self._prepared = prepared = PiecewiseRun(self.system, self._method, self._request(x, end), True, None)
        prepared.limit_piece(np.inf)
        self._filled = prepared.workspace.block.copy()
        return prepared

    def whole(self) -> Trajectory:
        """All runs so far as one: a row at the start, at the end of every run, and at every event that changed the state."""
        t, x = joined(self.rows, self.rows[0][1].shape[1])
        none = Statistics(0, 0, 0, 0, 0, 0.0, 0.0, 0.0, 0.0)
        each = [one if isinstance(one, Statistics) else statistics_of(one.tolist()) for one, _ in self._tallies]
        found, total = reduce(_sum, each) if each else none, sum((one for _, one in self._tallies), np.zeros(()))
        if self.last is None:
            message = f"reached t = {t[-1]:g}" if each else f"at its start, t = {t[-1]:g}"
            final = float(t[-1]), x[-1], np.atleast_1d(total)
            return Trajectory(t, x, "done", message, self._method.name, self.events, found, *final)
        return replace(self.last, t=t, x=x, events=self.events, statistics=found, report_total=total)


def _sum(a: Statistics, b: Statistics) -> Statistics:
    sums: dict[str, Any] = {name: getattr(a, name) + getattr(b, name) for name in SUMS}
    sums |= {"min_step": min(a.min_step, b.min_step), "max_step": max(a.max_step, b.max_step)}
    return replace(b, first_step=a.first_step, **sums)
