"""Where loops take over from straight-line code: compilation times, and the time of an evaluation by both, by size."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from time import perf_counter

import numpy as np

import sharnir as sh
from sharnir.backends import sizes
from sharnir.backends.compiled_programs import CompiledPrograms
from sharnir.dialect.cache import cached_in
from sharnir.dialect.jit import host_lanes

from .harness import race
from .report import Measure

STATES = 64


def measure(quick: bool = False) -> Iterator[Measure | str]:
    yield f"backend='auto' takes loops from {sizes.PROGRAM} nodes on"
    for n in (10, 40) if quick else (5, 10, 20, 40, 80):
        model = sh.samples.chain(n)
        s = model.freeze()
        with tempfile.TemporaryDirectory() as folder, cached_in(Path(folder)):
            straight = CompiledPrograms(s, "llvm").runner("forward/separate", ("qdd",))
            seconds = []
            for lanes in (1, host_lanes()):
                begun = perf_counter()
                straight.code(lanes)
                seconds.append(perf_counter() - begun)
        loops = CompiledPrograms(s, "loops").runner("forward/separate", ("qdd",))
        rng = np.random.default_rng(0)
        given = [rng.uniform(-1.0, 1.0, (STATES, n)) for _ in range(3)]
        calls = {}
        for name, runner in (("straight", straight), ("loops", loops)):
            for states in (1, STATES):
                inputs = [*(x[:states] for x in given), np.zeros((1, 1))]
                calls[f"{name}, {states}"] = runner.prepared(states, inputs, [np.empty((states, n))], states > 1)
        found = race(calls, rounds=12)
        label = f"{n} bodies, {len(straight.traced.graph.nodes)} nodes"
        yield Measure("limit", label, "straight-line code, compiled for one state", seconds[0], " s")
        yield Measure("limit", label, "straight-line code, compiled for a batch", seconds[1], " s")
        for states in (1, STATES):
            ratio = found[f"loops, {states}"] / found[f"straight, {states}"]
            yield Measure("limit", label, f"time of loops over straight-line code, {states} at a time", ratio, " times")
