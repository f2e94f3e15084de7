"""The frame of the studio's page: progress and messages at the top, tabs below, plots in a panel of their own.

Callbacks of the browser only post jobs: everything here runs on the thread of the stage, long work on that of `Jobs`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from ...io.paths import kept_within
from ..live.live_stage import Stage
from ..live.playback_gui import PlaybackPanel
from .folder import words
from .jobs import Jobs, Progress
from .run_tab import RunTab
from .start_tab import StartTab
from .tabs import CompareTab, ModelTab, OpenTab
from .texts import sentences
from .workspace import Workspace

T = TypeVar("T")
TABS = ("Open", "Model", "Start", "Run", "Compare")
PLOTS = 340
"""Pixels of the panel of plots."""


class StudioPage:
    def __init__(self, stage: Stage, workspace: Workspace) -> None:
        self.stage, self.work, gui = stage, workspace, stage.viser.gui
        self.gui = gui
        self.playback: PlaybackPanel | None = None
        self.jobs = Jobs(lambda progress: stage.post("progress", lambda: self._show(progress)))
        self._sections: dict[tuple[str, str], Any] = {}
        self._notice = gui.add_html("", visible=False)
        self._doing = gui.add_html("", visible=False)
        self._bar = gui.add_progress_bar(0.0, visible=False, animated=True)
        self._stop = gui.add_button("Stop", color="red", visible=False, hint="what was computed until then stays")
        self._stop.on_click(lambda _: self.jobs.stop())
        stage.add_status()
        tabs = gui.add_tab_group()
        self._tabs = {name: tabs.add_tab(name) for name in TABS}
        self.plots = gui.add_panel(visible=False)
        self.plots_tab = self.plots.add_tab("Plots")
        self.open_tab, self.model_tab, self.start_tab = OpenTab(self), ModelTab(self), StartTab(self)
        self.run_tab, self.compare_tab = RunTab(self), CompareTab(self)
        for name in TABS[1:]:
            with self.section(name, "nothing is open"):
                gui.add_html(sentences(["Choose a file under Open, or upload one."], "soft"))

    # --- parts of the page -----------------------------------------------------------------------------------------------------
    @contextmanager
    def section(self, tab: str, label: str, order: float = 0.0, expanded: bool = True) -> Iterator[Any]:
        """A folder of a tab in place of the one of that name."""
        self.remove_section(tab, label)
        with self._tabs[tab]:
            folder = self.gui.add_folder(label, order=order, expand_by_default=expanded)
        self._sections[tab, label] = folder
        with folder:
            yield folder

    def remove_section(self, tab: str, label: str) -> None:
        if (tab, label) in self._sections:
            self._sections.pop((tab, label)).remove()

    def on(self, handle: Any, call: Callable[[Any], None], key: str = "input") -> None:
        """Run `call` with the value of an input whenever a user has changed it."""
        self.stage.on(handle, (key, id(handle)), lambda value: self.guarded(lambda: call(value)))

    def on_click(self, button: Any, call: Callable[[], None]) -> None:
        button.on_click(lambda _: self.stage.post(("click", id(button)), lambda: self.guarded(call)))

    # --- words and work -------------------------------------------------------------------------------------------------------
    def guarded(self, call: Callable[[], None]) -> None:
        """Call it; an error is shown on the page. Files that it reads are confined to the folder."""
        try:
            with kept_within(self.work.folder.path):
                call()
        except Exception as error:
            self.say(words(error), bad=True)

    def say(self, *lines: str, bad: bool = False) -> None:
        """Show lines at the top of the page, until the next ones."""
        self._notice.content = sentences(lines, "bad" if bad else "")
        self._notice.visible = any(lines)

    def job(self, title: str, work: Callable[[], T], done: Callable[[T], None]) -> None:
        """Run long work as a job; `done` with its result runs here again. A second job at a time is refused with a message."""

        def confined() -> T:
            with kept_within(self.work.folder.path):
                return work()

        def ended(found: T) -> None:
            self.stage.post(("done", title), lambda: self.guarded(lambda: done(found)))

        self.say()
        self.jobs.start(title, confined, ended)

    def _show(self, progress: Progress) -> None:
        known = progress.share > 0.0
        self._bar.visible = self._doing.visible = self._stop.visible = progress.running
        self._bar.value = 100.0 * progress.share if known else 100.0
        self._bar.animated = not known
        detail = "stopping …" if progress.stopping else progress.detail or "preparing …"
        self._doing.content = sentences([f"{progress.title}: {detail}"])
        self._stop.disabled = progress.stopping
        if progress.error:
            self.open_tab.refresh()  # a file that could not be opened is not the one that is open
        if not progress.running and (progress.error or progress.warnings):
            self.say(*([progress.error] if progress.error else []), *progress.warnings, bad=True)

    def opened(self) -> None:
        """Fill the page anew, for the file that is open."""
        for name in TABS:
            self.remove_section(name, "nothing is open")
        self.playback = None
        self.plots.visible = False
        self.start_tab.fill()
        self.model_tab.fill()
        self.run_tab.fill()
        self.compare_tab.fill()
        if self.work.result is not None and len(self.work.result):
            self.run_tab.show()
