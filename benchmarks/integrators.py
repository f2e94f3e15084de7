"""Overhead of a step of every integrator besides its evaluations, and the time to load or compile its machine code."""

from __future__ import annotations

import math
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

import sharnir as sh
from sharnir.dynamics import Dynamics
from sharnir.equations.motion.derivative import compiled_derivative
from sharnir.integrate.methods import INTEGRATORS, Integrator
from sharnir.reporting.timing import once

from .harness import fresh_process
from .report import Measure

OWN = {name: method for name, method in INTEGRATORS.items() if method.entry is not None}
"""Not those of other libraries."""
SHORT, LONG, STEP, RTOL = 1.0, 6.0, 1e-3, 1e-8
STATES, ROUNDS = 1024, 40

CHILD = """
from time import perf_counter
from sharnir.integrate.workspace import make_ready
from sharnir.integrate.methods import INTEGRATORS
begun = perf_counter()
make_ready(INTEGRATORS[{name!r}])
print(perf_counter() - begun)
"""


def options(method: Integrator) -> dict[str, float]:
    return {"rtol": RTOL, "atol": RTOL / 100} if method.adaptive else {"step": STEP}


def measure(model: sh.Model, quick: bool = False) -> Iterator[Measure | str]:
    yield from steps(model)
    for method in [OWN["rk4"]] if quick else OWN.values():
        with tempfile.TemporaryDirectory() as folder:
            cold, warm = (loading(method, Path(folder)) for _ in range(2))
        yield Measure("simulate", method.name, "machine code of an integrator, cold cache", cold, " s")
        yield Measure("simulate", method.name, "machine code of an integrator, warm cache", 1e3 * warm, " ms")


def steps(model: sh.Model) -> Iterator[Measure | str]:
    """An evaluation by itself, state after state in a compiled loop; a step of each integrator less its evaluations.

    A long run less a short one: what it takes to begin and to end a run is not in a step.
    """
    alone = evaluations(model)
    rng = np.random.default_rng(1)
    start = {"q0": model.random_q(rng), "v0": rng.normal(size=model.nv), "balance": False}
    evaluation, best = math.inf, {}
    for _ in range(ROUNDS):
        for name, method in OWN.items():
            evaluation = min(evaluation, once(alone, 10) / STATES)
            for seconds in (SHORT, LONG):
                r = sh.simulate(model, seconds, **start, output=[0.0, seconds], integrator=name, **options(method))
                best[name, seconds] = min(best.get((name, seconds), r.cost), r.cost, key=lambda c: c.wall)
    yield Measure("simulate", model.name, "one evaluation of the derivative", 1e9 * evaluation, " ns")
    for name in OWN:
        short, long = best[name, SHORT], best[name, LONG]
        n = long.steps - short.steps
        each, several = (long.wall - short.wall) / n, (long.evaluations - short.evaluations) / n
        what = f"step of {name}: {several:.1f} evaluations"
        if long.jacobians:
            what += f", {(long.jacobians - short.jacobians) / n:.2f} Jacobians"
        overhead = 1e6 * (each - several * evaluation)
        yield Measure("simulate", model.name, what, 1e9 * each, " ns", details={"besides evaluations": overhead})


def evaluations(model: sh.Model) -> Callable[[], None]:
    """The code for one state on STATES states, one after the other."""
    f = Dynamics(model, "auto", "auto").formulation
    shared = compiled_derivative(f.structure, f.method, f.programs.store, f.constrained, balance=False)
    rng = np.random.default_rng(2)
    q = np.array([model.random_q(rng) for _ in range(STATES)])
    inputs = {
        "q": q,
        "v": rng.normal(size=(STATES, model.nv)),
        "tau": np.zeros(model.nv),
        "parameter": np.zeros(1),
        "t": np.zeros(1),
    }
    assert shared is not None
    inputs["parameter"] = np.zeros(shared.code.inputs["parameter"])
    outputs = {name: np.empty((STATES, *shape)) for name, shape in shared.code.outputs.items()}
    return shared.code.bind(inputs | outputs, STATES)


def loading(method: Integrator, cache: Path) -> float:
    """Seconds until the machine code is loaded, in a fresh process."""
    return float(fresh_process(["-c", CHILD.format(name=method.name)], cache)[1])
