"""Common ground of the view and the studio: server, the thread that owns all state, the scenes drawn, layers, the camera.

Callbacks of the browser come from many threads, in any order, and only post jobs to the one thread that does everything. Of jobs
with one key that wait (a slider that is dragged), only the last is done.
"""

from __future__ import annotations

import threading
import time
import traceback
from collections.abc import Callable, Hashable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from ...errors import SharnirError
from ...types import FloatArray
from ..scene import LAYERS, Colour, Scene, camera_for
from ..server import Server
from .nodes import SceneNodes

FRAME = 1.0 / 60.0
PHONE, FREE = 0.65, 0.58
"""Width over height of a window so narrow that its panel lies over the scene, at the bottom; the share that it leaves free."""


class Worker:
    """The thread of a stage: `post` leaves a job; `tick(now)` is called every frame while it returns True. Errors go to `say`."""

    def __init__(self, tick: Callable[[float], bool], say: Callable[[str], None]) -> None:
        self._tick, self._say = tick, say
        self._jobs: dict[Hashable, Callable[[], None]] = {}
        self._wake, self._stopped = threading.Condition(), False
        self._idle = threading.Event()
        self._thread = threading.Thread(target=self._run, name="sharnir view", daemon=True)
        self.start = self._thread.start

    def post(self, key: Hashable, job: Callable[[], None]) -> None:
        """Add a job, in place of one with the same key that has not begun."""
        with self._wake:
            self._jobs.pop(key, None)
            self._jobs[key] = job
            self._idle.clear()
            self._wake.notify()

    def finish(self, timeout: float = 10.0) -> bool:
        """Wait until nothing is left to do."""
        return self._idle.wait(timeout)

    def stop(self) -> None:
        with self._wake:
            self._stopped = True
            self._wake.notify()
        if self._thread.is_alive() and threading.current_thread() is not self._thread:
            self._thread.join(5.0)

    def _run(self) -> None:
        active = False
        while True:
            begun = time.perf_counter()
            with self._wake:
                while not self._jobs and not active and not self._stopped:
                    self._idle.set()
                    self._wake.wait()
                if self._stopped:
                    return
                jobs, self._jobs = self._jobs, {}
            for job in jobs.values():
                self._guarded(job)
            active = bool(self._guarded(lambda: self._tick(time.perf_counter())))
            with self._wake:
                if not self._jobs and not active:
                    self._idle.set()
            if active:  # something plays: a frame, and no longer; jobs wait for it
                time.sleep(max(0.0, FRAME - (time.perf_counter() - begun)))

    def _guarded(self, job: Callable[[], object]) -> object:
        try:
            return job()
        except SharnirError as error:
            self._say(str(error))
        except Exception as error:
            traceback.print_exc()
            self._say(f"{type(error).__name__}: {error}")
        return None


Ticker = Callable[[float], bool]
"""Called every frame with the wall-clock time; True while it has more to do."""
ASPECT = 1.1
"""Width over height of a window beside the control panel."""
SKY, LAMP = 1.6, 2.0
"""Intensity of light from all sides, and of the lamp behind the viewer's shoulder."""


