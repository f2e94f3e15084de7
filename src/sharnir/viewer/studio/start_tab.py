"""The tab of the start: sliders for the position, numbers for the speeds."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from time import perf_counter as now
from typing import TYPE_CHECKING, Any

import numpy as np

from ...errors import SharnirError
from ..build import scene_of
from ..live.live_stage import ASPECT
from ..live.nodes import SceneNodes
from ..live.posing import Posing
from ..live.posing_gui import PosingPanel
from ..live.view import ROOM

if TYPE_CHECKING:
    from .page import StudioPage

MOST = 40
"""Speeds that are shown at once; of more, those of the first joints."""


class StartSliders(PosingPanel):
    """Sliders that pause the playback when they move the mechanism."""

    page: StudioPage | None = None

    def draw(self, sliders: bool = True) -> None:
        playback = self.page.playback if self.page is not None else None
        if playback is not None and playback.clock.playing:
            playback.clock.pause(now())
        super().draw(sliders)


class StartTab:
    def __init__(self, page: StudioPage) -> None:
        self.page = page
        self.sliders: StartSliders | None = None

    def fill(self) -> None:
        """Show the model at its start, with the parameters as edited; an edited position of the sliders is kept."""
        page, work = self.page, self.page.work
        self.take()
        said = ""
        try:
            q: Any = work.start()
        except SharnirError as error:
            q, said = work.pose, str(error)
        t = float(work.file_settings.get("t0", 0.0))
        scene = scene_of(work.model.with_parameters(work.values) if work.values else work.model, None, q, t)
        page.stage.clear()
        page.playback, page.stage.aspect = None, ASPECT
        nodes = page.stage.add(scene, room=ROOM)
        self._position(Posing(work.model, q, t, scene.size, work.values or None), nodes)
        self._speeds()
        if said or scene.notes:
            page.say(*dict.fromkeys(([said] if said else []) + list(scene.notes)), bad=bool(said))

    def take(self) -> None:
        """Copy the position of the sliders into the workspace if it was edited."""
        if self.sliders is not None and self.sliders.posing.model is self.page.work.model:
            posing = self.sliders.posing
            if not np.array_equal(posing.q, posing.start[0]):
                self.page.work.pose = posing.q.copy()

    def draw_on(self, nodes: SceneNodes) -> None:
        """Let the sliders move these nodes from now on."""
        if self.sliders is not None:
            self.sliders.nodes = nodes

    def _position(self, posing: Posing, nodes: SceneNodes) -> None:
        page = self.page
        with page.section("Start", "position", 1):
            self.sliders = StartSliders(page.stage, posing, nodes)
            self.sliders.page = page
            if posing.message:
                page.stage.say(posing.message)
            back = page.gui.add_button("As the file has it", hint="position, speeds, parameters and options")
            page.on_click(back, self._back)

    def _speeds(self) -> None:
        page, model, work = self.page, self.page.work.model, self.page.work
        v = work.start_speeds()
        with page.section("Start", "speeds", 2, expanded=bool(v.any())):
            shown = 0
            for joint in model.joints:
                place = model.v_slice(joint.name)
                if place.stop == place.start or shown >= MOST or joint.follows:
                    continue
                shown += place.stop - place.start
                named = zip(model.v_names[place], v[place], strict=True)
                boxes = [page.gui.add_number(label, float(x), hint="in SI units, at the start") for label, x in named]
                for box in boxes:
                    page.on(box, partial(self._set_speed, joint.name, boxes))
            if shown < model.nv:
                page.gui.add_text("others", f"{model.nv - shown} more: as the file has them", disabled=True)

    def _set_speed(self, joint: str, boxes: Sequence[Any], _: float) -> None:
        self.page.work.set_speeds(joint, [float(box.value) for box in boxes])

    def _back(self) -> None:
        self.page.work.reset()
        self.sliders = None
        self.page.opened()
