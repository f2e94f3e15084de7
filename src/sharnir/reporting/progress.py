"""The progress bar of everything that may take a while."""

from __future__ import annotations

import sys
from time import perf_counter
from types import TracebackType
from typing import TYPE_CHECKING

from ..types import truth

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

DELAY = 1.0
"""Seconds before the bar appears: short runs show none, and do not import rich."""


class ProgressBar:
    """A bar on stderr from `start` to `end`; `update` is cheap as long as nothing is shown.

    shown   True, False, or None: where stderr is a terminal
    label   format of the value beside the title, for updates that give no detail of their own
    """

    def __init__(self, shown: bool | None, title: str, end: float, start: float = 0.0, label: str = "") -> None:
        self.shown = sys.stderr.isatty() if shown is None else truth(shown, "progress")
        self.title, self.start, self.end, self.label = title, start, end, label
        self._begun = perf_counter()
        self._bar: tuple[Progress, TaskID] | None = None

    def __enter__(self) -> ProgressBar:
        return self

    def update(self, value: float, detail: str = "") -> None:
        if not self.shown or perf_counter() - self._begun < DELAY:
            return
        from rich.markup import escape

        bar, task = self._bar = self._bar or self._open()
        text = ", ".join(part for part in (self.title, detail or self.label.format(value)) if part)
        bar.update(task, completed=abs(value - self.start), description=escape(text))
        bar.refresh()

    def _open(self) -> tuple[Progress, TaskID]:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

        columns = (TextColumn("{task.description}"), BarColumn(bar_width=30), TaskProgressColumn(), TimeRemainingColumn())
        # refreshed by `update` alone: a thread of its own would disturb what is being timed
        bar = Progress(*columns, console=Console(stderr=True), transient=True, auto_refresh=False)
        bar.start()
        return bar, bar.add_task("", total=abs(self.end - self.start))

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if self._bar is not None:
            self._bar[0].stop()
