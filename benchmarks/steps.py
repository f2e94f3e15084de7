"""Loops around a simulation: what a call of `Simulation.step` and `reset` costs, and a sample of a controller."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from time import process_time

import sharnir as sh

from .report import Measure

CASES = {
    "double pendulum, rk4": {"integrator": "rk4", "step": 0.01},
    "double pendulum, auto": {"integrator": "auto"},
}
DT, MOST = 0.01, 100.0
"""Seconds of a step; most microseconds of a call."""


def microseconds(call: Callable[[], object], count: int, rounds: int) -> float:
    """Of the processor, the least of several rounds."""

    def once() -> float:
        begun = process_time()
        for _ in range(count):
            call()
        return process_time() - begun

    return 1e6 * min(once() for _ in range(rounds)) / count


def measure(quick: bool = False) -> Iterator[Measure | str]:
    count, rounds, m = 200, 5 if quick else 25, sh.samples.double_pendulum()
    for name, options in CASES.items():
        sim = sh.Simulation(m, [0.5, 0.2], record=False, **options)  # type: ignore[arg-type]

        def push(sim: sh.Simulation = sim) -> None:
            sim.tau = [0.1, 0.1]
            sim.step(DT)

        def sampled(options: dict[str, object] = options) -> None:
            control = sh.Sampled(lambda s: s.tau, DT)
            sh.simulate(m, count * DT, q0=[0.5, 0.2], control=control, output=1.0, **options)  # type: ignore[arg-type]

        push()
        yield Measure("steps", name, "set tau, step", microseconds(push, count, rounds), " µs", MOST, at_most=True)
        reset = microseconds(lambda sim=sim: sim.reset([0.5, 0.2]), count, rounds)
        yield Measure("steps", name, "reset", reset, " µs", MOST, at_most=True)
        run = microseconds(sampled, 1, rounds) / count
        yield Measure("steps", name, "one sample of a controlled run", run, " µs", MOST, at_most=True)
