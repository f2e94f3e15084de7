"""The integrators as machine code, or interpreted: the same text, bound to the arrays of a run."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..dialect.arithmetic import STEPPING
from ..dialect.cache import Cache
from ..dialect.native import Loop
from .kernels.advance import Output
from .kernels.events import Events
from .kernels.problem import Problem
from .kernels.state import Run
from .methods import Integrator


def driver(entry: Callable[..., int], groups: tuple[Any, ...], store: Cache | None = None) -> Callable[[], int]:
    """An integrator bound to its arrays: call it to go on until the next pause, event or end; returns the status."""
    native = Loop(entry, tuple(type(group) for group in groups), STEPPING, store=store).bind(*groups)

    def drive() -> int:
        native()
        return native.status

    return drive


def make_ready(method: Integrator) -> None:
    """Compile it now, so that the time of a run is that of the run."""
    if method.entry is not None:
        _ = Loop(method.entry, (Problem, Run, Events, Output, method.memory), STEPPING).compiled


def interpreted(entry: Callable[..., int], groups: tuple[Any, ...]) -> Callable[[], int]:
    """The same, in plain Python: to read, to debug."""

    def drive() -> int:
        with np.errstate(all="ignore"):  # nan and inf are values, not warnings
            return int(entry(*groups))

    return drive
