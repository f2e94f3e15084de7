"""A bar for runs that take a while."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import Any

PATIENCE = 1.0
"""Seconds before a bar appears."""


class Progress:
    """`update(t)` now and then; nothing is shown, or even imported, where the run is short or nobody looks."""

    def __init__(self, wanted: bool | None, start: float, end: float, title: str) -> None:
        self.wanted = sys.stderr.isatty() if wanted is None else wanted
        self.start, self.end, self.title = start, end, title
        self._begun = time.perf_counter()
        self._bar: Any = None
        self._task: Any = None

    def __enter__(self) -> Progress:
        return self

    def update(self, t: float) -> None:
        if not self.wanted or time.perf_counter() - self._begun < PATIENCE:
            return
        if self._bar is None:
            from rich.console import Console
            from rich.progress import BarColumn, TaskProgressColumn, TextColumn, TimeRemainingColumn
            from rich.progress import Progress as Bar

            columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
            self._bar = Bar(*columns, console=Console(stderr=True), transient=True)
            self._bar.start()
            self._task = self._bar.add_task(self.title, total=abs(self.end - self.start))
        self._bar.update(self._task, completed=abs(t - self.start), description=f"{self.title}, t = {t:.3g} s")

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if self._bar is not None:
            self._bar.stop()
