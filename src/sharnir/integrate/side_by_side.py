"""Many runs of one system side by side, each with its own steps: the lanes of kernels/lanes.py, which lane_scheduler.py feeds."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..dialect.arithmetic import side_by_side
from ..dialect.cache import Cache
from ..dialect.native import bind_kernel, calls
from ..dialect.storage import allocate
from ..reporting.progress import ProgressBar
from .driver import next_piece
from .kernels import lane_scheduler
from .kernels import state as s
from .kernels.control import NEVER
from .kernels.lanes import Vector, dop853_lanes, dopri5_lanes
from .kernels.state import NODES, Run
from .methods import integrator
from .request import checked_times
from .switching import ALARM
from .system import System

ENTRIES = {"auto": dop853_lanes, "dop853": dop853_lanes, "dopri5": dopri5_lanes}
"""Integrators that go side by side; 'auto' as far as nothing is stiff."""

PATIENCE = 10
"""Times as many suspect steps as 'auto' takes before it looks whether a run is stiff: most that are suspected are not, and on
lanes they go on at an eighth of the cost."""

FIRST = 64
"""Steps of all lanes before the first pause."""


class SideBySide:
    """Runs of a system whose arrays hold a state in each lane, lanes innermost: X (n, lanes).

    `own` (m, lanes): what its functions read beside state and time, numbers of each run. `rows`: the same system on arrays of
    its own, `row_own` among them. `near` (1, lanes): where its functions write more than 1 the run is left.
    """

    def __init__(
        self,
        method: str,
        system: System,
        own: np.ndarray,
        rows: System,
        row_own: np.ndarray,
        near: np.ndarray,
        store: Cache | None = None,
    ) -> None:
        self.method, self._near = integrator(method), near
        self.system, self._own, self._rows, self._row_own, self._store = system, own, rows, row_own, store
        self.n, self.lanes = system.buffers.X.shape
        sizes = {"n": self.n, "nF": self.method.rows, "nN": NODES, "nr": 0, **self.method.sizes}
        self._run: Any = allocate(Run, sizes, lanes=self.lanes)
        self._vector: Any = allocate(Vector, sizes, lanes=self.lanes)
        for array in (*self._run, *self._vector):
            array[...] = 0  # lanes without a run compute something too
        groups = system.problem(False), self._run, self._vector
        self._work = bind_kernel(ENTRIES[self.method.name], *groups, options=side_by_side(self.lanes), store=store)

    def run(
        self,
        starts: np.ndarray,
        inputs: np.ndarray,
        t0: float,
        t1: float,
        times: ArrayLike,
        rtol: float,
        atol: np.ndarray,
        max_step: float = np.inf,
        numbers: int | None = None,
        rates: slice = slice(0),
    ) -> tuple[np.ndarray, np.ndarray]:
        """Rows (runs, times, n) and (runs, 3): how each run has ended (DONE of kernels/state.py, else it is left), its steps and
        those rejected. Starts (runs, n), inputs (runs, m); `numbers`: over which errors are averaged, n where it is not given;
        `rates`: those of the state that follow it in every row."""
        wanted, count, run = checked_times(times, t0, t1), len(starts), self._run
        row, lanes, v, dx = self._rows.buffers, self.lanes, self._vector, run.dx[rates]
        rows, ended = np.empty((count, len(wanted), self.n + len(dx))), np.zeros((count, 3))
        if not count:
            return rows, ended
        run.atol[...] = atol[:, None]
        run.rule[s.RTOL], run.rule[s.MAX_STEP] = rtol, max_step
        run.rule[s.NUMBERS] = self.n if numbers is None else numbers
        run.rule[s.ALARM] = PATIENCE * ALARM if self.method.switches else NEVER
        finish = [*self._rows.natives("projection"), *(self._rows.natives("derivative") if len(dx) else ())]
        q = lane_scheduler.Queue(
            starts, inputs, np.array([t0, t1]), wanted, rows, ended,
            run.x, dx, v.between, v.at, run.clock, run.tally, v.mark, self._near, self._own,
            np.full(lanes, -1), np.zeros(lanes, dtype=np.int64), np.zeros(lanes, dtype=np.int64),
            row.X, row.DX[rates], row.T, self._row_own, np.zeros((lanes, 2), dtype=np.int64),
            calls([self._work, *finish]), v.task, np.zeros(5, dtype=np.int64),
        )  # fmt: skip
        drive = bind_kernel(lane_scheduler.run_queue, q, store=self._store)
        q.count[lane_scheduler.PIECE] = FIRST
        bar = ProgressBar(False, self.method.name, count)
        while True:
            begun = time.perf_counter()
            drive()
            self.system.raise_failure()
            if drive.status == s.DONE:
                return rows, ended
            bar.update(
                float(q.count[lane_scheduler.NEXT] - q.count[lane_scheduler.ACTIVE]), "side by side"
            )  # who listens may end it
            q.count[lane_scheduler.PIECE] = int(next_piece(float(q.count[lane_scheduler.PIECE]), time.perf_counter() - begun))
