"""One evaluation shared by several threads: a native function that others may help with."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, nullcontext, suppress
from weakref import ref

import numpy as np

from ..dialect.arithmetic import STEPPING
from ..dialect.cache import Cache
from ..dialect.kernels.tasks import NEXT, PATIENCE, Tasks, help_leader, lead
from ..dialect.native import Loop, Native, bind_kernel, calls
from .graph_function import pool_of

LINGER = 20_000
"""How often an idle helper looks for work before it leaves: some 0.2 ms, so that it need not be called for every evaluation
of a loop in Python, and burns no processor when that has ended."""
FOREVER = 2**62


class Team(Native):
    """Tasks as one native function. Calling it asks for helpers; code that calls its address gets those who are `present`."""

    __slots__ = ("__weakref__", "_helper", "_invited", "_pool", "_word", "steps", "store", "threads")

    def __init__(self, steps: Sequence[Sequence[Native]], threads: int, store: Cache) -> None:
        """`steps`: one after the other; the functions of a step in any order at once."""
        natives = [native for step in steps for native in step]
        after = np.repeat(np.cumsum([0, *map(len, steps)])[:-1], [len(step) for step in steps])
        self._word = np.zeros(24, dtype=np.int64)
        self._word[NEXT] = len(natives)  # no round is open
        tasks = Tasks(self._word, calls(natives), after.astype(np.int64), np.array([_give_way()], dtype=np.int64))
        leading = Loop(lead, (Tasks,), STEPPING, store=store)
        self._helper = bind_kernel(help_leader, tasks, store=store)
        self._helper.keep_alive(natives)
        bound = leading.bind(tasks)
        super().__init__(leading.compiled, bound.descriptor, (tasks, natives))
        self.steps, self.threads, self.store = steps, threads, store
        self._pool: ThreadPoolExecutor | None = None
        self._invited: list[Future[None]] = []

    def __call__(self) -> None:
        self.invite()
        super().__call__()

    def invite(self, patience: int = LINGER) -> None:
        """Ask for helpers, who come in some ten microseconds; nothing waits for them."""
        self._word[PATIENCE] = patience
        pool = pool_of(self.threads, "teams")
        if pool is self._pool and not any(helper.done() for helper in self._invited):
            return
        if pool is not self._pool:  # the first time, or after a fork, which leaves no threads
            self._pool, self._invited = pool, []
        found = _latest.get(id(pool))
        before = found() if found is not None else None
        if before is not None and before is not self and before._word[PATIENCE] != FOREVER:
            before._word[PATIENCE] = 0  # threads of the pool that linger at another team leave at once
        _latest[id(pool)] = ref(self)
        missing = self.threads - 1 - sum(not helper.done() for helper in self._invited)
        self._invited = [helper for helper in self._invited if not helper.done()]
        with suppress(RuntimeError):  # the interpreter is shutting down, or has no more threads: then without help
            self._invited += [pool.submit(self._helper) for _ in range(missing)]

    @contextmanager
    def present(self) -> Iterator[None]:
        """Helpers that stay, for compiled code that calls the address."""
        self.invite(FOREVER)
        try:
            yield
        finally:
            self._word[PATIENCE] = 0


def in_one_team(natives: Sequence[Native]) -> list[Native]:
    """Functions that are called one after the other: where a team is among them, all as one team, since a thread helps one at a
    time."""
    teams = [native for native in natives if isinstance(native, Team)]
    if not teams:
        return list(natives)
    steps = [step for native in natives for step in (native.steps if isinstance(native, Team) else [[native]])]
    return [Team(steps, teams[0].threads, teams[0].store)]


@contextmanager
def helped(natives: Sequence[Native]) -> Iterator[None]:
    """Compiled code that calls these, with helpers for a team among them."""
    team = next((native for native in natives if isinstance(native, Team)), None)
    with team.present() if team is not None else nullcontext():
        yield


_latest: dict[int, ref[Team]] = {}
"""The team that last called the threads of each pool."""


def _give_way() -> int:
    """The address of the system's function that lets another thread run."""
    if os.name == "nt":
        function = ctypes.windll.kernel32.SwitchToThread  # type: ignore[attr-defined]
    else:
        function = ctypes.CDLL(None).sched_yield
    return ctypes.cast(function, ctypes.c_void_p).value or 0
