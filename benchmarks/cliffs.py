"""One step beside the fast path: a step of a `Simulation` over its integration, every way into `forward` over arrays, a short run
repeated, and rows of four-bars across the size at which straight-line code ends."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import sharnir as sh
from sharnir.integrate.kernels import state as s

from .harness import race
from .report import Measure
from .robots import load

ROBOTS = ("ur5", "anymal_c", "talos")
STEP, OVER_ARRAYS, SHORT_RUN = 6.0, 5.0, 80.0
"""Most microseconds: of a step over its integration, of other arguments over arrays, of a run of 10 ms."""
ROWS = (10, 20, 30, 60, 200)
BATCH = 256


def measure(quick: bool = False) -> Iterator[Measure | str]:
    for name in ROBOTS[:2] if quick else ROBOTS:
        robot = load(name)
        yield from step(robot.name, robot.model)
    yield from step("four-bar", sh.samples.four_bar())
    yield from ways_in(load("ur5").model)
    for n in ROWS[:3] if quick else ROWS:
        for method in ("separate", "composite") if n <= 60 else ("separate",):
            yield from four_bars(n, method)


def step(name: str, m: sh.Model) -> Iterator[Measure]:
    """A step of 1 ms by rk4: in all, and over the same call of machine code."""
    sim = sh.Simulation(m, integrator="rk4", step=1e-3, record=False)
    sim.step(1e-3, 300)  # away from where it starts, which may be a singular position
    sim.step(1e-3)
    prepared, filled = sim._runs._prepared, sim._runs._filled
    assert prepared is not None
    workspace, x, tau = prepared.workspace, sim._x.copy(), np.zeros(m.nv)

    def integration() -> None:
        workspace.block[:] = filled
        workspace.state.x[:] = x
        workspace.state.clock[s.T], workspace.state.clock[s.T_END] = 0.0, 1e-3
        workspace.output.count[0] = 0.0
        workspace.drive()

    def stepped() -> None:
        sim.tau = tau
        sim.step(1e-3)

    times = race({"integration": integration, "step": stepped})
    yield Measure("cliffs", name, "set tau and step 1 ms, rk4", 1e6 * times["step"], " µs")
    over = 1e6 * (times["step"] - times["integration"])
    yield Measure("cliffs", name, "of this over the integration", over, " µs", STEP, at_most=True)


def ways_in(m: sh.Model) -> Iterator[Measure]:
    """`forward` of lists, names and other arguments; `simulate` of 10 ms, repeated."""
    d, rng = sh.Dynamics(m), np.random.default_rng(0)
    q, v, tau = rng.normal(size=(3, m.nv))
    named, lists = dict(zip(m.q_names, q.tolist(), strict=True)), [x.tolist() for x in (q, v, tau)]
    out, single = np.zeros(m.nv), [x.astype(np.float32) for x in (q, v, tau)]
    calls = {
        "arrays": lambda: d.forward(q, v, tau),
        "lists": lambda: d.forward(*lists),
        "one argument by name": lambda: d.forward(named, v, tau),
        "float32": lambda: d.forward(*single),
        "out=": lambda: d.forward(q, v, tau, out=out),
        "t=1": lambda: d.forward(q, v, tau, 1),
        "run": lambda: sh.simulate(m, 0.01),
    }
    times = race(calls)
    yield Measure("cliffs", m.name, "forward of arrays", 1e6 * times["arrays"], " µs")
    for name in ("lists", "one argument by name", "float32", "out=", "t=1"):
        over = 1e6 * (times[name] - times["arrays"])
        yield Measure("cliffs", m.name, f"{name}, over arrays", over, " µs", OVER_ARRAYS, at_most=True)
    yield Measure("cliffs", m.name, "simulate of 10 ms, repeated", 1e6 * times["run"], " µs", SHORT_RUN, at_most=True)


def four_bars(n: int, method: str) -> Iterator[Measure]:
    """`forward` of a row of n four-bars, one state and a batch, in microseconds for each loop."""
    m, start = sh.samples.n_four_bar(n), sh.samples.n_four_bar_start(n, angle=1.1)
    d = sh.Dynamics(m, method)
    q, v = np.array(m.coordinates(start["q0"])), np.array(m.speeds(start["v0"]))
    tau, many = np.zeros(m.nv), (np.tile(q, (BATCH, 1)), np.tile(v, (BATCH, 1)))
    times = race({"one": lambda: d.forward(q, v, tau), "batch": lambda: d.forward(*many)})
    what = f"row of {n} four-bars, {method}"
    yield Measure("cliffs", what, "forward, for each loop", 1e6 * times["one"] / n, " µs")
    yield Measure("cliffs", what, f"forward, batch of {BATCH}, for each loop and state", 1e6 * times["batch"] / n / BATCH, " µs")
