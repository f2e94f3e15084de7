"""Sliders of a model in the browser: `Posing` does what they ask, and they show the outcome."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ...reporting.pictures import round_number
from .live_stage import Stage
from .nodes import SceneNodes
from .posing import Posing
from .sliders import Slider

MANY = 40
"""Sliders that are shown at once; of more, those of one joint."""
STEPS = 400
"""Steps of a slider from end to end; numbers that are typed may be finer."""
WATCH = 10.0
"""Seconds that the slider of the time spans, where the model does not say how long it is simulated."""


class PosingPanel:
    """Builds its elements where the next ones of the panel would be."""

    def __init__(self, stage: Stage, posing: Posing, nodes: SceneNodes) -> None:
        self.stage, self.posing, self.nodes = stage, posing, nodes
        self._degrees, self._handles = False, list[tuple[Slider, Any]]()
        gui = stage.viser.gui
        self._unit = gui.add_button_group("angles in", ("rad", "deg")) if any(s.is_angle for s in posing.sliders) else None
        if self._unit is not None:
            self._unit.on_click(lambda event: stage.post("unit", lambda: self._in_degrees(event.target.value == "deg")))
        self._time: Any = self._time_slider() if posing.follows_time else None
        joints = list(dict.fromkeys(s.joint for s in posing.sliders))
        self._joint = joints[0] if len(posing.sliders) > MANY else None
        if self._joint is not None:
            choice = gui.add_dropdown("joint", tuple(joints), hint=f"one of {len(joints)}: its sliders are below")
            stage.on(choice, "joint", self._choose)
        self._folder = gui.add_folder("coordinates")
        self._make()
        reset = gui.add_button("reset", hint="back to where the view began")
        reset.on_click(lambda _: stage.post("reset", lambda: self.change(posing.reset)))
        self._text = gui.add_text("q0", posing.text(), hint="the present position: copy it into simulate(…, q0={…})")
        self.draw()

    def draw(self, sliders: bool = True) -> None:
        """Draw the pose, and the sliders at their values."""
        posing = self.posing
        at_start = np.array_equal(posing.q, posing.start[0]) and posing.t == posing.start[1]
        self.nodes.place(posing.t, posing.q, *posing.poses(), 0 if at_start else None)
        self.stage.moved()
        if sliders:
            self.show_values()

    def show_values(self) -> None:
        for slider, handle in self._handles:
            value = self._shown(slider, self.posing.value(slider))
            if value < handle.min or value > handle.max:  # loops lead where no slider of its own would
                low, high = _outward(value, value, 10.0 * handle.step)
                handle.min, handle.max = min(low, handle.min), max(high, handle.max)
            if abs(value - handle.value) > 0.51 * handle.step:
                handle.value = value
        if self._time is not None and abs(self.posing.t - self._time.value) > 0.51 * self._time.step:
            self._time.max = max(self._time.max, self.posing.t)
            self._time.value = self.posing.t
        self._text.value = self.posing.text()

    def change(self, change: Callable[[], None]) -> None:
        """Change the pose; show it, and what could not be done."""
        change()
        self.stage.say(self.posing.message)
        self.draw()

    def enable(self, on: bool) -> None:
        """Sliders follow a simulation that runs, and cannot be moved then."""
        for _, handle in self._handles:
            handle.disabled = not on
        if self._time is not None:
            self._time.disabled = not on

    # --- inside -------------------------------------------------------------------------------------------------------------
    def _make(self) -> None:
        for _, handle in self._handles:
            handle.remove()
        self._handles = []
        shown = [s for s in self.posing.sliders if self._joint is None or s.joint == self._joint]
        with self._folder:
            for slider in shown:
                self._handles.append((slider, self._slider(slider)))

    def _slider(self, slider: Slider) -> Any:
        value = self._shown(slider, self.posing.value(slider))
        low, high = min(self._shown(slider, slider.low), value), max(self._shown(slider, slider.high), value)
        unit = "" if not slider.is_angle else "°" if self._degrees else "rad"
        step = round_number(max((high - low) / STEPS, 1e-12), up=False) if high > low else 1e-3
        hint = f"{slider.name}{f', {unit}' if unit else ''}: from {low:.4g} to {high:.4g}"
        low, high = _outward(low, high, step)  # `Posing` holds the limits
        handle = self.stage.viser.gui.add_slider(slider.name, low, high, step, value, hint=hint)

        def moved(shown: float) -> None:
            value = math.radians(shown) if slider.is_angle and self._degrees else shown
            self.change(lambda: self.posing.set(slider, float(value)))

        self.stage.on(handle, ("slider", slider.name), moved)
        return handle

    def _time_slider(self) -> Any:
        settings = self.posing.model.simulation
        length = abs(float(getattr(settings, "duration", None) or WATCH))
        t = self.posing.t
        hint = "drives are where they are at this time"
        step = round_number(max(length / STEPS, 1e-12), up=False)
        handle = self.stage.viser.gui.add_slider("time, s", t, t + length, step, t, hint=hint)
        self.stage.on(handle, "time", lambda t: self.change(lambda: self.posing.set_time(t)))
        return handle

    def _in_degrees(self, on: bool) -> None:
        if on != self._degrees:
            self._degrees = on
            self._make()

    def _choose(self, joint: str) -> None:
        self._joint = joint
        self._make()

    def _shown(self, slider: Slider, value: float) -> float:
        return math.degrees(value) if slider.is_angle and self._degrees else value


def _outward(low: float, high: float, step: float) -> tuple[float, float]:
    """Ends that are whole steps: they are written below the slider."""
    return math.floor(low / step + 1e-9) * step, math.ceil(high / step - 1e-9) * step
