"""Who computes the bundles of a study: threads of this process, other processes, or a cluster of Dask.

Each is an iterator over (number, bundle) in order of completion, with no more in flight than keep all workers busy. A search has
a pool of workers that stay, and divides each of its bundles among them.
"""

from __future__ import annotations

import os
import re
import secrets
import socket
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Future, ProcessPoolExecutor, ThreadPoolExecutor, wait
from contextlib import contextmanager, suppress
from importlib import import_module
from itertools import islice, pairwise
from multiprocessing.context import SpawnContext, SpawnProcess
from threading import Event
from types import ModuleType
from typing import Any

import numpy as np

from ...errors import SharnirError, StateError
from ...reporting.progress import progress_listener
from ..design.designs import ArgumentError, Columns
from ..statuses import DIED
from .identity import compute, packed
from .worker import Bundle, Task, Worker

Jobs = Iterator[tuple[int, Columns]]
Done = Iterator[tuple[int, Bundle]]

MOST_DEATHS = 3
"""Workers that may die over one bundle before it is given up."""

WAIT = 30
"""Seconds for the first worker of a cluster to appear."""
AHEAD = 2
"""Bundles in flight for every worker."""


def cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def given_up(rows: Columns, why: str) -> Bundle:
    """A bundle that no worker could compute."""
    out = Bundle.of(len(next(iter(rows.values()))))
    out.status[:], out.message[:] = DIED, why
    return out


# --- threads ----------------------------------------------------------------------------------------------------------------
class Threads:
    """Threads of this process, each with a worker of its own as it computes; `first`: one that exists already."""

    def __init__(self, task: Task, size: int, first: Worker) -> None:
        self._task, self._stop, self._free = task, Event(), [first]
        self._pool = ThreadPoolExecutor(size, "sharnir study")

    def submit(self, rows: Columns) -> Future[Bundle]:
        return self._pool.submit(self._compute, rows)

    def _compute(self, rows: Columns) -> Bundle:
        try:
            worker = self._free.pop()
        except IndexError:
            worker = Worker(self._task)
        try:
            with progress_listener(self._listen):
                return worker.compute(rows, self._stop.is_set)
        finally:
            self._free.append(worker)

    def _listen(self, share: float, text: str) -> None:
        if self._stop.is_set():  # ends a run as Ctrl-C does
            raise KeyboardInterrupt

    def close(self) -> None:
        self._stop.set()
        self._pool.shutdown(wait=True, cancel_futures=True)


def on_threads(task: Task, jobs: Jobs, workers: int, first: Worker) -> Done:
    threads = Threads(task, workers, first)
    try:
        yield from in_window(jobs, workers * AHEAD, threads.submit)
    finally:
        threads.close()


def in_window(jobs: Jobs, width: int, submit: Callable[[Columns], Future[Bundle]]) -> Done:
    """Bundles as they are done, `width` of them in flight."""
    waiting: dict[Future[Bundle], int] = {}
    while True:
        for k, rows in islice(jobs, width - len(waiting)):
            waiting[submit(rows)] = k
        if not waiting:
            return
        try:
            done, _ = wait(waiting, timeout=0.5, return_when=FIRST_COMPLETED)  # Ctrl-C is noticed between two waits
        except KeyboardInterrupt:
            for future in [x for x in waiting if x.done() and not x.exception()]:
                yield waiting.pop(future), future.result()  # computed already
            raise
        for future in sorted(done, key=waiting.__getitem__):
            yield waiting.pop(future), future.result()


# --- processes --------------------------------------------------------------------------------------------------------------
class _Process(SpawnProcess):
    """A process that does not import the user's script: what it needs is sent, and a script without a guard would run again."""

    @staticmethod
    def _Popen(process_obj: Any) -> Any:
        main = sys.modules["__main__"]
        sys.modules["__main__"] = ModuleType("__main__")
        try:
            return SpawnProcess._Popen(process_obj)
        finally:
            sys.modules["__main__"] = main


class _Context(SpawnContext):
    Process = _Process


def on_processes(data: bytes, jobs: Jobs, workers: int) -> Done:
    """Bundles of a packed task computed by processes; where one dies, another computes its bundle again.

    A process that dies breaks its pool and loses all bundles in flight; sent one at a time, these show which one kills."""
    deaths: dict[int, int] = {}
    suspects: list[tuple[int, Columns]] = []
    while True:
        pool = ProcessPoolExecutor(workers, _Context())
        waiting: dict[Future[Bundle], tuple[int, Columns]] = {}
        lost: list[tuple[int, Columns]] = []
        sent: tuple[int, Columns] | None = None
        try:
            while True:
                while len(waiting) < (1 if suspects else workers * AHEAD):
                    sent = suspects.pop() if suspects else next(jobs, None)
                    if sent is None:
                        break
                    waiting[pool.submit(compute, data, sent[1])] = sent
                    sent = None
                if not waiting:
                    return
                done, _ = wait(waiting, timeout=0.5, return_when=FIRST_COMPLETED)
                for future in done:
                    bundle = future.result()
                    yield waiting.pop(future)[0], bundle
        except BrokenExecutor:
            lost = [*waiting.values(), *([sent] if sent else [])]
        finally:
            processes = [] if lost else list((pool._processes or {}).values())
            pool.shutdown(wait=False, cancel_futures=True)
            for process in processes:  # their results are not needed
                process.terminate()
        if len(lost) > 1:
            suspects += lost
            continue
        ((k, rows),) = lost
        deaths[k] = deaths.get(k, 0) + 1
        if deaths[k] < MOST_DEATHS:
            suspects.append((k, rows))
        else:
            yield k, given_up(rows, f"{MOST_DEATHS} processes died over the bundle of this run")


