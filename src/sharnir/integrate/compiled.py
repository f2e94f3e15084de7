"""The integrators as machine code, or interpreted: the same text, bound to the arrays of a run."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..dialect.arithmetic import STEPPING
from ..dialect.cache import Cache
from ..dialect.native import Loop, bind_kernel
from .kernels.advance import Output
from .kernels.events import Events
from .kernels.problem import Problem
from .kernels.state import Run
from .methods import Integrator


def driver(
    entry: Callable[..., int], groups: tuple[Any, ...], compiled: bool = True, store: Cache | None = None
) -> Callable[[], int]:
    """An integrator bound to its arrays: call it to go on until the next pause, event or end; returns the status."""
    native = bind_kernel(entry, *groups, store=store, compiled=compiled)

    def drive() -> int:
        native()
        return native.status

    return drive


def make_ready(method: Integrator) -> None:
    """Compile it now, so that the time of a run is that of the run."""
    if method.entry is not None:
        _ = Loop(method.entry, (Problem, Run, Events, Output, method.memory), STEPPING).compiled
