"""The first minute: the first simulation of a fresh process with an empty and with a full cache, and the command line."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

from .harness import fresh_process
from .report import Measure
from .robots import urdf_of

CASES = {
    "pendulum, auto": ("sh.samples.pendulum()", "", 1.5),
    "UR5, rk4": ("sh.load({ur5!r}, acting='motion')", "integrator='rk4', step=1e-3", 2.0),
    "four-bar, radau": ("sh.samples.four_bar()", "integrator='radau'", 2.5),
}
"""Model, options, most seconds with an empty cache."""
WARM = 0.3
COMMANDS = {"sharnir run ur5.urdf": ([], 0.6), "sharnir run ur5.urdf -o run.nc": (["-o", "run.nc"], 1.2)}

CHILD = """
import sharnir as sh
from time import perf_counter
model = {model}
model.freeze()
begun = perf_counter()
sh.simulate(model, 1.0, {options})
print(perf_counter() - begun)
"""


def measure(quick: bool = False) -> Iterator[Measure | str]:
    ur5 = urdf_of("ur5")
    with tempfile.TemporaryDirectory() as folder:
        bytecode = Path(folder) / "bytecode"
        for name, (model, options, limit) in CASES.items():
            code = CHILD.format(model=model.format(ur5=ur5), options=options)
            caches = [Path(folder) / f"{name}-{k}" for k in range(2 if quick else 4)]
            spent = [[float(fresh_process(["-c", code], cache, bytecode)[1]) for _ in range(3)] for cache in caches]
            cold, warm = min(x[0] for x in spent[1:]), min(y for x in spent for y in x[1:])  # the very first writes bytecode
            yield Measure("first", name, "first simulate, empty cache", cold, " s", limit, at_most=True)
            yield Measure("first", name, "first simulate, full cache", warm, " s", WARM, at_most=True)
        for name, (more, limit) in COMMANDS.items():
            command = ["-m", "sharnir.cli.main", "run", ur5, "--duration", "1", *more]
            cache = Path(folder) / "command"
            times = [fresh_process(command, cache, bytecode, Path(folder))[0] for _ in range(4 if quick else 8)]
            yield Measure("first", name, "whole command, full cache", min(times[1:]), " s", limit, at_most=True)
