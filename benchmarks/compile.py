"""The first answer of a fresh process, with an empty cache and with a full one."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from pathlib import Path

from .harness import fresh_process
from .report import Measure

MODELS = {"manipulator": "sh.samples.manipulator()", "panda": "load('panda').model", "talos": "load('talos').model"}
TARGETS = {("manipulator", "cold"): 2.0, ("manipulator", "warm"): 0.2, ("panda", "cold"): 2.0, ("panda", "warm"): 0.2,
           ("talos", "cold"): 10.0}  # fmt: skip

CHILD = """
import json, time
from time import perf_counter
marks = [perf_counter()]
import numpy, scipy.linalg, scipy.sparse.linalg, llvmlite.binding
marks.append(perf_counter())
import sharnir as sh
marks.append(perf_counter())
if "load" in {expression!r}:
    from benchmarks.robots import load
model = {expression}
model.freeze()
q, v = model.random_q(0), numpy.full(model.nv, 0.1)
marks.append(perf_counter())
d = sh.Dynamics(model)
d.forward(q, v, v)
marks.append(perf_counter())
d.forward(numpy.tile(q, (64, 1)), v, v)
marks.append(perf_counter())
print(json.dumps([b - a for a, b in zip(marks, marks[1:])]))
"""
STEPS = ("libraries", "import", "model", "first", "batch")


def first_answer(expression: str, cache: Path) -> dict[str, float]:
    """Seconds of each step in a process of its own: numpy, scipy and llvmlite; sharnir; the model; the first Dynamics
    and forward of one state; the first batch."""
    _, out = fresh_process(["-c", CHILD.format(expression=expression)], cache, cache / "bytecode")
    return dict(zip(STEPS, json.loads(out.splitlines()[-1]), strict=True))


def measure(quick: bool = False) -> Iterator[Measure | str]:
    """The minimum of a few processes, each cold one followed by a warm one."""
    imports: list[dict[str, float]] = []
    for name, expression in MODELS.items():
        runs: dict[str, list[dict[str, float]]] = {"cold": [], "warm": []}
        for _ in range(1 if quick else 3):
            with tempfile.TemporaryDirectory() as folder:
                for state in runs.values():
                    state.append(first_answer(expression, Path(folder)))
        for state, found in runs.items():
            first, batch = (min(run[step] for run in found) for step in ("first", "batch"))
            what, target = f"first Dynamics and forward, {state} cache", TARGETS.get((name, state))
            yield Measure("compile", name, what, first, " s", target, at_most=True)
            yield Measure("compile", name, f"first batch after it, {state} cache", batch, " s")
        whole = min(sum(run[step] for step in ("libraries", "import", "model", "first")) for run in runs["warm"])
        if "load" not in expression:
            yield Measure("compile", name, "all from the first import to the first answer, warm cache", whole, " s")
        imports += runs["cold"] + runs["warm"]
    for step, what in (("libraries", "import of numpy, scipy, llvmlite"), ("import", "import sharnir after them")):
        yield Measure("compile", "process", what, min(run[step] for run in imports), " s")
