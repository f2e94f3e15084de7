"""`calibrate`: measure methods on models of many shapes, and find what a unit of their work costs on this machine."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import date

import numpy as np
from scipy.optimize import nnls

from ..backends.shelf import RunnerShelf
from ..machine import processor
from ..model import samples
from ..model.model import Model
from ..trace import GraphTooLarge
from . import work
from .calibration import Calibration, keep
from .choose import applies
from .measure import Call, prepared, race

Rows = list[tuple[np.ndarray, float]]
"""What there was to do, and how long it took."""

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
    for n, dof in ((2, 2), (6, 2), (2, 3), (5, 3), (9, 3)):
        yield samples.chain(n, dof=dof)
    for n, branching, dof in ((6, 2, 1), (13, 3, 1), (7, 3, 2), (6, 2, 3), (15, 15, 1)):
        yield samples.tree(n, branching, dof, seed=n)


def long_models() -> Iterator[Model]:
    """For loops alone."""
    for n in (60, 200):
        yield samples.chain(n)
    yield samples.chain(40, dof=3)
    for n, branching in ((60, 2), (200, 2), (700, 2), (100, 100), (300, 300), (800, 800), (150, 5)):
        yield samples.tree(n, branching, 1, seed=n)


def calibrate(progress: Callable[[float], None] | None = None, seconds: float = 0.03) -> Calibration:
    """Measure, fit, and keep the result for this machine; takes a minute or two. `progress` is told the part that is done."""
    rows: dict[str, Rows] = {"single": [], "batch": [], **{f"loops, {name}": [] for name in METHODS}}
    todo = [(model, False) for model in models()] + [(model, True) for model in long_models()]
    for k, (model, long) in enumerate(todo):
        for what, numbers, took in measured(model, long, seconds):
            rows[what].append((numbers, took))
        if progress is not None:
            progress((k + 1) / len(todo))
    fitted = {what: fit(found) for what, found in rows.items()}
    made = Calibration(
        machine=processor(),
        made=date.today().isoformat(),
        single=fitted["single"].tolist(),
        batch=fitted["batch"].tolist(),
        loops={name: fitted[f"loops, {name}"].tolist() for name in METHODS},
        spread={what: off(fitted[what], found) for what, found in rows.items()},
    )
    keep(made)
    return made


def measured(model: Model, long: bool, seconds: float) -> Iterator[tuple[str, np.ndarray, float]]:
    """What ran, what it had to do, and seconds a state; of a long model loops alone, and those of linear cost."""
    shelf = RunnerShelf(model.freeze(), "auto", LARGEST_GRAPH)
    calls: dict[tuple[str, str], Call] = {}
    works = {}
    for method in (name for name in METHODS if applies(name, shelf.structure)):
        if model.nv <= 100 or method in ("separate", "composite", "lagrange1"):
            runner = shelf.runner(f"forward/{method}", ("qdd",), backend="numba")
            calls[f"loops, {method}", method] = prepared(runner, model, False)
        try:
            runner = None if long else shelf.runner(f"forward/{method}", ("qdd",), backend="llvm")
        except GraphTooLarge:
            continue
        if runner is not None:
            works[method] = work.of_graph(runner.traced)
            calls["single", method] = prepared(runner, model, False)
            calls["batch", method] = prepared(runner, model, True)
    around = work.of_loops(shelf.structure)
    for (what, method), took in race(calls, seconds).items():
        yield what, around if what.startswith("loops") else works[method], took


def fit(rows: Rows) -> np.ndarray:
    """Seconds for each number of work, none negative, that come nearest to the times measured, each by its own measure."""
    A = np.array([numbers / took for numbers, took in rows])
    size = np.linalg.norm(A, axis=0)
    size[size == 0.0] = 1.0
    return nnls(A / size, np.ones(len(rows)))[0] / size


def off(seconds: np.ndarray, rows: Rows) -> float:
    return float(np.sqrt(np.mean([(numbers @ seconds / took - 1.0) ** 2 for numbers, took in rows])))
