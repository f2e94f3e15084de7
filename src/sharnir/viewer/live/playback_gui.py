"""Results in the browser: play, pause, scrub, speed, loop; several at once, each in its colour."""

from __future__ import annotations

from collections.abc import Sequence
from time import perf_counter as now
from typing import Any

from ...simulation.results.result import Result
from .live_stage import Stage
from .nodes import SceneNodes
from .playback import SPEEDS, Playback, Track, matrices_of

SCRUBBER = 1000
"""Steps of the slider of the time."""


class PlaybackPanel:
    """Builds its elements where the next ones of the panel would be. `watchers` are called with the time whenever it changes."""

    def __init__(self, stage: Stage, results: Sequence[Result], nodes: Sequence[SceneNodes]) -> None:
        self.stage, self.results, self.nodes = stage, list(results), list(nodes)
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
        stage.on(speed, "speed", lambda text: self.set_speed(float(text.split()[0])))
        loop = gui.add_checkbox("loop", True, hint="begin again at the end")
        stage.on(loop, "loop", self._loop)
        stage.tickers.append(self.tick)

    def toggle(self) -> None:
        if self.clock.playing:
            self.clock.pause(now())
        else:
            self.clock.play(now())
        self._labels()

    def scrub(self, t: float) -> None:
        self.clock.scrub(t, now())
        self.draw()

    def set_speed(self, speed: float) -> None:
        self.clock.set_speed(speed, now())

    def tick(self, wall: float) -> bool:
        if not self.clock.playing:
            return False
        self.clock.tick(wall)
        self.draw()
        if not self.clock.playing:
            self._labels()
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
            watcher(t)

    def _labels(self) -> None:
        self._button.label = "pause" if self.clock.playing else "play"

    def _loop(self, on: bool) -> None:
        self.clock.loop = on
