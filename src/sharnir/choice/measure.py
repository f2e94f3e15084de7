"""How long a method takes for a state: machine code called on a few dozen states, the least of many rounds."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from time import perf_counter
from typing import Any

import numpy as np

from ..backends.llvm.runner import GraphRunner
from ..model.model import Model

Call = tuple[Callable[[], None], int]
"""Something to be timed, and for how many states it works."""

ROUND = 1e-4
"""Seconds of one measurement: long against the clock's resolution, short against other activity on the machine."""


def prepared(runner: Any, model: Model, batch: bool) -> Call:
    """The code of a forward program with random states."""
    n = 64 if model.nv <= 300 else 4
    rng = np.random.default_rng(0)
    given = {
        "q": np.array([model.random_q(rng) for _ in range(n)]).reshape(n, model.nq),
        "v": rng.uniform(-1.0, 1.0, (n, model.nv)),
        "tau": rng.uniform(-1.0, 1.0, (n, model.nv)),
        "t": np.zeros((1, 1)),
    }
    inputs = [given[name] if name in given else np.zeros((1, size)) for name, size in runner.inputs.items()]
    outputs = [np.empty((n, int(np.prod(shape)))) for shape in runner.outputs.values()]
    more = {"batch": batch} if isinstance(runner, GraphRunner) else {}
    return runner.prepared(n, inputs, outputs, **more), n


def race(calls: Mapping[Any, Call], seconds: float = 0.02) -> dict[Any, float]:
    """Seconds a state of each, measured alternately so that disturbances of the machine affect all alike."""
    repeats = {}
    for key, (run, _) in calls.items():
        run()
        repeats[key] = max(1, round(ROUND / _clock(run, 1)))
    best = dict.fromkeys(calls, np.inf)
    spent = rounds = 0.0
    while rounds < 5 or spent < seconds * len(calls):
        for key, (run, n) in calls.items():
            took = _clock(run, repeats[key])
            spent += took
            best[key] = min(best[key], took / repeats[key] / n)
        rounds += 1
    return best


def _clock(run: Callable[[], None], times: int) -> float:
    begun = perf_counter()
    for _ in range(times):
        run()
    return perf_counter() - begun
