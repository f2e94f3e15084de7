"""The progress bar of everything that may take a while: shown from the first second on."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from math import ceil, log10
from threading import Timer
from time import perf_counter
from typing import TYPE_CHECKING

from ..types import truth
from .notebook import NotebookBar, kernel_shell

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

DELAY = 1.0
"""Seconds before the bar appears: short runs show none, and do not import rich."""
Listener = Callable[[float, str], None]
"""Called with the share that is done, 0 to 1, and a description. It may raise KeyboardInterrupt to stop the work as Ctrl-C."""
_listener: ContextVar[Listener | None] = ContextVar("listener", default=None)


@contextmanager
def progress_listener(listener: Listener) -> Iterator[None]:
    """Call a listener with the progress of everything computed in this thread inside the block, shown on a terminal or not."""
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)


class ProgressBar:
    """A bar on stderr, or in a notebook, from `start` to `end`; `update` is cheap as long as nothing is shown.

    shown   True, False, or None: in a notebook, and where stderr is a terminal
    label   format of the value beside the title, for updates that give no detail of their own
    """

    def __init__(self, shown: bool | None, title: str, end: float, start: float = 0.0, label: str = "") -> None:
        self._output = None if kernel_shell() is None else NotebookBar(title)
        self.shown = sys.stderr.isatty() or self._output is not None if shown is None else truth(shown, "progress")
        self.title, self.start, self.end, self.label = title, start, end, label
        self._begun = perf_counter()
        self._last = start
        self._bar: tuple[Progress, TaskID] | None = None
        self._listener = _listener.get()

    def __enter__(self) -> ProgressBar:
        return self

    @contextmanager
    def meanwhile(self, what: str) -> Iterator[None]:
        """Show `what`, from the first second on, while something runs that reports no progress: a thread sleeps until then."""
        if not self.shown:
            yield
            return
        wait = max(0.0, DELAY - (perf_counter() - self._begun))
        timer = Timer(wait, self._show, (self.start, f"{self.title}, {what}"))
        timer.daemon = True
        timer.start()
        try:
            yield
        finally:
            timer.cancel()
            timer.join()
            self.__exit__()

    @property
    def _late(self) -> bool:
        return self.shown and perf_counter() - self._begun >= DELAY

    def reached(self, t: float, steps: int) -> None:
        """Update for a run that reached t: with as many digits as show that it moves, however small the steps."""
        if not self._late and self._listener is None:
            return
        moved, self._last = abs(t - self._last), t
        digits = 3 if not 0.0 < moved < abs(t) else min(15, max(3, ceil(log10(abs(t) / moved)) + 1))
        self.update(t, f"t = {t:.{digits}g} s, {steps} steps")

    def update(self, value: float, detail: str = "") -> None:
        late = self._late
        if not late and self._listener is None:
            return
        text = ", ".join(part for part in (self.title, detail or self.label.format(value)) if part)
        if self._listener is not None:
            self._listener(self._share(value), text)
        if late:
            self._show(value, text)

    def _share(self, value: float) -> float:
        return abs(value - self.start) / (abs(self.end - self.start) or 1.0)

    def _show(self, value: float, text: str) -> None:
        if self._output is not None:
            return self._output.update(self._share(value), text)
        from rich.markup import escape

        bar, task = self._bar = self._bar or self._open()
        bar.update(task, completed=abs(value - self.start), description=escape(text))
        bar.refresh()

    def _open(self) -> tuple[Progress, TaskID]:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

        columns = (TextColumn("{task.description}"), BarColumn(bar_width=30), TaskProgressColumn(), TimeRemainingColumn())
        # refreshed by `update` alone: a thread of its own would disturb what is being timed
        # and the speed is that of all updates: bundles of long runs come less often than twice in any time that rich looks back
        console, never = Console(stderr=True), float("inf")
        bar = Progress(*columns, console=console, transient=True, auto_refresh=False, speed_estimate_period=never)
        bar.start()
        return bar, bar.add_task("", total=abs(self.end - self.start))

    def __exit__(self, *error: object) -> None:
        if self._bar is not None:
            self._bar[0].stop()
            self._bar = None
        if self._output is not None:
            self._output.end("stopped after" if any(error) else "done in", perf_counter() - self._begun)
