"""The panels of a model in the browser: sliders, which set a `Posing` and show the outcome; a simulation that runs, with its
button, a hand that drags bodies, its state in words."""

from __future__ import annotations

import math
from collections.abc import Callable
from time import perf_counter as now
from typing import Any

import numpy as np

from ...errors import SharnirError
from ...reporting.pictures import round_number
from ...types import FloatArray
from ..solids import sphere, spring
from .live_stage import Stage
from .nodes import SceneNodes, turns_from_z
from .posing import Posing, Slider
from .session import Hand, Session

MANY = 40
"""Sliders that are shown at once; of more, those of one joint."""
STEPS = 400
"""Steps of a slider from end to end; numbers that are typed may be finer."""
WATCH = 10.0
"""Seconds that the slider of the time spans, where the model does not say how long it is simulated."""


class PosingPanel:
    """Builds its elements where the next ones of the page would be."""

    def __init__(self, stage: Stage, posing: Posing, nodes: SceneNodes) -> None:
        self.stage, self.posing, self.nodes = stage, posing, nodes
        self._degrees, self._handles = False, list[tuple[Slider, Any]]()
        gui = stage.viser.gui
        self._unit = gui.add_button_group("angles in", ("rad", "deg")) if any(s.is_angle for s in posing.sliders) else None
        if self._unit is not None:
            self._unit.on_click(lambda event: stage.post("unit", lambda: self._in_degrees(event.target.value == "deg")))
        self._time: Any = None
        if posing.follows_time:
            t, length = posing.t, abs(float(getattr(posing.model.simulation, "duration", None) or WATCH))
            hint, step = "drives are where they are at this time", round_number(max(length / STEPS, 1e-12), up=False)
            self._time = gui.add_slider("time, s", t, t + length, step, t, hint=hint)
            stage.on(self._time, "time", lambda t: self.change(lambda: posing.set_time(t)))
        joints = list(dict.fromkeys(s.joint for s in posing.sliders))
        self._joint = joints[0] if len(posing.sliders) > MANY else None
        if self._joint is not None:
            choice = gui.add_dropdown("joint", tuple(joints), hint=f"one of {len(joints)}: its sliders are below")
            stage.on(choice, "joint", self._make)
        self._folder = gui.add_folder("coordinates")
        self._make(self._joint)
        reset = gui.add_button("reset", hint="back to where the view began")
        reset.on_click(lambda _: stage.post("reset", lambda: self.change(posing.reset)))
        self._text = gui.add_text("q0", posing.text(), hint="the present position: copy it into simulate(…, q0={…})")
        self.draw()

    def draw(self, sliders: bool = True) -> None:
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
    def _make(self, joint: str | None) -> None:
        """Sliders of a joint, or of all, in place of those that are there."""
        self._joint = joint
        for _, handle in self._handles:
            handle.remove()
        with self._folder:
            self._handles = [(s, self._slider(s)) for s in self.posing.sliders if joint is None or s.joint == joint]

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

    def _in_degrees(self, on: bool) -> None:
        if on != self._degrees:
            self._degrees = on
            self._make(self._joint)

    def _shown(self, slider: Slider, value: float) -> float:
        return math.degrees(value) if slider.is_angle and self._degrees else value


def _outward(low: float, high: float, step: float) -> tuple[float, float]:
    """Ends that are whole steps: they are written below the slider."""
    return math.floor(low / step + 1e-9) * step, math.ceil(high / step - 1e-9) * step


# --- a simulation that runs
LONGEST = 0.05
"""Most seconds simulated between two pictures: a model slower than real time falls behind."""
WORDS = 0.25
"""Seconds between changes of the text."""
HAND = (230, 120, 20)
WIDTH, BALL = 0.014, 0.018
"""Widths of the hand's spring and of the hand, in parts of the mechanism's size."""


