"""The tabs of files, of the model (tree, mobility, import report, parameters, layers) and of the comparison."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from ...errors import StateError
from ...reporting.formats import plural
from .texts import comparison_text, import_text, model_text, sentences
from .workspace import BUDGET, COMPARISON

if TYPE_CHECKING:
    from .page import StudioPage


# --- the tab that compares all methods for the model
class CompareTab:
    def __init__(self, page: StudioPage) -> None:
        self.page = page

    def fill(self) -> None:
        page, gui = self.page, self.page.gui
        with page.section("Compare", "methods", 1):
            words = f"Every method on every backend: agreement, operations, time. It takes up to {BUDGET:g} s."
            gui.add_html(sentences([words], "soft"))
            go = gui.add_button("Compare")
        page.remove_section("Compare", "measured")
        page.on_click(go, lambda: page.job("comparison", page.work.compare, lambda _: self._show()))

    def _show(self) -> None:
        page, c = self.page, self.page.work.comparison
        assert c is not None
        with page.section("Compare", "measured", 2):
            page.gui.add_html(comparison_text(c))
            page.run_tab.add_buttons("Download as a page", lambda: COMPARISON)


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
        """Update the list of files, and which is open."""
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
        opened = self.page.work.opened
        self.refresh()
        if opened is not None:
            self.open(opened.name)

    def _upload(self, file: Any) -> None:
        name = self.page.work.folder.put(file.name, file.content)
        self.refresh()
        self.open(name)


# --- tabs
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
