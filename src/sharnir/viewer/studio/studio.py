"""`sharnir studio`: folder, server and page (messages at the top, tabs below, plots in a panel of their own); `Jobs`, long work.

Callbacks of the browser only post jobs: everything here runs on the thread of the stage, long work on that of `Jobs`.
"""

from __future__ import annotations

import secrets
import sys
import threading
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

from ...errors import SharnirError, StateError, brief
from ...io.paths import kept_within, package_root
from ...reporting.atomic_write import file_path
from ...reporting.progress import progress_listener
from ...types import FilePath
from ..live.live_stage import Stage
from ..live.motion_gui import PlaybackPanel
from ..server import Server
from .folder import Folder, check_suffix, words
from .run_tab import CompareTab, RunTab
from .tabs import ModelTab, OpenTab, StartTab
from .texts import sentences
from .workspace import Workspace

# --- long work: one job at a time, in a thread of its own
T = TypeVar("T")


@dataclass(frozen=True)
class Progress:
    """State of a job as the page shows it."""

    title: str = ""
    running: bool = False
    stopping: bool = False
    share: float = 0.0
    detail: str = ""
    error: str = ""
    """Why the last job failed; until the next one begins."""
    warnings: tuple[str, ...] = ()


class Jobs:
    """One job at a time. `changed` is called, from any thread, whenever `progress` changes."""

    def __init__(self, changed: Callable[[Progress], None]) -> None:
        self._changed, self._lock = changed, threading.Lock()
        self._thread: threading.Thread | None = None
        self.progress = Progress()

    def start(self, title: str, work: Callable[[], T], done: Callable[[T], None]) -> None:
        """`work` in a thread; what it returns goes to `done`, in the same thread."""
        with self._lock:
            if self.progress.running:
                raise StateError(f"{self.progress.title} is still running; wait for it or stop it, then start {title}")
            self.progress = Progress(title, running=True)
        self._changed(self.progress)
        self._thread = threading.Thread(target=self._run, args=(work, done), name=f"studio: {title}", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """The job ends at its next sign of progress, as by Ctrl-C; what it has computed is its result."""
        if self.progress.running:
            self._set(stopping=True)

    def wait(self, seconds: float | None = None) -> None:
        if self._thread is not None:
            self._thread.join(seconds)

    def _set(self, **changes: object) -> None:
        with self._lock:
            self.progress = replace(self.progress, **changes)  # type: ignore[arg-type]
        self._changed(self.progress)

    def _listen(self, share: float, detail: str) -> None:
        if self.progress.stopping:
            raise KeyboardInterrupt
        self._set(share=min(max(share, 0.0), 1.0), detail=detail)

    def _run(self, work: Callable[[], T], done: Callable[[T], None]) -> None:
        error = ""
        with warnings.catch_warnings(record=True) as caught:  # of one job at a time: the list is its own
            warnings.simplefilter("always")
            try:
                with progress_listener(self._listen):
                    found = work()
                done(found)
            except KeyboardInterrupt:
                error = f"{self.progress.title} was stopped before there was anything to keep"
            except BaseException as failure:
                error = words(failure)
                if not isinstance(failure, (SharnirError, OSError)):
                    traceback.print_exc(file=sys.stderr)
        said = tuple(dict.fromkeys(str(w.message) for w in caught if issubclass(w.category, (RuntimeWarning, UserWarning))))
        self._set(running=False, stopping=False, share=1.0, detail="", error=error, warnings=said)


# --- the page and its server
TABS = ("Open", "Model", "Start", "Run", "Compare")
PLOTS = 340
"""Pixels of the panel of plots."""


class StudioPage:
    def __init__(self, stage: Stage, workspace: Workspace) -> None:
        self.stage, self.work = stage, workspace
        self.gui = gui = stage.viser.gui
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
        for tab in (self.start_tab, self.model_tab, self.run_tab, self.compare_tab):
            tab.fill()
        if self.work.result is not None and len(self.work.result):
            self.run_tab.show()


class Studio:
    """A studio that runs until `stop`."""

    def __init__(
        self, file: FilePath | None = None, folder: FilePath | None = None, host: str = "127.0.0.1", port: int | None = None,
        token: str | None = None,
    ) -> None:  # fmt: skip
        if folder is None:  # the current one; for a file elsewhere, its package: meshes are often in a folder beside it
            here = Path.cwd()
            path = here.resolve() if file is None else (here / file_path(file)).resolve()
            folder = here if path.is_relative_to(here.resolve()) else package_root(path.parent)
        place = Folder(folder)
        name = None if file is None else place.inside(Path.cwd() / file_path(file)).relative_to(place.path).as_posix()
        if name is not None:
            if not (place.path / name).is_file():
                raise StateError(f"there is no file {brief(str(file))}")
            check_suffix(place.path / name)
        self.folder = place
        # a token on the loopback address too: it is that of all users of this machine, and a studio writes files
        self.stage = Stage(Server(host, port, token or secrets.token_urlsafe(16), "sharnir studio"))
        try:
            self.page = StudioPage(self.stage, Workspace(place))
            self.page.plots.dock_left()
            self.page.plots.set_width(PLOTS)
            self.stage.start()
        except BaseException:
            self.stop()
            raise
        if name is not None:
            self.stage.post("open", lambda: self.page.guarded(lambda: self.page.open_tab.open(name)))

    @property
    def url(self) -> str:
        return self.stage.server.url

    def stop(self) -> None:
        if hasattr(self, "page"):
            self.page.jobs.stop()
        self.stage.stop()
