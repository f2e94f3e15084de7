"""Motions in the browser: results that are played, several at once, each in its colour; plots in step with them; paths of points.

The clock (play, pause, scrub, speed, loop) and the poses at any time, `Playback` and `Track`, know no browser.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from time import perf_counter as now
from typing import Any

import numpy as np

from ...equations.assembly.exponential import rotated
from ...model.quaternions import quaternions_of, without_jumps
from ...reporting.pictures import COLOURS
from ...simulation.results.charts import Panel, panels
from ...simulation.results.result import Result
from ...types import FloatArray
from ..motion import between
from ..scene import TINTS, Anchor
from .live_stage import Stage
from .nodes import SceneNodes, rgb255, segments

SPEEDS = (0.1, 0.25, 0.5, 1.0, 2.0, 5.0, 10.0)


class Playback:
    """The clock; the caller supplies wall-clock time. `t` is between `first` and `last`; `speed` is relative to real time."""

    def __init__(self, first: float, last: float) -> None:
        self.first, self.last, self.loop = min(first, last), max(first, last), True
        self.t, self.playing, self.speed = self.first, False, 1.0
        self._since: tuple[float, float] | None = None

    def set_speed(self, speed: float, now: float) -> None:
        self.tick(now)
        self.speed = speed
        self._restart(now)

    def play(self, now: float) -> None:
        """Play from the present time; at the end, from the beginning."""
        if self.t >= self.last:
            self.t = self.first
        self.playing = True
        self._restart(now)

    def pause(self, now: float) -> None:
        self.tick(now)
        self.playing = False

    def scrub(self, t: float, now: float) -> None:
        """Move to a time of the motion; playing continues from there."""
        self.t = min(max(t, self.first), self.last)
        self._restart(now)

    def tick(self, now: float) -> float:
        """Time of the motion. At the end it begins again, or stops there."""
        if self.playing and self._since is not None:
            wall, begun = self._since
            t = begun + self.speed * (now - wall)
            length = self.last - self.first
            if t > self.last and self.loop and length > 0.0:
                t = self.first + (t - self.first) % length
            elif t >= self.last:
                t, self.playing = self.last, False
            self.t = t
        return self.t

    def _restart(self, now: float) -> None:
        self._since = (now, self.t)


def matrices_of(wxyz: FloatArray) -> FloatArray:
    """(…, 3, 3) of quaternions (…, 4) of length one."""
    return np.stack([rotated(wxyz, np.broadcast_to(e, (*wxyz.shape[:-1], 3))) for e in np.eye(3)], axis=-1)


class Track:
    """The poses of all bodies of a scene over time, as quaternions whose signs do not jump."""

    def __init__(self, t: FloatArray, rotation: FloatArray, position: FloatArray) -> None:
        self.t, self.position = np.asarray(t, dtype=float), np.asarray(position, dtype=float)
        self.wxyz = without_jumps(quaternions_of(rotation), axis=0)

    def at(self, t: float) -> tuple[FloatArray, FloatArray]:
        """Poses (N, 4), (N, 3) at time t; before the first time the first, after the last the last."""
        k, share = self._place(t)
        if not share:
            return self.wxyz[k], self.position[k]
        wxyz = (1.0 - share) * self.wxyz[k] + share * self.wxyz[k + 1]
        position = (1.0 - share) * self.position[k] + share * self.position[k + 1]
        return wxyz / np.linalg.norm(wxyz, axis=-1, keepdims=True), position

    def row(self, t: float) -> int:
        k, share = self._place(t)
        return k + round(share)

    def _place(self, t: float) -> tuple[int, float]:
        row, share = between(self.t, np.array([t]))
        return int(row[0]), float(share[0])


# --- panels: each builds its elements where the next ones of the page would be
SCRUBBER = 1000
"""Steps of the slider of the time."""


class PlaybackPanel:
    """Play, pause, scrub, speed, loop. `watchers` are called with the time whenever it changes, and whether
    it plays."""

    def __init__(self, stage: Stage, nodes: Sequence[SceneNodes]) -> None:
        self.stage, self.nodes = stage, nodes
        self.tracks = [Track(n.scene.t, n.scene.rotation, n.scene.position) for n in nodes]
        self.clock = Playback(min(float(k.t.min()) for k in self.tracks), max(float(k.t.max()) for k in self.tracks))
        self.watchers: list[Any] = []
        gui, first, last = stage.viser.gui, self.clock.first, self.clock.last
        self._button = gui.add_button("play")
        self._button.on_click(lambda _: stage.post("play", self.toggle))
        step = (last - first) / SCRUBBER if last > first else 1e-3
        self._scrubber = gui.add_slider("time, s", first, max(last, first + step), step, first)
        stage.on(self._scrubber, "scrub", lambda t: self.scrub(float(t)))
        speed = gui.add_dropdown("speed", tuple(f"{s:g} ×" for s in SPEEDS), initial_value="1 ×")
        stage.on(speed, "speed", lambda text: self.clock.set_speed(float(text.split()[0]), now()))
        loop = gui.add_checkbox("loop", True, hint="begin again at the end")
        stage.on(loop, "loop", lambda on: setattr(self.clock, "loop", on))
        stage.tickers.append(self.tick)

    def toggle(self) -> None:
        (self.clock.pause if self.clock.playing else self.clock.play)(now())
        self._label()
        self.draw()

    def scrub(self, t: float) -> None:
        self.clock.scrub(t, now())
        self.draw()

    def tick(self, wall: float) -> bool:
        if not self.clock.playing:
            return False
        self.clock.tick(wall)
        self.draw()
        self._label()
        return self.clock.playing

    def draw(self) -> None:
        """Draw all scenes at the time of the clock; those that have ended, at their end."""
        t = self.clock.t
        for nodes, track in zip(self.nodes, self.tracks, strict=True):
            wxyz, position = track.at(t)
            nodes.pose(matrices_of(wxyz), position, track.row(t), wxyz)
        self.stage.moved()
        if abs(self._scrubber.value - t) > 0.51 * self._scrubber.step:
            self._scrubber.value = t
        for watcher in self.watchers:
            watcher(t, self.clock.playing)

    def _label(self) -> None:
        word = "pause" if self.clock.playing else "play"
        if self._button.label != word:
            self._button.label = word


# --- plots over time: one for each unit, with a line at the present time
PLOTTED = 400
"""Points of a line: as many as it has pixels."""
REFRESH = 0.1
"""Seconds between two positions of the line at the present time, and between two points of a path that grows."""
HEIGHT = 190
DASHES = ((), (6, 4), (2, 3), (8, 3, 2, 3))
"""Dashes of lines that share a colour, in this order."""
NOW = "#999999"


class PlotsPanel:
    """`follow(t)` moves the line."""

    def __init__(self, stage: Stage, results: Sequence[Result], names: Sequence[str], what: Sequence[str] = ()) -> None:
        self._moved, several = 0.0, len(results) > 1
        merged: dict[tuple[str, str], list[tuple[FloatArray, str, FloatArray, int]]] = {}
        headings: dict[tuple[str, str], Panel] = {}
        for k, r in enumerate(results):
            for panel in panels(r, what):
                headings.setdefault((panel.title, panel.unit), panel)
                rows = merged.setdefault((panel.title, panel.unit), [])
                rows += [(r.t, f"{names[k]}: {label}" if several else label, y, k) for label, y in panel.lines.items()]
        plots = [(headings[key], Plot(lines)) for key, lines in merged.items()]
        self._plots = [(*_chart(stage, panel, plot), plot) for panel, plot in plots]
        self.follow(min((float(plot.t[0]) for _, plot in plots), default=0.0))

    def follow(self, t: float, playing: bool = False) -> None:
        """Move the line; not at every frame while it plays: each time the chart is drawn anew."""
        if not playing or now() - self._moved >= REFRESH:
            self._moved = now()
            for chart, legend, plot in self._plots:
                chart.data, legend.content = plot.data(t), plot.legend(t)


class Plot:
    """Lines on common times, thinned to what can be seen; the present time is there twice, with a line from bottom to top."""

    def __init__(self, lines: Sequence[tuple[FloatArray, str, FloatArray, int]]) -> None:
        self.colours: list[str] = []
        self.labels, self.of = [label for _, label, _, _ in lines], [k for _, _, _, k in lines]
        times = np.unique(np.concatenate([t for t, _, _, _ in lines]))
        if len(times) > PLOTTED:
            times = np.linspace(times[0], times[-1], PLOTTED)
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

    def legend(self, now_at: float) -> str:
        """Colours, names and values at the present time; what is least beside the range of the plot is nothing."""
        values = [float(np.interp(now_at, self.t, y)) for y in self.values]
        shown = ["" if np.isnan(x) else f"{x if abs(x) > 1e-6 * (self.high - self.low) else 0.0:.4g}" for x in values]
        rows = (f"<span><b style='background:{c}'></b>{escape(label)} <output>{x}</output></span>"
                for c, label, x in zip(self.colours, self.labels, shown, strict=True))  # fmt: skip
        return f"<div class='st-legend'>{''.join(rows)}</div>"


def _resampled(times: FloatArray, t: FloatArray, y: FloatArray) -> FloatArray:
    """A line on other times; nothing before it begins and after it ends."""
    order = np.argsort(t, kind="stable")
    out = np.interp(times, t[order], y[order])
    slack = 1e-9 * max(1.0, float(np.abs(t).max()))
    return np.where((times < t.min() - slack) | (times > t.max() + slack), np.nan, out)


def _chart(stage: Stage, panel: Panel, plot: Plot) -> tuple[Any, Any]:
    from viser import uplot

    series: list[Any] = [uplot.Series(label="t")]
    several, lines_of = len(set(plot.of)) > 1, dict[int, int]()
    for label, k in zip(plot.labels, plot.of, strict=True):
        n = lines_of[k] = lines_of.get(k, -1) + 1
        colour, dash = (k, n) if several else (n, n // len(COLOURS))  # of several results the colour says which it is
        look: Any = {"stroke": COLOURS[colour % len(COLOURS)], "dash": DASHES[dash % len(DASHES)]}
        plot.colours.append(COLOURS[colour % len(COLOURS)])
        series.append({"label": label, "width": 1.5, "points": {"show": False}, **look})
    series.append(uplot.Series(label="now", stroke=NOW, width=1, points={"show": False}))
    scales = {"x": uplot.Scale(time=False), "y": uplot.Scale(range=(plot.low, plot.high))}
    look = {"title": panel.axis, "scales": scales, "legend": uplot.Legend(show=True), "height": HEIGHT}
    gui = stage.viser.gui
    return gui.add_uplot(plot.data(float(plot.t[0])), tuple(series), **look), gui.add_html("")


# --- paths of points: of a result the whole path, of a running simulation as far as it has come
POINTS = 2000
"""Largest number of points of a path: more cannot be seen."""


class TracesPanel:
    """Paths; those of a running simulation grow by `tick`."""

    def __init__(self, stage: Stage, nodes: list[SceneNodes]) -> None:
        self.stage, self.nodes = stage, nodes
        self._traces: list[tuple[SceneNodes, Anchor, Any, list[FloatArray]]] = []
        self._grown, self._count = 0.0, 0
        gui, bodies = stage.viser.gui, nodes[0].scene.choices
        self._body = gui.add_dropdown("body", bodies, initial_value=bodies[-1])
        self._point = gui.add_vector3("point", (0.0, 0.0, 0.0), step=0.01, hint="of the body, in its axes, m")
        gui.add_button("add path").on_click(lambda _: stage.post("trace", lambda: self.add(self._body.value, self._point.value)))
        gui.add_button("remove paths").on_click(lambda _: stage.post("no traces", self.clear))

    def add(self, body: str, point: Sequence[float]) -> None:
        """The path of a point of a body, in every scene that has it."""
        for k, nodes in enumerate(self.nodes):
            if body in nodes.scene.bodies:
                anchor = nodes.scene.carriers.nearest(body, np.asarray(point, dtype=float))
                path = anchor.path(nodes.scene.rotation, nodes.scene.position)
                path = path[:: max(1, len(path) // POINTS)]
                colour = rgb255(TINTS[(k if len(self.nodes) > 1 else self._count + 1) % len(TINTS)])
                seen = segments(path if len(path) > 1 else np.repeat(path[:1], 2, axis=0))
                draw, look = self.stage.viser.scene.add_line_segments, {"thickness": 2.0, "thickness_units": "screen"}
                line = draw(f"/traces/{self._count}", seen, colour, **look)
                self._traces.append((nodes, anchor, line, []))
                self._count += 1

    def clear(self) -> None:
        for _, _, line, _ in self._traces:
            line.remove()
        self._traces = []

    def tick(self, _: float) -> bool:
        """Add the present points, but not at every frame; it never asks for another frame."""
        if now() - self._grown >= REFRESH:
            self._grown = now()
            for nodes, anchor, line, points in self._traces:
                points.append(anchor.path(nodes.rotation[None], nodes.position[None])[0])
                del points[:-POINTS]
                if len(points) > 1:
                    line.points = segments(np.array(points))
        return False
