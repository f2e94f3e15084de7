"""The tab of the model: tree with masses, mobility, import report, parameters, what is drawn."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from .texts import import_text, model_text

if TYPE_CHECKING:
    from .page import StudioPage

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
