"""Plots over time in the browser, in step with the motion: one for each unit, with a line at the present time."""

from __future__ import annotations

from collections.abc import Sequence
from time import perf_counter as now
from typing import Any

import numpy as np

from ...reporting.pictures import COLOURS
from ...simulation.results.charts import Panel, panels
from ...simulation.results.result import Result
from ...types import FloatArray
from .live_stage import Stage

POINTS = 400
"""Points of a line: as many as it has pixels."""
REFRESH = 0.1
"""Seconds between two positions of the line at the present time."""
HEIGHT = 190
DASHES = ((), (6, 4), (2, 3), (8, 3, 2, 3))
"""Dashes of lines that share a colour, in this order."""
NOW = "#999999"


class PlotsPanel:
    """Builds its elements where the next ones of the panel would be. `follow(t)` moves the line."""

    def __init__(self, stage: Stage, results: Sequence[Result], names: Sequence[str], what: Sequence[str] = ()) -> None:
        self.stage, self._plots, self._moved = stage, list[tuple[Any, Plot]](), 0.0
        several = len(results) > 1
        merged: dict[tuple[str, str], list[tuple[FloatArray, str, FloatArray, int]]] = {}
        headings: dict[tuple[str, str], Panel] = {}
        for k, r in enumerate(results):
            for panel in panels(r, what):
                headings.setdefault((panel.title, panel.unit), panel)
                rows = merged.setdefault((panel.title, panel.unit), [])
                rows += [(r.t, f"{names[k]}: {label}" if several else label, y, k) for label, y in panel.lines.items()]
        for key, lines in merged.items():
            plot = Plot(lines)
            self._plots.append((_chart(stage, headings[key], plot), plot))

    def follow(self, t: float) -> None:
        """Move the line, but not at every frame: each time the chart is drawn anew."""
        if now() - self._moved >= REFRESH:
            self._moved = now()
            for chart, plot in self._plots:
                chart.data = plot.data(t)


class Plot:
    """Lines on common times, thinned to what can be seen; the present time is there twice, with a line from bottom to top."""

    def __init__(self, lines: Sequence[tuple[FloatArray, str, FloatArray, int]]) -> None:
        self.labels, self.of = [label for _, label, _, _ in lines], [k for _, _, _, k in lines]
        times = np.unique(np.concatenate([t for t, _, _, _ in lines]))
        if len(times) > POINTS:
            times = np.linspace(times[0], times[-1], POINTS)
        self.t = times
        self.values = [_resampled(times, t, y) for t, _, y, _ in lines]
        seen = np.concatenate([*self.values, np.zeros(0)])
        seen = seen[np.isfinite(seen)]
        self.low, self.high = (float(seen.min()), float(seen.max())) if seen.size else (0.0, 1.0)
        if self.high - self.low < 1e-9 * max(1.0, abs(self.high)):
            self.low, self.high = self.low - 0.5, self.high + 0.5
        margin = 0.05 * (self.high - self.low)
        self.low, self.high = self.low - margin, self.high + margin

    def data(self, now_at: float) -> tuple[np.ndarray, ...]:
        """Times, every line, and the line at the present time."""
        k = int(np.searchsorted(self.t, now_at))
        t = np.insert(self.t, k, [now_at, now_at])
        cursor = np.full(len(t), np.nan)
        cursor[k : k + 2] = self.low, self.high
        return (t, *(np.insert(y, k, [np.interp(now_at, self.t, y)] * 2) for y in self.values), cursor)


def _resampled(times: FloatArray, t: FloatArray, y: FloatArray) -> FloatArray:
    """A line on other times; nothing before it begins and after it ends."""
    order = np.argsort(t, kind="stable")
    out = np.interp(times, t[order], y[order])
    slack = 1e-9 * max(1.0, float(np.abs(t).max()))
    return np.where((times < t.min() - slack) | (times > t.max() + slack), np.nan, out)


def _chart(stage: Stage, panel: Panel, plot: Plot) -> Any:
    from viser import uplot

    series: list[Any] = [uplot.Series(label="t")]
    several, lines_of = len(set(plot.of)) > 1, dict[int, int]()
    for label, k in zip(plot.labels, plot.of, strict=True):
        n = lines_of[k] = lines_of.get(k, -1) + 1
        colour, dash = (k, n) if several else (n, n // len(COLOURS))  # of several results the colour says which it is
        look: Any = {"stroke": COLOURS[colour % len(COLOURS)], "dash": DASHES[dash % len(DASHES)]}
        series.append({"label": label, "width": 1.5, "points": {"show": False}, **look})
    series.append(uplot.Series(label="now", stroke=NOW, width=1, points={"show": False}))
    return stage.viser.gui.add_uplot(
        plot.data(float(plot.t[0])),
        tuple(series),
        title=panel.axis,
        scales={"x": uplot.Scale(time=False), "y": uplot.Scale(range=(plot.low, plot.high))},
        legend=uplot.Legend(show=True),
        height=HEIGHT,
    )
