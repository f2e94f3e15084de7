"""Workers that stay: bundles of runs computed one after another, each divided among threads or sent to a cluster."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np

from ..design.designs import Columns
from .execution import Threads, cluster_threads, in_window, on_cluster
from .transport import packed
from .worker import Bundle, Task, Worker

SHARES = 2
"""Parts of a bundle for every worker: who is done first takes the next."""


class WorkerPool:
    """Workers of threads or of a cluster, each with the model compiled once; the first one makes single runs, in this thread."""

    def __init__(self, task: Task, size: int, client: Any = None) -> None:
        self._size, self._client = size, client
        self.first = Worker(task)
        self._threads = Threads(task, size, self.first)
        self._packed = b"" if client is None else packed(task)

    def compute(self, rows: Columns) -> Iterator[tuple[slice, Bundle]]:
        """The runs with these inputs, in parts as they come."""
        n = len(next(iter(rows.values())))
        parts = min(n, SHARES * (self._size if self._client is None else cluster_threads(self._client)))
        if parts < 2 or (self._client is None and self._size < 2):
            yield slice(0, n), self.first.compute(rows)
            return
        ends = np.linspace(0, n, parts + 1).round().astype(int).tolist()
        spans = [slice(a, b) for a, b in pairwise(ends)]
        jobs = ((k, {name: x[span] for name, x in rows.items()}) for k, span in enumerate(spans))
        if self._client is None:
            done = in_window(jobs, parts, self._threads.submit)
        else:
            done = on_cluster(self._packed, jobs, self._client)
        for k, bundle in done:
            yield spans[k], bundle

    def close(self) -> None:
        self._threads.close()