class Stage:
    """Scenes in the browser: `add` draws one. All below runs on the thread of `worker`: callbacks of the browser use `post`."""

    def __init__(self, server: Server) -> None:
        self.server, self.viser, self.aspect = server, server.viser, ASPECT
        self.dark = False
        self.scenes: list[SceneNodes] = []
        self.tickers: list[Ticker] = []
        self.worker = Worker(lambda now: bool(sum(ticker(now) for ticker in list(self.tickers))), self.say)  # all, each time
        self.post, self.start = self.worker.post, self.worker.start
        self._status: Any = None
        self._home: Scene | None = None
        self.viser.on_client_connect(lambda client: self.post(("welcome", client.client_id), lambda: self._welcome(client)))
        self._following: tuple[SceneNodes, int] | None = None
        self._followed: FloatArray = np.zeros(3)

    def stop(self) -> None:
        self.worker.stop()
        self.server.stop()

    def on(self, handle: Any, key: object, call: Callable[[Any], None]) -> None:
        """Post `call` with the value of an input whenever a user, not the program, has changed it."""

        def changed(event: Any) -> None:
            if event.client is not None:
                value = event.target.value
                self.post(key, lambda: call(value))

        handle.on_update(changed)

    # --- scenes -------------------------------------------------------------------------------------------------------------
    def add(self, scene: Scene, tint: Colour | None = None, room: float = 0.0) -> SceneNodes:
        """Draw a scene beside those that are there. `room` around it, in parts of its size: space for later motion."""
        if not self.scenes:
            low, high = scene.low - room * scene.size, scene.high + room * scene.size
            self._home = replace(scene, low=low, high=high, outermost=None if room else scene.outermost)
            self._look_home()
        nodes = SceneNodes(self.viser, scene, f"/scene{len(self.scenes)}", tint)
        self.scenes.append(nodes)
        return nodes

    def clear(self) -> None:
        """Remove all scenes, and whatever was drawn into them: paths, the hand."""
        self.viser.scene.reset()
        self.scenes, self.tickers, self._following = [], [], None

    def empty(self) -> None:
        """Remove the panels too."""
        self.clear()
        self._status = None
        self.viser.gui.reset()

    def _look_home(self) -> None:
        scene = self._home
        assert scene is not None
        camera, up = camera_for(scene, self.aspect), tuple(float(x) for x in scene.up)
        self.viser.scene.set_up_direction(up)
        # neither a photograph of a room as a lamp nor shadows: without a graphics card the first takes half a minute
        self.viser.scene.configure_environment_map(None)
        self.viser.scene.configure_default_lights(enabled=False)  # they bleach colours
        self.viser.scene.add_light_hemisphere("/light/sky", ground_color=(120, 118, 115), intensity=SKY)
        lamp = camera.position + 2.0 * np.linalg.norm(camera.position - camera.target) * scene.up
        self.viser.scene.add_light_directional("/light/lamp", intensity=LAMP, position=tuple(lamp - camera.target))
        clients = [client.camera for client in self.viser.get_clients().values()]
        first = self.viser.initial_camera  # where a new direction up puts all clients once more, after the lines below
        first.position, first.look_at = self._seen(scene, clients[-1].aspect) if clients else (camera.position, camera.target)
        first.up, first.fov = camera.up, float(np.radians(camera.field))
        first.near, first.far = 1e-3 * max(scene.size, 1e-9), 1e3 * max(scene.size, 1e-9)
        for seen in clients:
            seen.up_direction = camera.up
            seen.position, seen.look_at = self._seen(scene, seen.aspect)

    def _welcome(self, client: Any) -> None:
        if self._home is not None:
            client.camera.position, client.camera.look_at = self._seen(self._home, client.camera.aspect)

    def _seen(self, scene: Scene, aspect: float) -> tuple[FloatArray, FloatArray]:
        """Position and target of a camera that shows the whole motion in a window; above the panel of a narrow one."""
        share = FREE if aspect < PHONE else 1.0
        camera = camera_for(scene, aspect / share if share < 1.0 else min(aspect, self.aspect))
        away = (camera.position - camera.target) / share
        target = camera.target - (1.0 - share) * np.linalg.norm(away) * np.tan(np.radians(camera.field) / 2) * camera.axes()[1]
        return target + away, target

    # --- words --------------------------------------------------------------------------------------------------------------
    def add_status(self) -> None:
        """A line for messages, where the next element of the panel would be."""
        self._status = self.viser.gui.add_markdown("", visible=False)

    def say(self, message: str) -> None:
        """Show a message; none clears it."""
        if self._status is not None:
            self._status.content = _plain(message)
            self._status.visible = bool(message)

    def add_notes(self) -> list[str]:
        """Add the scenes' notes where the next elements of the panel would be; and return them."""
        notes = list(dict.fromkeys(note for s in self.scenes for note in s.scene.notes))
        if notes:
            with self.viser.gui.add_folder(f"notes ({len(notes)})", expand_by_default=False):
                for note in notes:
                    self.viser.gui.add_markdown(_plain(note))
        return notes

    # --- layers ---------------------------------------------------------------------------------------------------------------
    def add_layers(self) -> None:
        """A checkbox for every layer that has anything in it, and two for names."""
        gui = self.viser.gui
        there = [name for name in LAYERS if any(name in s.shown for s in self.scenes)]
        for name in there:
            box = gui.add_checkbox(name, any(s.shown.get(name, False) for s in self.scenes), hint=LAYERS[name])
            self.on(box, ("layer", name), partial(self._show, name))
        for kind in ("bodies", "joints"):
            box = gui.add_checkbox(f"names of {kind}", False)
            self.on(box, ("names", kind), partial(self._name, kind))

    def _show(self, name: str, on: bool) -> None:
        for s in self.scenes:
            s.show(name, on)

    def _name(self, kind: str, on: bool) -> None:
        for s in self.scenes[:1]:
            s.label(kind, on)

    # --- camera -------------------------------------------------------------------------------------------------------------
    def add_camera(self) -> None:
        """A choice of the body that the camera follows, and a button that shows everything again."""
        gui, bodies = self.viser.gui, self.scenes[0].scene.choices
        choice = gui.add_dropdown("follow", ("nothing", *bodies), hint="the camera moves with this body")
        self.on(choice, "follow", self._follow)
        gui.add_button("show all").on_click(lambda _: self.post("home", self._look_home))
        dark = gui.add_checkbox("dark page", self.dark, hint="for everybody who looks at it")
        self.on(dark, "dark", self._paint)

    def _paint(self, dark: bool) -> None:
        self.dark = dark
        self.server.paint(dark)

    def _follow(self, body: str) -> None:
        nodes, self._following = self.scenes[0], None
        if body in nodes.scene.bodies:
            i = nodes.scene.bodies.index(body)
            self._following, self._followed = (nodes, i), nodes.position[i].copy()

    def moved(self) -> None:
        """Move the camera with the body it follows; called after the scenes have moved."""
        if self._following is None:
            return
        nodes, i = self._following
        step = nodes.position[i] - self._followed
        if np.linalg.norm(step) > 1e-6 * nodes.scene.size:
            self._followed = nodes.position[i].copy()
            for client in self.viser.get_clients().values():
                client.camera.position = client.camera.position + step  # its target moves with it


def _plain(message: str) -> str:
    """The message as Markdown, in which nothing is markup."""
    return "".join(f"\\{c}" if c in r"\`*_{}[]()#+-!|<>&~$" else c for c in message)
