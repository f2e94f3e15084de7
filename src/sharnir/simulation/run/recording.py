"""A run as it is written: its rows to a file beside the one asked for while it goes on, the whole result in its place at the end.

Whatever ends the process, what was computed is in one of the two: `run.nc` holds the result of a run that has ended,
`run.partial-….nc` the rows of one that goes on, or was killed.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from time import perf_counter
from types import TracebackType
from typing import Any, BinaryIO

import numpy as np

from ...errors import SaveError
from ...integrate.trajectory import Rows, joined
from ...reporting.atomic_write import atomic_write
from ..events.events import Changes
from ..events.impacts import Beside
from ..results.netcdf import Variables, Writer
from ..results.records import Cost
from ..results.result import Result
from ..results.storage import DIMENSIONS, RUNNING, PathLike, model_texts, motion, partial_file, write
from ..systems.motion_system import MotionSystem
from .outcome import result_of

INTERVAL = 1.0
"""Seconds between two times of writing, and before the first: a short run has no file beside its own."""

SHARE = 20.0
"""Times the duration of writing that pass before the next."""

HELD = "is in the error's `result`"


class Recording:
    """The file of a run. Without a path it does nothing."""

    def __init__(self, path: PathLike | None, m: MotionSystem, changes: Changes, integrator: str) -> None:
        self.path, self.m, self.changes, self.integrator = path, m, changes, integrator
        self.part: Path | None = None
        self._file: BinaryIO | None = None
        self._writer: Writer | None = None
        self._pieces: Sequence[Rows] = ()
        self._next, self._before = 0, 0  # the next piece to be written, and the rows before it
        self._texts: dict[str, str] | None = None
        self._due = perf_counter() + INTERVAL
        self._last_t = np.nan

    def __enter__(self) -> Recording:
        return self

    def keep(self, pieces: Sequence[Rows]) -> None:
        """All pieces of the run so far: those that are new are written where it is time."""
        self._pieces = pieces
        begun = perf_counter()
        if begun < self._due:
            return
        self._write()
        self._due = (now := perf_counter()) + max(INTERVAL, SHARE * (now - begun))

    def _write(self, ended: bool = False) -> None:
        """New pieces, but for the newest unless the run has ended: whether its last row is the state before a jump, the next row
        tells. Where that fails, the disk full or the folder gone, the run goes on: the next time may be better, and
        `finish` reports what is still true then."""
        count = self._writer.count if self._writer is not None else 0
        while self._before < count:  # an interruption between writing and counting here would else write them twice
            self._before += len(self._pieces[self._next][0])
            self._next += 1
        end = len(self._pieces) - (not ended)
        if new := self._pieces[self._next : end]:
            after = np.nan if ended else self._pieces[end][0][0]
            with suppress(Exception):
                self._append(*joined(new, self.m.size), (self._last_t, after))

    def _append(self, t: np.ndarray, x: np.ndarray, beside: Beside) -> None:
        d = self.m.d
        cost = Cost(d.method, d.why.details, self.m.backend, self.integrator, 0, 0, 0, 0, 0.0, 0.0, 0.0, 0.0)
        r = result_of(self.m, t, x, self.changes, cost, RUNNING, "", beside)
        data, attributes = motion(r)
        if self._writer is not None:
            self._writer.append({name: x for name, (_, x, _) in data.items() if name in DIMENSIONS})
        else:
            self._texts = self._texts or model_texts(r)
            self._open(data, {**attributes, **self._texts})
        self._last_t = float(r.t[-1])

    def _open(self, data: Variables, attributes: dict[str, Any]) -> None:
        """The file appears with its first rows in it."""
        assert self.path is not None
        part = partial_file(self.path)
        with atomic_write(part) as new, new.open("wb") as file:
            writer = Writer(file, data, attributes)
        self.part = part
        writer.file = self._file = part.open("r+b")
        self._writer = writer

    def finish(self, r: Result) -> None:
        """The result in its place. Whatever prevents that, the error carries it."""
        if self.path is None:
            return
        if self._writer is not None:
            self._write(ended=True)  # what is computed from the motion for the file takes a while
        message = r.message
        if r.status == "interrupted":
            r.message += f"; the motion up to there is in {self.path}"
        try:
            write(r, self.path, self._texts)
        except Exception as error:
            r.message = message
            reason = str(error) or type(error).__name__
            reason = reason if reason.startswith("cannot write") else f"cannot write {self.path}: {reason}"
            ended = "" if r.status in ("done", "stopped") else f" of the run, which ended early ({r.message}),"
            raise SaveError(f"{r.model.name!r}: {reason}{self._left()}. The motion{ended} {HELD}", r) from error

    def _left(self) -> str:
        return f"; rows up to t = {self._last_t:g} are in {self.part}" if self.part is not None and self.part.exists() else ""

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if error is not None and self.path is not None and not isinstance(error, SaveError):
            if self._writer is not None:
                self._write(ended=True)
            error.add_note(f"before {self.path} was written{self._left() or '; no row of the run is kept'}")
        if self._file is not None:
            with suppress(OSError):
                self._file.close()
        if self.part is not None and error is None:
            self.part.unlink(missing_ok=True)
