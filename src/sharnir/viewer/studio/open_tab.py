"""The tab that opens files of the folder, and takes uploads."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...errors import StateError
from ...reporting.formats import plural
from .texts import block, paragraphs

if TYPE_CHECKING:
    from .page import StudioPage

NONE = "–"
"""In the list of files, where nothing is chosen."""


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
        """The list, and what is open."""
        folder = self.page.work.folder
        found, name = folder.listing(), self.page.work.opened.name if self.page.work.opened else NONE
        names = tuple(dict.fromkeys([NONE, *found.models, *found.results, name]))
        self._files.options = names
        self._files.value = name
        count = f"{plural(len(found.models), 'model')}, {plural(len(found.results), 'result')}{' and more' if found.more else ''}"
        self._where.content = block(paragraphs([str(folder.path), count], "soft"))

    def open(self, name: str) -> None:
        try:
            self.page.job(f"open {name}", lambda: self._read(name), self._show)
        except StateError:  # another job runs: what is open stays open, and the list shows it
            self.refresh()
            raise

    def _read(self, name: str) -> str:
        """On the thread of jobs: a large model takes a while."""
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
