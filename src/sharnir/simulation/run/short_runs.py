"""Many short runs, one after the other, as one: rows, events and costs added up."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ...integrate.trajectory import EventRecord, Rows, Statistics, Trajectory, joined


class ShortRuns:
    """The joined output of runs that continue one another from (t, x)."""

    def __init__(self, t: float, x: np.ndarray) -> None:
        self.rows: list[Rows] = [(np.array([t]), x[None].copy())]
        self.events: list[EventRecord] = []
        self.statistics: Statistics | None = None
        self.total, self.peak = np.zeros(0), np.zeros(0)
        self.last: Trajectory | None = None

    def add(self, y: Trajectory) -> None:
        """A run from where the last ended, with rows at its start and its end."""
        self.rows.append((y.t[1:], y.x[1:]) if len(y.t) > 1 else (np.array([y.final_t]), y.final_x[None]))
        self.events += y.events
        first = self.last is None
        self.statistics = y.statistics if self.statistics is None else _sum(self.statistics, y.statistics)
        self.total = y.report_total if first else self.total + y.report_total
        self.peak = y.report_peak if first else np.maximum(self.peak, y.report_peak)
        self.last = y

    def whole(self, method: str) -> Trajectory:
        t, x = joined(self.rows, self.rows[0][1].shape[1])
        if self.last is None or self.statistics is None:
            none = Statistics(0, 0, 0, 0, 0, 0.0, 0.0, 0.0, 0.0)
            return Trajectory(t, x, "done", f"at its start, t = {t[-1]:g}", method, [], none, float(t[-1]), x[-1])
        return replace(
            self.last, t=t, x=x, events=self.events, statistics=self.statistics, report_total=self.total, report_peak=self.peak
        )


def _sum(a: Statistics, b: Statistics) -> Statistics:
    return Statistics(
        a.steps + b.steps,
        a.rejected + b.rejected,
        a.evaluations + b.evaluations,
        a.jacobians + b.jacobians,
        a.factorizations + b.factorizations,
        a.first_step,
        b.last_step,
        min(a.min_step, b.min_step),
        max(a.max_step, b.max_step),
    )
