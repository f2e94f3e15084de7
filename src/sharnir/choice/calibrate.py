"""`calibrate`: measure methods on models of many shapes, and find what a unit of their work costs on this machine."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from datetime import date
from functools import partial
from typing import TypeVar

import numpy as np
from scipy.optimize import nnls

from .. import samples
from ..backends import sizes
from ..backends.compiled_programs import CompiledPrograms
from ..backends.graph_function import GraphFunction
from ..backends.loops import LoopRunner
from ..machine import processor
from ..model.model import Model
from ..reporting import timing
from .calibration import Calibration, of_graph, of_loops, store
from .choose import FASTEST, applies

K = TypeVar("K")

# --- how long a method takes for a state: machine code called on a few dozen states, the least of many rounds
Call = tuple[Callable[[], None], int]
"""A function to be timed, and for how many states it works."""

ROUND = 1e-4
"""Seconds of one measurement: long compared with the clock's resolution, short compared with disturbances by other processes."""


def prepared(runner: GraphFunction | LoopRunner, model: Model, batch: bool) -> Call:
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
    more = {"batch": batch} if isinstance(runner, GraphFunction) else {}
    return runner.prepared(n, inputs, outputs, **more), n


def race(calls: Mapping[K, Call], seconds: float = 0.02) -> dict[K, float]:
    """Seconds per state of each, sampled in turn until each has had its time: what disturbs one disturbs all."""
    states = {key: n for key, (_, n) in calls.items()}
    return timing.race({key: run for key, (run, _) in calls.items()}, rounds=5, sample=ROUND, seconds=seconds, states=states)


# --- measuring and fitting
Rows = list[tuple[np.ndarray, float]]
"""Pairs of work and seconds."""

PASSES = 5
"""Rounds through all models: a machine that is busy for a while spoils one round, not the minimum over all."""

LARGEST_GRAPH = 12_000
"""Largest graph of a calibration, in nodes: larger ones take long to compile and add no information."""


def models() -> Iterator[Model]:
    """Chains and trees, from one body to some hundred, with joints of one to three freedoms."""
    for n in (2, 3, 5, 8, 14, 24):
        yield samples.chain(n)
    for n in (4, 10, 18):
        yield samples.planar_chain(n)
    for n, dof in ((1, 2), (2, 2), (6, 2), (2, 3), (5, 3), (9, 3)):
        yield samples.chain(n, dof=dof)
    for n, branching, dof in ((6, 2, 1), (13, 3, 1), (7, 3, 2), (6, 2, 3), (15, 15, 1)):
        yield samples.tree(n, branching, dof, seed=n)


def long_models() -> Iterator[Model]:
    """Long models, for which only loops are measured."""
    for n in (60, 200):
        yield samples.chain(n)
    yield samples.chain(40, dof=3)
    for n, branching in ((60, 2), (200, 2), (700, 2), (100, 100), (300, 300), (800, 800), (150, 5)):
        yield samples.tree(n, branching, 1, seed=n)


def calibrate(progress: Callable[[float], None] | None = None, seconds: float = 0.01) -> Calibration:
    """Measure, fit and store the result for this machine; takes a minute or two. `progress` is called with the fraction done."""
    todo = [(model, False) for model in models()] + [(model, True) for model in long_models()]
    trials = []
    for k, (model, long) in enumerate(todo):
        trials.append(Trial(model, long))
        if progress is not None:
            progress(0.8 * (k + 1) / len(todo))
    for k in range(PASSES):
        for trial in trials:
            trial.measure(seconds)
        if progress is not None:
            progress(0.8 + 0.2 * (k + 1) / PASSES)
    made = fitted(trials)
    store(made)
    return made


def fitted(trials: list[Trial]) -> Calibration:
    keys = sorted({key for trial in trials for key in trial.least})
    found = {key: [(trial.works[key], trial.least[key]) for trial in trials if key in trial.least] for key in keys}
    graphs = {what: [row for key, rows in found.items() if key[0] == what for row in rows] for what in ("single", "batch")}
    seconds = {what: fit(rows) for what, rows in graphs.items()}
    loops = {method: fit(rows).tolist() for (what, method), rows in found.items() if what == "loops"}
    habits = {what: {m: habit(seconds[what], rows) for (w, m), rows in found.items() if w == what} for what in graphs}
    spread = {what: relative_error(seconds[what], rows) for what, rows in graphs.items()}
    single, batch = (seconds[what].tolist() for what in ("single", "batch"))
    return Calibration(processor(), date.today().isoformat(), single, batch, loops, habits, spread)


class Trial:
    """One model: prepared candidates, the work of each, and the least time it took; for a long model, loops alone."""

    def __init__(self, model: Model, long: bool) -> None:
        compiled = CompiledPrograms(model.freeze(), "auto", LARGEST_GRAPH)
        self.calls: dict[tuple[str, str], Call] = {}
        self.works: dict[tuple[str, str], np.ndarray] = {}
        self.least: dict[tuple[str, str], float] = {}
        around = of_loops(compiled.structure)
        for method in (name for name in FASTEST if applies(name, compiled.structure)):
            if model.nv <= 100 or method not in ("direct", "stepanenko"):  # those take a second there, and are never chosen
                runner = compiled.runner(f"forward/{method}", ("qdd",), backend="loops")
                self._add("loops", method, prepared(runner, model, False), around)
            straight = partial(compiled.runner, f"forward/{method}", ("qdd",), backend="llvm")
            runner = None if long else sizes.fits(straight)
            if runner is not None:
                todo = of_graph(runner.traced)
                self._add("single", method, prepared(runner, model, False), todo)
                self._add("batch", method, prepared(runner, model, True), todo)

    def _add(self, what: str, method: str, call: Call, todo: np.ndarray) -> None:
        self.calls[what, method], self.works[what, method], self.least[what, method] = call, todo, np.inf

    def measure(self, seconds: float) -> None:
        for key, took in race(self.calls, seconds).items():
            self.least[key] = min(self.least[key], took)


def fit(rows: Rows) -> np.ndarray:
    """Seconds for each number of work, none negative, that fit the measured times best, by relative error."""
    A = np.array([numbers / took for numbers, took in rows])
    size = np.linalg.norm(A, axis=0)
    size[size == 0.0] = 1.0
    return nnls(A / size, np.ones(len(rows)))[0] / size


def habit(seconds: np.ndarray, rows: Rows) -> float:
    """Geometric mean of measured over predicted time."""
    return float(np.exp(np.mean([np.log(took / (numbers @ seconds)) for numbers, took in rows])))


def relative_error(seconds: np.ndarray, rows: Rows) -> float:
    """Root of the mean square of predicted over measured time less one."""
    return float(np.sqrt(np.mean([(numbers @ seconds / took - 1.0) ** 2 for numbers, took in rows])))
