"""The tabs of files, of the model (tree, mobility, import report, parameters, layers) and of the start."""

from __future__ import annotations

from functools import partial
from time import perf_counter as now
from typing import TYPE_CHECKING, Any

import numpy as np

from ...errors import SharnirError, StateError
from ...reporting.formats import plural
from ..build import scene_of
from ..live.live_stage import ASPECT
from ..live.model_gui import PosingPanel
from ..live.posing import Posing
from ..live.view import ROOM
from .texts import import_text, model_text, sentences

if TYPE_CHECKING:
    from .studio import StudioPage

# --- the tab that opens files of the folder, and takes uploads
NONE = "–"
"""Entry of the list of files where nothing is chosen."""


class OpenTab:
    def __init__(self, page: StudioPage) -> None:
        self.page = page
        gui = page.gui
        with page.section("Open", "files"):
            self._where = gui.add_html("")
            self._files = gui.add_dropdown("file", (NONE,), hint="models and results in the folder")
            again = gui.add_button("Read again", hint="the file as it is on the disk now; the list of files, too")
            upload = gui.add_upload_button("Upload a model or a result", hint="into the folder; it takes the place of nothing")
        page.on(self._files, lambda name: self.open(name) if name != NONE else None)
        page.on_click(again, self._again)
        upload.on_upload(lambda event: page.stage.post("upload", lambda: page.guarded(lambda: self._upload(event.target.value))))
        self.refresh()

    def refresh(self) -> None:
        folder = self.page.work.folder
        found, name = folder.listing(), self.page.work.opened.name if self.page.work.opened else NONE
        names = tuple(dict.fromkeys([NONE, *found.models, *found.results, name]))
        self._files.options = names
        self._files.value = name
        count = f"{plural(len(found.models), 'model')}, {plural(len(found.results), 'result')}{' and more' if found.more else ''}"
        self._where.content = sentences([str(folder.path), count], "soft")

    def open(self, name: str) -> None:
        try:
            self.page.job(f"open {name}", lambda: self._read(name), self._show)
        except StateError:  # another job runs: what is open stays open, and the list shows it
            self.refresh()
            raise

    def _read(self, name: str) -> str:
        """Open a file on the thread of jobs: a large model takes a while."""
        self.page.work.open(name)
        return self.page.work.mobility()

    def _show(self, mobility: str) -> None:
        self.refresh()
        self.page.model_tab.mobility = mobility
        self.page.opened()

    def _again(self) -> None:
        self.refresh()
        if self.page.work.opened is not None:
            self.open(self.page.work.opened.name)

    def _upload(self, file: Any) -> None:
        name = self.page.work.folder.put(file.name, file.content)
        self.refresh()
        self.open(name)


# --- the tab of the model
MOST = 60
"""Parameters that are shown at once."""


class ModelTab:
    def __init__(self, page: StudioPage) -> None:
        self.page, self.mobility = page, ""

    def fill(self) -> None:
        page, gui = self.page, self.page.gui
        assert page.work.opened is not None
        with page.section("Model", "mechanism", 1):
            gui.add_html(model_text(page.work.opened, self.mobility))
        with page.section("Model", "import report", 3, expanded=False):
            gui.add_html(import_text(page.work.model))
        self._parameters()
        self.fill_drawing()

    def fill_drawing(self) -> None:
        """Switches of layers and the camera: they belong to the scene that is drawn."""
        with self.page.section("Model", "drawing", 4, expanded=False):
            self.page.stage.add_layers()
            self.page.stage.add_camera()

    def _parameters(self) -> None:
        page, gui, work = self.page, self.page.gui, self.page.work
        with page.section("Model", "parameters", 2, expanded=bool(work.values)):
            for name, value in list(work.values.items())[:MOST]:
                box = gui.add_number(name, value, hint=f"{work.model.parameters[name]:g} in the file")
                page.on(box, partial(self._set, name))
            if len(work.values) > MOST:
                gui.add_text("others", f"{len(work.values) - MOST} more: see the file", disabled=True)
            path = gui.add_text("a number of the model", "", hint="by its path, such as link3.mass or spring.stiffness")
            page.on_click(gui.add_button("Make it a parameter"), lambda: self._make(path.value))

    def _set(self, name: str, value: float) -> None:
        self.page.work.set_parameter(name, value)
        self.page.start_tab.fill()

    def _make(self, path: str) -> None:
        self.page.start_tab.take()
        name = self.page.work.make_parameter(path.strip())
        self._parameters()
        self.page.start_tab.fill()
        self.page.say(f"{name} can be edited now, for this session; the file stays as it is")


# --- the tab of the start: sliders for the position, numbers for the speeds
FEW = 40
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
        q, said = work.pose, ""
        try:
            q = work.start()
        except SharnirError as error:
            said = str(error)
        t = float(work.file_settings.get("t0", 0.0))
        scene = scene_of(work.model.with_parameters(work.values) if work.values else work.model, None, q, t)
        page.stage.clear()
        page.playback, page.stage.aspect = None, ASPECT
        nodes = page.stage.add(scene, room=ROOM)
        posing = Posing(work.model, q, t, scene.size, work.values or None)
        with page.section("Start", "position", 1):
            self.sliders = StartSliders(page.stage, posing, nodes)
            self.sliders.page = page
            if posing.message:
                page.stage.say(posing.message)
            back = page.gui.add_button("As the file has it", hint="position, speeds, parameters and options")
            page.on_click(back, self._back)
        self._speeds()
        if said or scene.notes:
            page.say(*dict.fromkeys(([said] if said else []) + list(scene.notes)), bad=bool(said))

    def take(self) -> None:
        """Copy the position of the sliders into the workspace if it was edited."""
        if self.sliders is not None and self.sliders.posing.model is self.page.work.model:
            posing = self.sliders.posing
            if not np.array_equal(posing.q, posing.start[0]):
                self.page.work.pose = posing.q.copy()

    def _speeds(self) -> None:
        page, model, work = self.page, self.page.work.model, self.page.work
        v = work.start_speeds()
        with page.section("Start", "speeds", 2, expanded=bool(v.any())):
            shown = 0
            for joint in model.joints:
                place = model.v_slice(joint.name)
                if place.stop == place.start or shown >= FEW or joint.follows:
                    continue
                shown += place.stop - place.start
                named = zip(model.v_names[place], v[place], strict=True)
                boxes = [page.gui.add_number(label, float(x), hint="in SI units, at the start") for label, x in named]
                for box in boxes:
                    page.on(box, partial(self._set_speeds, joint.name, boxes))
            if shown < model.nv:
                page.gui.add_text("others", f"{model.nv - shown} more: as the file has them", disabled=True)

    def _set_speeds(self, joint: str, boxes: list[Any], _: float) -> None:
        self.page.work.set_speeds(joint, [float(box.value) for box in boxes])

    def _back(self) -> None:
        self.page.work.reset()
        self.sliders = None
        self.page.opened()
