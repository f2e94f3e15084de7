"""Workers that stay: bundles of runs computed one after another, each divided among threads or sent to a cluster."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from queue import SimpleQueue
from threading import Event
from typing import Any

import numpy as np

from ...reporting.progress import progress_listener
from ..design.designs import Columns
from . import execution
from .worker import Bundle, Task, Worker

SHARES = 2
"""Parts of a bundle for every worker: who is done first takes the next."""


class Crew:
    """One worker for each thread, each with the model compiled once; the first one makes single runs, in this thread."""

    def __init__(self, task: Task, workers: int, client: Any = None) -> None:
        self.task, self.client, self.size = task, client, workers
        self.first = Worker(task)
        self._free: SimpleQueue[Worker] = SimpleQueue()
        self._free.put(self.first)
        self._made = 1
        self._pool: ThreadPoolExecutor | None = None
        self._stop = Event()

    def compute(self, rows: Columns) -> Iterator[tuple[slice, Bundle]]:
        """The runs with these inputs, in parts as they come."""
        n = len(next(iter(rows.values())))
        parts = min(n, SHARES * self.size) if self.client is None else min(n, SHARES * self._cluster_size())
        if parts < 2 or (self.client is None and self.size < 2):
            yield slice(0, n), self.first.compute(rows)
            return
        ends = np.linspace(0, n, parts + 1).round().astype(int).tolist()
        spans = [slice(a, b) for a, b in pairwise(ends)]
        jobs = ((k, {name: x[span] for name, x in rows.items()}) for k, span in enumerate(spans))
        if self.client is not None:
            for k, bundle in execution.on_cluster(self.task, jobs, self.client):
                yield spans[k], bundle
            return
        self._pool = self._pool or ThreadPoolExecutor(self.size, "sharnir optimize")
        pool = self._pool
        for k, bundle in execution.in_window(jobs, parts, lambda part: pool.submit(self._part, part)):
            yield spans[k], bundle

    def _cluster_size(self) -> int:
        return max(1, sum(w["nthreads"] for w in self.client.scheduler_info(n_workers=-1)["workers"].values()))

    def _part(self, rows: Columns) -> Bundle:
        worker = self._taken()
        try:
            with progress_listener(self._listener):
                return worker.compute(rows, self._stop.is_set)
        finally:
            self._free.put(worker)

    def _taken(self) -> Worker:
        if self._free.empty() and self._made < self.size:
            self._made += 1
            return Worker(self.task)
        return self._free.get()

    def _listener(self, share: float, text: str) -> None:
        if self._stop.is_set():  # ends a run as Ctrl-C does
            raise KeyboardInterrupt

    def close(self) -> None:
        self._stop.set()
        if self._pool is not None:
            self._pool.shutdown(wait=True, cancel_futures=True)
