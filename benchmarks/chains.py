"""Long chains: compiled loops, nanoseconds a body, from ten bodies to a million."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from time import perf_counter
from typing import Any

import numpy as np
import pinocchio as pin

import sharnir as sh

from .harness import check_same, race
from .report import Measure
from .robots import chain_pair

METHODS = ("separate", "lagrange1")
SIZES = (10, 100, 300, 1_000, 10_000, 100_000, 1_000_000)
QUICK_SIZES = (10, 100, 1_000, 10_000)
WITH_PINOCCHIO = 300
"""Beyond, Pinocchio's Data, cubic in the number of bodies, needs too much memory: 0.9 GB at 300, over 16 at 1000."""
LANES = (1_000, 64)
"""Bodies and states of a batch."""


def forward(model: sh.Model, method: str) -> Callable[[], np.ndarray]:
    """Forward dynamics in a generic state."""
    d = sh.Dynamics(model, method, backend="loops")
    return partial(d.forward, *state(model.structure.nv))


def state(n: int) -> np.ndarray:
    return np.random.default_rng(0).uniform(-1.0, 1.0, (3, n)) * [[1.0], [0.1], [0.1]]


def measure(quick: bool = False) -> Iterator[Measure | str]:
    found: dict[tuple[str, int], float] = {}
    for n in QUICK_SIZES if quick else SIZES:
        start = perf_counter()
        model = sh.samples.chain(n)
        model.freeze()
        built = perf_counter() - start
        start = perf_counter()
        contenders: dict[str, Callable[[], Any]] = {method: forward(model, method) for method in METHODS}
        contenders["separate"]()
        answered = built + perf_counter() - start
        limit = 20.0 if n == 1_000_000 else None
        yield Measure("chains", f"{n} bodies", "built body by body and answered", answered, " s", limit, at_most=True)
        contenders["separate, the loop alone"] = alone(model)
        if n <= WITH_PINOCCHIO:
            contenders["aba"] = aba(n)
            check_same(f"chain of {n}, separate", contenders["separate"](), contenders["aba"]().copy())
        check_same(f"chain of {n}, lagrange1", contenders["lagrange1"](), contenders["separate"](), 1e-7)
        for name, seconds in race(contenders, rounds=6 if n > 10_000 else 12).items():
            found[name, n] = 1e9 * seconds / n
            limit = 200.0 if name == "separate" and n == 100_000 else None
            yield Measure("chains", f"{n} bodies", name, found[name, n], " ns a body", limit, at_most=True)
        if n == 100:
            overhead = 1e-3 * n * (found["separate", n] - found["separate, the loop alone", n])
            yield Measure("chains", f"{n} bodies", "overhead of a call", overhead, " µs", 6.0, at_most=True)
    yield from lanes()
    yield from growth(found)


def lanes() -> Iterator[Measure]:
    n, states = LANES
    model = sh.samples.chain(n)
    d = sh.Dynamics(model, "separate", backend="loops")
    q, v, tau = np.random.default_rng(0).uniform(-1.0, 1.0, (3, states, n))
    out = np.empty((states, n))
    call = partial(d.forward, q, v, tau, out=out)
    call()
    check_same(f"chain of {n}, a batch", out[5], d.forward(q[5], v[5], tau[5]))
    seconds = race({"batch": call}, rounds=12)["batch"]
    yield Measure(
        "chains", f"{n} bodies", f"separate, {states} states", 1e9 * seconds / n / states, " ns a body", 90.0, at_most=True
    )


def alone(model: sh.Model) -> Callable[[], None]:
    """One state again and again: the compiled code alone."""
    n = model.structure.nv
    runner = sh.Dynamics(model, "separate", backend="loops").formulation.programs.runner("forward/separate", ("qdd",))
    arrays = {name: x.copy() for name, x in zip(("q", "v", "tau"), state(n), strict=True)}
    (native,) = runner.chain(arrays | {"t": np.zeros(1), "qdd": np.empty(n)})
    return native


def growth(found: dict[tuple[str, int], float]) -> Iterator[Measure]:
    """Cost per body relative to that at a thousand bodies: 1 is linear growth."""
    last = max(n for _, n in found)
    for method in METHODS:
        value = found[method, last] / found[method, 1_000]
        yield Measure("chains", method, f"cost of a body at {last} over that at 1000", value, "", 1.3, at_most=True)


def aba(n: int) -> Callable[[], np.ndarray]:
    pair = chain_pair(n)
    return partial(pin.aba, pair.pin, pair.pin.createData(), *state(n))
