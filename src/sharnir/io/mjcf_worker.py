"""The process in which MuJoCo compiles files that are not trusted: bounded in time and memory, and expendable.

It reads jobs from its standard input, and ends when that is closed or nothing came for a while. Run by `mjcf_process.py`.
"""

from __future__ import annotations

import os
import select
import signal
import sys
from contextlib import suppress
from typing import Any

from ..errors import FormatError, ModelError
from .mjcf_compile import compiled, import_mujoco
from .mjcf_record import receive, send

try:
    import resource
except ImportError:  # Windows: time is bounded by the parent, memory is not
    resource = None  # type: ignore[assignment]

GROWN = 512 * 2**20
"""Bytes of memory beyond which it ends after a job: the next one starts afresh."""


def main(idle: float) -> None:
    """Serve jobs until none comes for `idle` seconds."""
    jobs, answers = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 1)  # whatever MuJoCo and its plugins print
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent, which ends this process
    if resource is not None:
        _lower(resource.RLIMIT_CORE, 0)
    try:
        import_mujoco()
    except ModelError as error:
        send(answers, {"missing": str(error)})
        return
    send(answers, {"ready": True})
    with suppress(EOFError, BrokenPipeError):
        while _waiting(jobs, idle):
            if _answer(receive(jobs)[0], answers):
                break


def _waiting(jobs: Any, idle: float) -> bool:
    """Whether a job came in time (or the end of all); on Windows select knows no pipes."""
    return sys.platform == "win32" or bool(select.select([jobs], [], [], idle)[0])


def _answer(job: dict[str, Any], answers: Any) -> bool:
    """Whether this was the last job: a process that has grown is replaced."""
    _bound(float(job["seconds"]), int(job["bytes"]))
    try:
        facts, arrays = compiled(job)
    except FormatError as error:
        facts, arrays = {"refused": str(error)}, {}
    except MemoryError:
        facts, arrays = {"memory": True}, {}
    last = _memory(resident=True) > GROWN
    send(answers, {**facts, "last": True} if last else facts, arrays)
    return last


def _bound(seconds: float, memory: int) -> None:
    """The parent's clock ends a job that takes too long; this one counts where the parent is gone."""
    if resource is None:
        return
    used = resource.getrusage(resource.RUSAGE_SELF)
    _lower(resource.RLIMIT_CPU, int(used.ru_utime + used.ru_stime + seconds * (os.cpu_count() or 1)) + 1)
    if _memory():
        _lower(resource.RLIMIT_AS, _memory() + memory)


def _lower(what: int, limit: int) -> None:
    hard = resource.getrlimit(what)[1]
    resource.setrlimit(what, (limit if hard == resource.RLIM_INFINITY else min(limit, hard), hard))


def _memory(resident: bool = False) -> int:
    """Bytes of address space, or those in use; 0 where the system does not tell (and does not bound them either)."""
    try:
        with open("/proc/self/statm", encoding="ascii") as file:
            return int(file.read().split()[resident]) * resource.getpagesize()
    except OSError:
        return 0
