"""Long life of one process: thousands of models, a hundred thousand simulations, and how much memory stays."""

from __future__ import annotations

import gc
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

import sharnir as sh
from sharnir.reporting.progress import ProgressBar

from .report import Measure

MODELS, SIMULATIONS, WARM_UP = 2_000, 100_000, 0.05
LIMIT = 20.0
"""MB that may stay after the warm-up."""


def resident() -> float:
    """MB of this process in memory."""
    gc.collect()
    return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


def grown(work: Callable[[int], object], times: int, what: str) -> float:
    """MB that stay of so many rounds of work, after the first of them."""
    warm = max(int(WARM_UP * times), 10)
    with ProgressBar(None, what, warm + times) as bar:
        for i in range(warm):
            work(i)
            bar.update(i)
        start = resident()
        for i in range(warm, warm + times):
            work(i)
            bar.update(i)
    return resident() - start


def new_model(i: int) -> None:
    """A mechanism no one has compiled before: built, asked, simulated, written and read."""
    k = 1e-5 * (i + 1)
    kind = i % 4
    if kind == 0:
        m = sh.samples.four_bar(coupler=1 + k, base=1 + k)
    elif kind == 1:
        m = sh.samples.slider_crank(rod=0.5 + k)
    else:
        m = sh.samples.chain(2 + i % 3)
        m.gravity = [0.0, 0.0, -9.81 + k]
        if kind == 2:
            m.add_force(sh.SpringDamper(m.bodies[0].name, m.bodies[1].name, at_a=(0.1, 0.0, 0.0), stiffness=10 + k))
            m = sh.loads(sh.dumps(m))
    d = sh.Dynamics(m)
    q = np.full((8, m.nq), 0.1)
    if kind > 1:
        d.forward(q, q, q)
        d.inverse(q, q, q)
    sh.simulate(m, 0.01, v0=np.full(m.nv, 0.1) if kind > 1 else None)


def simulations() -> Callable[[int], object]:
    m = sh.samples.double_pendulum()
    return lambda i: sh.simulate(m, 1e-3, v0=[1e-4 * (i % 1000), 0.1])


def measure(quick: bool = False) -> Iterator[Measure | str]:
    share = 20 if quick else 1
    for what, work, times in (("models", new_model, MODELS // share), ("simulations", simulations(), SIMULATIONS // share)):
        yield Measure("soak", f"{times} {what}", "memory that stays", grown(work, times, what), " MB", LIMIT, at_most=True)