class SessionPanel:
    """Starts from where the sliders stand, and leaves them where it ends."""

    def __init__(self, stage: Stage, sliders: PosingPanel, nodes: SceneNodes) -> None:
        self.stage, self.sliders, self.nodes = stage, sliders, nodes
        self.session: Session | None = None
        self.running = False
        gui = stage.viser.gui
        self._button = gui.add_button("simulate", hint="from the present position, at rest, in real time")
        self._button.on_click(lambda _: stage.post("simulate", lambda: self.stop() if self.running else self.start()))
        self._strength = gui.add_slider("pull", 0.1, 10.0, 0.1, 1.0, hint="how hard: 1 moves the whole mechanism")
        self._words = gui.add_markdown("Simulate, then drag a body: a spring pulls it to the pointer.")
        at = {"batched_wxyzs": np.array([[1.0, 0.0, 0.0, 0.0]]), "batched_positions": np.zeros((1, 3))}
        look = {**at, "batched_colors": HAND, "side": "double", "lod": "off", "visible": False}
        draw, size = stage.viser.scene.add_batched_meshes_simple, np.full((1, 3), nodes.scene.size)
        coil, ball = spring(), sphere(16)
        self._spring = draw("/hand/spring", coil.vertices, coil.faces, batched_scales=WIDTH * size, **look)
        self._ball = draw("/hand/ball", ball.vertices, ball.faces, batched_scales=BALL * size, **look)
        self._clock, self._said, self._lag = (0.0, 0.0), 0.0, 1.0
        stage.tickers.append(self.tick)

    def start(self) -> None:
        posing = self.sliders.posing
        if self.session is None or not np.array_equal(self.session.q, posing.q) or self.session.t != posing.t:
            self.session = Session(posing.model, posing.q, t=posing.t, values=posing.values)
        self._words.content = "compiling …"
        self.session.advance(1e-4)  # compiles; the clock starts after it
        self.running, self._clock = True, (now(), self.session.t)
        self._button.label = "stop"
        self.sliders.enable(False)
        self.nodes.on_drag(self._dragged)

    def stop(self) -> None:
        """The sliders go on from here; a start without moving them goes on with the speeds it had."""
        if self.session is None:
            return
        self.running = False
        self._button.label = "simulate"
        self.session.release()
        self._draw_hand()
        self.nodes.off_drag()
        self.sliders.posing.take(self.session.q, self.session.t)
        self.sliders.enable(True)
        self.sliders.draw()
        self._words.content = self._in_words()

    def tick(self, wall: float) -> bool:
        if not self.running or self.session is None:
            return False
        begun, t0 = self._clock
        behind = t0 + (wall - begun) - self.session.t
        step = min(behind, LONGEST)
        if behind > 4.0 * LONGEST:  # slower than real time: it does not try to catch up
            self._clock = (wall, self.session.t + step)
        if step > 1e-5:
            try:
                self.session.advance(step)
            except SharnirError:
                self.stop()
                raise
        self._lag += 0.05 * (min(1.0, step / max(now() - wall, 1e-6)) - self._lag)
        self.nodes.place(self.session.t, self.session.q, *self.session.poses())
        self.stage.moved()
        self._draw_hand()
        if now() - self._said > WORDS:
            self._said = now()
            self.sliders.posing.take(self.session.q, self.session.t)
            self.sliders.show_values()
            self._words.content = self._in_words()
        return True

    # --- the hand -------------------------------------------------------------------------------------------------------------
    def _dragged(self, phase: str, body: int, grip: FloatArray, pointer: FloatArray) -> None:
        self.stage.post(("drag", phase), lambda: self._pull(phase, body, grip, pointer))

    def _pull(self, phase: str, body: int, grip: FloatArray, pointer: FloatArray) -> None:
        s = self.session
        if s is not None and phase == "end":
            s.release()
            self._draw_hand()
        elif s is not None and self.running and phase == "update":
            s.move(pointer)
        elif s is not None and self.running and body < len(s.model.bodies):
            R, r = s.poses()
            name, local = s.model.bodies[body].name, R[body].T @ (grip - r[body])
            s.grip(Hand(name, local, pointer, float(self._strength.value)))
            s.advance(1e-5)  # compiles, the first time
            self._clock = (now(), s.t)

    def _draw_hand(self) -> None:
        hand, grip = (None, None) if self.session is None else (self.session.hand, self.session.grip_point())
        if hand is not None and grip is not None:
            way = (hand.at - grip)[None]
            length, width = np.linalg.norm(way, axis=1), WIDTH * self.nodes.scene.size
            self._spring.batched_positions = grip[None].astype(np.float32)
            self._spring.batched_wxyzs = turns_from_z(way, length).astype(np.float32)
            self._spring.batched_scales = np.array([[width, width, max(float(length[0]), 1e-9)]], dtype=np.float32)
            self._ball.batched_positions = hand.at[None].astype(np.float32)
        if self._spring.visible != (hand is not None):
            self._spring.visible = self._ball.visible = hand is not None

    def _in_words(self) -> str:
        assert self.session is not None
        s, account = self.session, self.session.account
        pace = "in real time" if self._lag > 0.9 else f"at {self._lag:.2f} × real time"
        pull = f"  \npulls {s.hand.body} with {s.force():.3g} N" if s.hand is not None else ""
        work = f"  \nwork of the hand {account.hand:.3g} J, unexplained {account.defect:.1g} J" if account.hand else ""
        return f"t = {s.t:.2f} s, {pace}  \nenergy {account.now:.4g} J{pull}{work}"
