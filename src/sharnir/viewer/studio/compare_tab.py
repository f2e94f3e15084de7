"""The tab that compares all methods for the model."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .texts import block, comparison_text, paragraphs
from .workspace import BUDGET, COMPARISON

if TYPE_CHECKING:
    from .page import StudioPage


class CompareTab:
    def __init__(self, page: StudioPage) -> None:
        self.page = page

    def fill(self) -> None:
        page, gui = self.page, self.page.gui
        with page.section("Compare", "methods", 1):
            words = f"Every method on every backend: agreement, operations, time. It takes up to {BUDGET:g} s."
            gui.add_html(block(paragraphs([words], "soft")))
            go = gui.add_button("Compare")
        page.remove_section("Compare", "measured")
        page.on_click(go, lambda: page.job("comparison", page.work.compare, lambda _: self._show()))

    def _show(self) -> None:
        page, c = self.page, self.page.work.comparison
        assert c is not None
        with page.section("Compare", "measured", 2):
            page.gui.add_html(comparison_text(c))
            load = page.gui.add_button("Download as a page")
            keep = page.gui.add_button("Save in the folder")
        page.on_click(load, lambda: page.run_tab.download(COMPARISON))
        page.on_click(keep, lambda: page.run_tab.keep(COMPARISON))
