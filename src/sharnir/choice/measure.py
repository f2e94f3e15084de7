"""How long a method takes for a state: machine code called on a few dozen states, the least of many rounds."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ..backends.llvm.runner import GraphRunner
from ..model.model import Model
from ..reporting import timing

Call = tuple[Callable[[], None], int]
"""Something to be timed, and for how many states it works."""

ROUND = 1e-4
"""Seconds of one measurement: long compared with the clock's resolution, short compared with disturbances by other processes."""


def prepared(runner: Any, model: Model, batch: bool) -> Call:
    """The code of a forward program with random states."""
    n = 64 if model.nv <= 300 else 4
    rng = np.random.default_rng(0)
    given = {
        "q": np.array([model.random_q(rng) for _ in range(n)]).reshape(n, model.nq),
        "v": rng.uniform(-1.0, 1.0, (n, model.nv)),
        "tau": rng.uniform(-1.0, 1.0, (n, model.nv)),
        "parameter": np.array([list(model.structure.parameters.values())], dtype=float),
        "t": np.zeros((1, 1)),
    }
    inputs = [given[name] if name in given else np.zeros((1, size)) for name, size in runner.inputs.items()]
    outputs = [np.empty((n, int(np.prod(shape)))) for shape in runner.outputs.values()]
    more = {"batch": batch} if isinstance(runner, GraphRunner) else {}
    return runner.prepared(n, inputs, outputs, **more), n


def race(calls: Mapping[Any, Call], seconds: float = 0.02) -> dict[Any, float]:
    """Seconds a state of each, sampled in turn until each has had its time: what disturbs one disturbs all."""
    states = {key: n for key, (_, n) in calls.items()}
    return timing.race({key: run for key, (run, _) in calls.items()}, rounds=5, sample=ROUND, seconds=seconds, states=states)
