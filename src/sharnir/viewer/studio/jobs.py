"""Long work beside the page: one job at a time, in a thread of its own, with its progress, a way to stop it, errors as words."""

from __future__ import annotations

import sys
import threading
import traceback
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeVar

from ...errors import SharnirError, StateError
from ...reporting.progress import progress_listener
from .folder import words

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
    """`changed` is called, from any thread, whenever `progress` changes."""

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
