"""A bar for comparisons that take a while."""

from __future__ import annotations

import sys
from time import perf_counter
from types import TracebackType
from typing import Any

PATIENCE = 1.0
"""Seconds before a bar appears."""


class Bar:
    """Nothing is shown, or even imported, where it is short or nobody looks."""

    def __init__(self, wanted: bool | None, title: str, total: float) -> None:
        self.wanted = sys.stderr.isatty() if wanted is None else wanted
        self.title, self.total = title, total
        self._begun = perf_counter()
        self._bar: Any = None
        self._task: Any = None

    def __enter__(self) -> Bar:
        return self

    def update(self, done: float, doing: str) -> None:
        if not self.wanted or perf_counter() - self._begun < PATIENCE:
            return
        from rich.markup import escape

        if self._bar is None:
            from rich.console import Console
            from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn

            columns = (TextColumn("{task.description}"), BarColumn(bar_width=30), TaskProgressColumn())
            # no thread of its own: it would take time from whoever has a turn
            self._bar = Progress(*columns, console=Console(stderr=True), transient=True, auto_refresh=False)
            self._bar.start()
            self._task = self._bar.add_task("", total=self.total)
        self._bar.update(self._task, completed=done, description=escape(f"{self.title}: {doing}"))
        self._bar.refresh()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if self._bar is not None:
            self._bar.stop()
