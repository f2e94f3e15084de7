"""The arrays of a run, allocated once and reused: a short run must not cost more to set up than to compute."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..dialect.cache import Cache
from ..dialect.storage import allocate, allocate_together
from .compiled import driver
from .kernels.advance import Output
from .kernels.events import Events
from .kernels.state import Run
from .methods import Integrator
from .system import System

LARGEST_REUSED = 2**17
"""Numbers: larger workspaces are not reused; allocating them is a small part of their runs."""

MAX_IDLE = 8
"""Idle workspaces of one system, which differ by method and by the sizes of the output."""


class Workspace:
    """One block of memory for the state, the events and the method's own arrays, and the loop bound to them."""

    def __init__(self, system: System, method: Integrator, sizes: Mapping[str, int], compiled: bool, store: Cache | None) -> None:
        assert method.entry is not None
        parts = (Run, Events, method.memory)
        self._block, (self.state, self.events, memory) = allocate_together(parts, {**sizes, **method.sizes})
        self.output: Any = allocate(Output, sizes)
        method.fill(memory)
        self.numbers = self._block.size + self.output.x.size
        self._fresh = self._block.copy() if self.numbers <= LARGEST_REUSED else self._block
        self.problem = system.problem(method.needs_jacobian)
        groups = (self.problem, self.state, self.events, self.output, memory)
        self.drive = driver(method.entry, groups, compiled, store)

    def renew(self) -> None:
        """As if newly allocated: no run sees the numbers of another. (Output is written before it is read.)"""
        self._block[:] = self._fresh


def borrow(
    system: System, method: Integrator, sizes: Mapping[str, int], compiled: bool, store: Cache | None
) -> tuple[Workspace, tuple[object, ...]]:
    """A workspace that is not in use, and the key for `give_back`."""
    key = (method.name, compiled, *sizes.values(), None if store is None else str(store.folder))
    idle = system.idle.pop(key, None)
    if idle is None:
        return Workspace(system, method, sizes, compiled, store), key
    idle.renew()
    return idle, key


def give_back(system: System, workspace: Workspace, key: tuple[object, ...]) -> None:
    if workspace.numbers <= LARGEST_REUSED:
        while len(system.idle) >= MAX_IDLE:
            system.idle.pop(next(iter(system.idle)))
        system.idle[key] = workspace
