"""A running simulation in the browser: a button, a hand that drags bodies, its state in words."""

from __future__ import annotations

from time import perf_counter as now
from typing import Any

import numpy as np

from ...errors import SharnirError
from ...types import FloatArray
from ..solids import sphere, spring
from .batches import turns_from_z
from .live_stage import Stage
from .nodes import SceneNodes
from .posing_gui import PosingPanel
from .pulling import Hand
from .session import Session

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
        self._button.on_click(lambda _: stage.post("simulate", self.toggle))
        self._strength = gui.add_slider("pull", 0.1, 10.0, 0.1, 1.0, hint="how hard: 1 moves the whole mechanism")
        self._words = gui.add_markdown("Simulate, then drag a body: a spring pulls it to the pointer.")
        self._spring, self._ball = self._make_hand()
        self._clock, self._said, self._lag = (0.0, 0.0), 0.0, 1.0
        stage.tickers.append(self.tick)

    def toggle(self) -> None:
        self.stop() if self.running else self.start()

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
        spent = max(now() - wall, 1e-6)
        self._lag += 0.05 * (min(1.0, step / spent) - self._lag)
        self.draw()
        return True

    def draw(self) -> None:
        assert self.session is not None
        self.nodes.place(self.session.t, self.session.q, *self.session.poses())
        self.stage.moved()
        self._draw_hand()
        if now() - self._said > WORDS:
            self._said = now()
            self.sliders.posing.take(self.session.q, self.session.t)
            self.sliders.show_values()
            self._words.content = self._in_words()

    # --- the hand -------------------------------------------------------------------------------------------------------------
    def _dragged(self, phase: str, body: int, grip: FloatArray, pointer: FloatArray) -> None:
        jobs = {"start": lambda: self._grip(body, grip, pointer), "update": lambda: self._pull(pointer), "end": self._release}
        self.stage.post(("drag", phase), jobs[phase])

    def _grip(self, body: int, grip: FloatArray, pointer: FloatArray) -> None:
        if self.session is None or not self.running or body >= len(self.session.model.bodies):
            return
        R, r = self.session.poses()
        local = R[body].T @ (grip - r[body])
        name = self.session.model.bodies[body].name
        self.session.grip(Hand(name, local, pointer, float(self._strength.value)))
        self.session.advance(1e-5)  # compiles, the first time
        self._clock = (now(), self.session.t)

    def _pull(self, pointer: FloatArray) -> None:
        if self.session is not None and self.running:
            self.session.move(pointer)

    def _release(self) -> None:
        if self.session is not None:
            self.session.release()
            self._draw_hand()

    def _make_hand(self) -> tuple[Any, Any]:
        scene, size = self.stage.viser.scene, self.nodes.scene.size
        at = {"batched_wxyzs": np.array([[1.0, 0.0, 0.0, 0.0]]), "batched_positions": np.zeros((1, 3))}
        look = {"batched_colors": HAND, "side": "double", "lod": "off", "visible": False}
        spring_node, ball_node = (
            scene.add_batched_meshes_simple(
                f"/hand/{name}", g.vertices, g.faces, batched_scales=np.full((1, 3), r * size), **at, **look
            )
            for name, g, r in (("spring", spring(), WIDTH), ("ball", sphere(16), BALL))
        )
        return spring_node, ball_node

    def _draw_hand(self) -> None:
        hand = self.session.hand if self.session is not None else None
        grip = self.session.grip_point() if self.session is not None else None
        shown = hand is not None and grip is not None
        if hand is not None and grip is not None:
            way = (hand.at - grip)[None]
            length, width = np.linalg.norm(way, axis=1), WIDTH * self.nodes.scene.size
            self._spring.batched_positions = grip[None].astype(np.float32)
            self._spring.batched_wxyzs = turns_from_z(way, length).astype(np.float32)
            self._spring.batched_scales = np.array([[width, width, max(float(length[0]), 1e-9)]], dtype=np.float32)
            self._ball.batched_positions = hand.at[None].astype(np.float32)
        if self._spring.visible != shown:
            self._spring.visible = self._ball.visible = shown

    def _in_words(self) -> str:
        assert self.session is not None
        s, account = self.session, self.session.account
        pace = "in real time" if self._lag > 0.9 else f"at {self._lag:.2f} × real time"
        pull = f"  \npulls {s.hand.body} with {s.force():.3g} N" if s.hand is not None else ""
        work = f"  \nwork of the hand {account.hand:.3g} J, unexplained {account.defect:.1g} J" if account.hand else ""
        return f"t = {s.t:.2f} s, {pace}  \nenergy {account.now:.4g} J{pull}{work}"
