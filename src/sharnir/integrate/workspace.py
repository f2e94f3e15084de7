"""The arrays of a run, allocated once and reused: a short run must not cost more to set up than to compute."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..dialect.arithmetic import STEPPING
from ..dialect.cache import Cache
from ..dialect.native import Loop, bind_kernel
from ..dialect.storage import allocate, allocate_together
from .kernels.advance import Output
from .kernels.events import Events
from .kernels.problem import Problem
from .kernels.state import Run
from .methods import Integrator
from .system import System

LARGEST_REUSED = 2**17
"""Numbers: larger workspaces are not reused; allocating them is a small part of their runs."""

MAX_IDLE = 8
"""Idle workspaces of one system, which differ by method and by the sizes of the output."""


def make_ready(method: Integrator) -> None:
    """Compile a method now, so that the time of a run is that of the run."""
    if method.entry is not None:
        _ = Loop(method.entry, (Problem, Run, Events, Output, method.memory), STEPPING).compiled


class Workspace:
    """One block of memory for the state, the events and the method's own arrays, and the loop bound to them."""

    def __init__(self, system: System, method: Integrator, sizes: Mapping[str, int], compiled: bool, store: Cache | None) -> None:
        assert method.entry is not None
        self.method = method
        self.key = _key(method, sizes, compiled, store)
        parts = (Run, Events, method.memory)
        self.block, (self.state, self.events, memory) = allocate_together(parts, {**sizes, **method.sizes})
        self.output: Any = allocate(Output, sizes)
        method.fill(memory)
        self.numbers = self.block.size + self.output.x.size
        self.fresh = self.block.copy() if self.numbers <= LARGEST_REUSED else self.block
        self.problem = system.problem(method.needs_jacobian)
        groups = (self.problem, self.state, self.events, self.output, memory)
        self.drive = bind_kernel(method.entry, *groups, store=store, compiled=compiled)
        """The loop up to the next pause, event or end; `drive.status` says which."""


def _key(method: Integrator, sizes: Mapping[str, int], compiled: bool, store: Cache | None) -> tuple[object, ...]:
    return (method.name, compiled, *sizes.values(), None if store is None else str(store.folder))


def borrow(system: System, method: Integrator, sizes: Mapping[str, int], compiled: bool, store: Cache | None) -> Workspace:
    """A workspace that is not in use, as if newly allocated: no run sees the numbers of another. (Output is written before it is
    read.)"""
    idle = system.idle.pop(_key(method, sizes, compiled, store), None)
    if idle is None:
        return Workspace(system, method, sizes, compiled, store)
    idle.block[:] = idle.fresh
    return idle


def give_back(system: System, workspace: Workspace) -> None:
    if workspace.numbers <= LARGEST_REUSED:
        while len(system.idle) >= MAX_IDLE:
            system.idle.pop(next(iter(system.idle)))
        system.idle[workspace.key] = workspace
