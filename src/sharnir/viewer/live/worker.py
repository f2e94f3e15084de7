"""One thread that does everything: callbacks of the browser come from many threads, in any order, and only post jobs here.

Of jobs with one key that wait (a slider that is dragged), only the last is done.
"""

from __future__ import annotations

import threading
import time
import traceback
from collections.abc import Callable, Hashable

from ...errors import SharnirError

FRAME = 1.0 / 60.0


class Worker:
    """`post` leaves a job; `tick(now)` is called every frame while it returns True. Errors go to `say`."""

    def __init__(self, tick: Callable[[float], bool], say: Callable[[str], None]) -> None:
        self._tick, self._say = tick, say
        self._jobs: dict[Hashable, Callable[[], None]] = {}
        self._wake, self._stopped = threading.Condition(), False
        self._idle = threading.Event()
        self._thread = threading.Thread(target=self._run, name="sharnir view", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def post(self, key: Hashable, job: Callable[[], None]) -> None:
        """Add a job, in place of one with the same key that has not begun."""
        with self._wake:
            self._jobs.pop(key, None)
            self._jobs[key] = job
            self._idle.clear()
            self._wake.notify()

    def finish(self, timeout: float = 10.0) -> bool:
        """Wait until nothing is left to do."""
        return self._idle.wait(timeout)

    def stop(self) -> None:
        with self._wake:
            self._stopped = True
            self._wake.notify()
        if self._thread.is_alive() and threading.current_thread() is not self._thread:
            self._thread.join(5.0)

    def _run(self) -> None:
        active = False
        while True:
            begun = time.perf_counter()
            with self._wake:
                while not self._jobs and not active and not self._stopped:
                    self._idle.set()
                    self._wake.wait()
                if self._stopped:
                    return
                jobs, self._jobs = self._jobs, {}
            for job in jobs.values():
                self._guarded(job)
            active = bool(self._guarded(lambda: self._tick(time.perf_counter())))
            with self._wake:
                if not self._jobs and not active:
                    self._idle.set()
            if active:  # something plays: a frame, and no longer; jobs wait for it
                time.sleep(max(0.0, FRAME - (time.perf_counter() - begun)))

    def _guarded(self, job: Callable[[], object]) -> object:
        try:
            return job()
        except SharnirError as error:
            self._say(str(error))
        except Exception as error:
            traceback.print_exc()
            self._say(f"{type(error).__name__}: {error}")
        return None
