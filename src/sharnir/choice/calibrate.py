"""`calibrate`: measure methods on models of many shapes, and find what a unit of their work costs on this machine."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import date

import numpy as np
from scipy.optimize import nnls

from ..backends.choose import RunnerShelf
from ..machine import processor
from ..model import samples
from ..model.model import Model
from ..trace import GraphTooLarge
from . import work
from .calibration import Calibration, keep
from .choose import applies
from .measure import prepared, race

METHODS = ("separate", "composite", "stepanenko", "direct", "lagrange1", "recursive", "kosynka")
"""All methods whose time does not depend on the states before."""

LARGEST_GRAPH = 12_000
"""Nodes of a graph in a calibration: larger ones take long to compile, and say nothing new."""


def models() -> Iterator[Model]:
    """Chains and trees, from one body to some hundred, with joints of one to three freedoms."""
    for n in (1, 2, 3, 5, 8, 14, 24):
        yield samples.chain(n)
    for n in (4, 10, 18):
        yield samples.planar_chain(n)
    for n, dof in ((2, 2), (6, 2), (2, 3), (5, 3)):
        yield samples.chain(n, dof=dof)
    for n, branching, dof in ((6, 2, 1), (13, 3, 1), (7, 3, 2), (6, 2, 3), (15, 15, 1)):
        yield samples.tree(n, branching, dof, seed=n)


def long_models() -> Iterator[Model]:
    """For loops alone."""
    for n in (60, 200):
        yield samples.chain(n)
    yield samples.chain(40, dof=3)
    for n, branching in ((60, 2), (200, 2), (100, 100), (300, 300), (150, 5)):
        yield samples.tree(n, branching, 1, seed=n)


def calibrate(progress: Callable[[float], None] | None = None, seconds: float = 0.03) -> Calibration:
    """Measure, fit, and keep the result for this machine; takes a minute or two. `progress` is told the part that is done."""
    graphs: dict[bool, list[tuple[np.ndarray, float]]] = {False: [], True: []}
    loops: dict[str, list[tuple[np.ndarray, float]]] = {name: [] for name in METHODS}
    short, long = list(models()), list(long_models())
    for k, model in enumerate([*short, *long]):
        shelf = RunnerShelf(model.freeze(), "auto", LARGEST_GRAPH)
        calls = {}
        works = {}
        for method in (name for name in METHODS if applies(name, shelf.structure)):
            runner = shelf.runner(f"forward/{method}", ("qdd",), backend="numba")
            if model.nv <= 100 or method not in ("direct", "kosynka", "recursive", "stepanenko"):
                calls[method, "loops"] = prepared(runner, model, False)
            if k >= len(short):
                continue
            try:
                runner = shelf.runner(f"forward/{method}", ("qdd",), backend="llvm")
            except GraphTooLarge:
                continue
            works[method] = work.of_graph(runner.traced)
            for batch in (False, True):
                calls[method, batch] = prepared(runner, model, batch)
        around = work.of_loops(model.structure)
        for (method, what), took in race(calls, seconds).items():
            if what == "loops":
                loops[method].append((around, took))
            else:
                graphs[what].append((works[method], took))
        if progress is not None:
            progress((k + 1) / (len(short) + len(long)))
    single, batch = fit(graphs[False]), fit(graphs[True])
    of_loops = {method: fit(rows) for method, rows in loops.items()}
    spread = {"single": off(single, graphs[False]), "batch": off(batch, graphs[True])}
    spread |= {f"loops, {method}": off(of_loops[method], rows) for method, rows in loops.items()}
    made = Calibration(
        processor(),
        date.today().isoformat(),
        single.tolist(),
        batch.tolist(),
        {k: x.tolist() for k, x in of_loops.items()},
        spread,
    )
    keep(made)
    return made


def fit(rows: list[tuple[np.ndarray, float]]) -> np.ndarray:
    """Seconds for each number of work, none negative, that come nearest to the times measured, each by its own measure."""
    A = np.array([numbers / took for numbers, took in rows])
    size = np.linalg.norm(A, axis=0)
    size[size == 0.0] = 1.0
    return nnls(A / size, np.ones(len(rows)))[0] / size


def off(seconds: np.ndarray, rows: list[tuple[np.ndarray, float]]) -> float:
    return float(np.sqrt(np.mean([(numbers @ seconds / took - 1.0) ** 2 for numbers, took in rows])))
