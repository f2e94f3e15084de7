"""A run as it is written: its rows to a file beside the one asked for while it goes on, the whole result in its place at the end.

Whatever ends the process, what was computed is in one of the two: `run.nc` holds the result of a run that has ended,
`run.partial-….nc` the rows of one that goes on, or was killed.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from time import perf_counter
from types import TracebackType
from typing import BinaryIO

import numpy as np

from ..errors import SaveError
from ..integrate.trajectory import Rows, joined
from ..reporting.whole_file import whole_file
from .changes import Changes
from .motion_system import MotionSystem
from .netcdf import Writer
from .outcome import rows_of
from .result import Cost, Result
from .storage import DIMENSIONS, RUNNING, PathLike, model_text, motion, partial_file, write

INTERVAL = 1.0
"""Seconds between two times of writing, and before the first: a short run has no file beside its own."""

SHARE = 20.0
"""Times the duration of writing that pass before the next."""

HELD = " The motion up to there is in the error's `result`"


class Recording:
    """The file of a run. Without a path it does nothing."""

    def __init__(self, path: PathLike | None, m: MotionSystem, changes: Changes, integrator: str) -> None:
        self.path, self.m, self.changes, self.integrator = path, m, changes, integrator
        self.part: Path | None = None
        self._file: BinaryIO | None = None
        self._writer: Writer | None = None
        self._pieces: Sequence[Rows] = ()
        self._written = 0
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
        now = perf_counter()
        self._due = now + max(INTERVAL, SHARE * (now - begun))

    def _write(self) -> None:
        new = self._pieces[self._written :]
        if not new:
            return
        try:
            t, x = joined(new, self.m.size)
            self._append(self._so_far(t, x))
            self._written += len(new)
            self._last_t = float(t[-1])
        except OSError:  # the disk is full, the folder gone: the run goes on, and `finish` will say so if it is still true
            self._due = np.inf

    def _so_far(self, t: np.ndarray, x: np.ndarray) -> Result:
        d = self.m.d
        q, v, work, parameters = rows_of(self.m, t, x, self.changes)
        cost = Cost(d.method, d.why, self.m.backend, self.integrator, 0, 0, 0, 0, 0.0, 0.0, 0.0, 0.0)
        return Result(d.model, t, q, v, self.m.tau, cost, RUNNING, "", [], self.m.causes, work, parameters, self.m.accounted)

    def _append(self, r: Result) -> None:
        data, attributes = motion(r)
        if self._writer is not None:
            self._writer.append({name: x for name, (_, x, _) in data.items() if name in DIMENSIONS})
            return
        assert self.path is not None
        attributes["model_yaml"] = model_text(r.model)
        part = partial_file(self.path)
        with whole_file(part) as new, new.open("wb") as file:
            writer = Writer(file, data, attributes)
        self.part, self._writer = part, writer
        writer.file = self._file = part.open("r+b")

    def finish(self, r: Result) -> None:
        """The result in its place. Whatever prevents that, the error carries it."""
        if self.path is None:
            return
        if self._writer is not None:
            self._write()  # what is computed from the motion for the file takes a while
        if r.status == "interrupted":
            r.message += f"; the motion up to there is in {self.path}"
        try:
            write(r, self.path)
        except Exception as error:
            reason = str(error) or type(error).__name__
            reason = reason if reason.startswith("cannot write") else f"cannot write {self.path}: {reason}"
            reason += f"; {left}" if (left := self._left()) else ""
            reason += f". The run itself ended early: {r.message}" if r.status not in ("done", "stopped", "interrupted") else ""
            raise SaveError(f"{r.model.name!r}: {reason}.{HELD}", r) from error

    def _left(self) -> str:
        return f"its rows up to t = {self._last_t:g} are in {self.part}" if self.part is not None and self._written else ""

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if error is not None and self.path is not None and not isinstance(error, SaveError):
            if self._writer is not None:
                self._write()
            error.add_note(f"before {self.path} was written; {self._left() or 'no row of the run is kept'}")
        if self._file is not None:
            self._file.close()
        if self.part is not None and (error is None or not self._written):
            self.part.unlink(missing_ok=True)
