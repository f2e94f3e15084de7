"""The parent of the workers: it reads what they report, and ends those that hang, grow or die, with the seed that did it."""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from time import monotonic
from typing import Any

from ..harness import ROOT

PER_WORKER, SLOW = 400, {"physics": 25, "results": 100}
"""Cases of one process: what one leaves behind is not with the others for long. Of slow kinds fewer: all have their turn."""
COMPILES = {"physics": 10.0}
"""Kinds whose cases may compile a method for the first time, and how many times as long they may take."""
PATIENCE = 6.0
"""How many times as long as it may compute a case may take by the clock: other programs run on this machine too."""
STARTING = 60.0
"""Seconds for a process to be there, until its first case."""
LOOK = 0.05


@dataclass(frozen=True)
class Report:
    """One case: `end` is "accepted", "refused", "skipped" (nothing to compare), or "fault"."""

    kind: str
    seed: int
    end: str
    fault: str = ""
    trace: str = ""


class Worker:
    """One child process with cases of one kind."""

    def __init__(self, kind: str, seeds: range, hang: float, growth: int) -> None:
        self.kind, self.seeds, self.hang, self.growth = kind, seeds, hang * COMPILES.get(kind, 1.0), growth
        self.seed = seeds.start
        """The case it is at."""
        self.done = False
        self._log = tempfile.TemporaryFile()  # noqa: SIM115 - closed in `end`
        out, pipe = os.pipe()
        arguments = [sys.executable, "-m", "benchmarks.fuzz.worker", kind, str(seeds.start), str(seeds.stop), str(pipe)]
        self._child = subprocess.Popen(
            arguments, cwd=ROOT, pass_fds=[pipe], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=self._log
        )
        os.close(pipe)
        self.pipe, self._rest = out, b""
        self._begun, self._busy, self._size = monotonic() + STARTING, 0.0, 0

    def reports(self) -> Iterator[Report]:
        """What it has finished since the last time."""
        data = os.read(self.pipe, 1 << 16)
        if not data:
            yield from self._ended()
            return
        *lines, self._rest = (self._rest + data).split(b"\n")
        for line in lines:
            found: dict[str, Any] = json.loads(line)
            self.seed = found["seed"]
            if "end" not in found:
                self._begun, self._busy = monotonic(), busy(self._child.pid)
                self._size = resident(self._child.pid)
            else:
                yield Report(self.kind, self.seed, found["end"], found.get("fault", ""), found.get("trace", ""))
                self.seed += 1

    def _ended(self) -> Iterator[Report]:
        """Its pipe was closed: it is through, or it died."""
        code = self._child.wait()
        if code:
            self._log.seek(0)
            trace = self._log.read()[-4000:].decode(errors="replace")
            name = signal.Signals(-code).name if code < 0 else f"exit code {code}"
            yield Report(self.kind, self.seed, "fault", f"the process died: {name}", trace)
            self.seed += 1
        self.done = True

    def excess(self) -> Report | None:
        """The case it is at takes too long, or too much memory: the process is ended."""
        fault = ""
        waited = monotonic() - self._begun
        if waited > PATIENCE * self.hang or (waited > self.hang and busy(self._child.pid) - self._busy > self.hang):
            fault = f"hangs: more than {self.hang:g} s"
        elif self._size and resident(self._child.pid) - self._size > self.growth:
            fault = f"memory grows by more than {self.growth / 2**20:.0f} MB"
        if not fault:
            return None
        self._child.kill()
        self._child.wait()
        self.done, seed = True, self.seed
        self.seed += 1
        return Report(self.kind, seed, "fault", fault)

    def end(self) -> None:
        self._child.kill()
        self._child.wait()
        os.close(self.pipe)
        self._log.close()


def busy(pid: int) -> float:
    """Seconds that a process has computed; that of the clock where the system does not tell."""
    with contextlib.suppress(OSError, ValueError, IndexError), open(f"/proc/{pid}/stat", encoding="utf-8") as file:
        user, system = file.read().rpartition(")")[2].split()[11:13]
        return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")
    return monotonic()


def resident(pid: int) -> int:
    """Bytes of memory in use; 0 where the system does not tell."""
    with contextlib.suppress(OSError, ValueError, IndexError), open(f"/proc/{pid}/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    return 0


class Seeds:
    """Kinds in turn, each with seeds in order."""

    def __init__(self, kinds: list[str], first: int, count: int | None) -> None:
        self._next = dict.fromkeys(kinds, first)
        self._last = None if count is None else first + count
        self._waiting: list[tuple[str, range]] = []
        self._turn = 0

    def take(self) -> tuple[str, range] | None:
        if self._waiting:
            return self._waiting.pop()
        for _ in self._next:
            kind = list(self._next)[self._turn % len(self._next)]
            self._turn += 1
            first = self._next[kind]
            last = first + SLOW.get(kind, PER_WORKER)
            last = last if self._last is None else min(last, self._last)
            if first < last:
                self._next[kind] = last
                return kind, range(first, last)
        return None

    def give_back(self, kind: str, seeds: range) -> None:
        if seeds:
            self._waiting.append((kind, seeds))


def watch(seeds: Seeds, workers: int, until: float, hang: float, growth: int) -> Iterator[Report]:
    """Cases as they end, until the time is up or there are no more seeds."""
    running: list[Worker] = []
    try:
        while monotonic() < until:
            while len(running) < workers and (share := seeds.take()):
                running.append(Worker(*share, hang, growth))
            if not running:
                return
            ready, _, _ = select.select([w.pipe for w in running], [], [], LOOK)
            for worker in running:
                if worker.pipe in ready:
                    yield from worker.reports()
                elif report := worker.excess():
                    yield report
            for worker in [w for w in running if w.done]:
                seeds.give_back(worker.kind, range(worker.seed, worker.seeds.stop))
                worker.end()
                running.remove(worker)
    finally:
        for worker in running:
            worker.end()