# --- a cluster --------------------------------------------------------------------------------------------------------------
@contextmanager
def connected(client: Any) -> Iterator[Any]:
    """A client of Dask whose workers are checked, closed at the end if it was made from an address; None for None."""
    if client is None:
        yield None
        return
    found = _client(client)
    try:
        check_workers(found)
        yield found
    finally:
        if found is not client:
            with suppress(Exception):
                found.close(timeout=5)


def _client(client: Any) -> Any:
    """The client of Dask, made here where an address is given."""
    try:
        from distributed import Client
    except ImportError:
        raise ArgumentError("Dask is not installed; pip install sharnir[cluster]", "client") from None
    if isinstance(client, str):
        if not re.fullmatch(r"\w+://.+|[\w.-]+:\d+", client):
            raise ArgumentError(f"expected the address of a scheduler such as 'tcp://host:8786', got {client!r}", "client")
        try:
            if found := re.fullmatch(r"(?:tcp://)?([\w.-]+):(\d+)/?", client):  # where no server listens Dask would try for long
                socket.create_connection((found[1], int(found[2])), timeout=5.0).close()
            made: Any = Client
            return made(client, timeout="10s", set_as_default=False)
        except (OSError, ValueError, OverflowError) as error:
            advice = "Start one (dask scheduler), or leave `client` out"
            raise ArgumentError(f"no scheduler of Dask answers at {client}: {_reason(error)}. {advice}", "client") from error
    if not hasattr(client, "submit") or not hasattr(client, "scheduler_info"):
        what = "expected a dask.distributed.Client, or the address of a scheduler such as 'tcp://host:8786'"
        raise ArgumentError(what, "client")
    if client.status != "running":
        raise ArgumentError(f"it is {client.status}; connect it again", "client")
    return client


def _reason(error: BaseException) -> str:
    return " ".join(str(error).split()) or type(error).__name__


def check_workers(client: Any) -> None:
    """Refuse a cluster that has no workers, or workers with another version of sharnir."""
    from ... import __version__

    try:
        client.wait_for_workers(1, timeout=WAIT)
    except TimeoutError:
        what = f"the scheduler at {client.scheduler.address} has no workers after {WAIT} s; start some: dask worker ADDRESS"
        raise ArgumentError(what, "client") from None

    def version() -> str:  # by value: a worker need not have this module
        try:
            return str(import_module("sharnir").__version__)
        except ImportError:
            return ""

    for address, found in client.run(version).items():
        if found != __version__:
            versions = f"{f'sharnir {found}' if found else 'no sharnir'}, this process has sharnir {__version__}"
            advice = "results would not be the same; install one version everywhere"
            raise ArgumentError(f"worker {address} has {versions}: {advice}", "client")


def cluster_threads(client: Any) -> int:
    return max(1, sum(w["nthreads"] for w in client.scheduler_info(n_workers=-1)["workers"].values()))


def on_cluster(data: bytes, jobs: Jobs, client: Any) -> Done:
    """Bundles of a packed task computed by Dask, which repeats those of workers that die; one that kills several is given up."""
    import distributed
    from distributed.scheduler import KilledWorker

    waiting: dict[Any, tuple[int, Columns]] = {}
    as_completed: Any = distributed.as_completed
    name = secrets.token_hex(4)
    found = as_completed(loop=client.loop)
    try:
        while True:
            width = cluster_threads(client) * (AHEAD + 1)
            for k, rows in islice(jobs, max(0, width - len(waiting))):
                future = client.submit(compute, data, rows, pure=False, key=f"sharnir-{name}-{k}")
                waiting[future] = (k, rows)
                found.add(future)
            if not waiting:
                return
            future = next(found)
            k, rows = waiting.pop(future)
            try:
                bundle = future.result()
            except KilledWorker:
                bundle = given_up(rows, "several workers died over the bundle of this run")
            except SharnirError:
                raise
            except Exception as error:
                raise StateError(f"the cluster was lost: {_reason(error)}") from error
            yield k, bundle
            future.release()
    except (OSError, TimeoutError) as error:
        raise StateError(f"the cluster was lost: {_reason(error)}") from error
    finally:
        for future in waiting:
            with suppress(Exception):  # the cluster may be gone
                future.cancel()


# --- workers that stay ------------------------------------------------------------------------------------------------------
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
        local = self._client is None
        done = in_window(jobs, parts, self._threads.submit) if local else on_cluster(self._packed, jobs, self._client)
        yield from ((spans[k], bundle) for k, bundle in done)

    def close(self) -> None:
        self._threads.close()
