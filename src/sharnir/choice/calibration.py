"""Work of a method in a few numbers, and the time of each on this machine: measured by `calibrate`, or the shipped default."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from functools import cached_property, lru_cache
from math import log2
from typing import Any

import numpy as np

from ..backends.traced import TracedProgram
from ..dialect.cache import Cache, default_folder, digest
from ..dialect.jit import host
from ..errors import SharnirError
from ..model.structure import Structure
from ..trace import Symbol, needed

GRAPH = ("call", "operations", "divisions", "functions", "path", "room")
"""Work of straight-line code. `path`: the critical path, in cycles: a lower bound however much runs in parallel.
`room`: operations · log2(operations/1000): the cost of code that exceeds registers and the nearest caches."""

LOOPS = ("call", "bodies", "motions", "axes", "pairs", "triples", "square", "cube")
"""Work of loops. `motions`: elementary ones, of all joints. `pairs`: of an axis with those on its way to the base; `triples`
likewise; `square`, `cube`: of the freedoms."""

_CYCLES = {
    "add": 4, "sub": 4, "mul": 4, "div": 13, "sqrt": 20, "neg": 1, "select": 2, "abs": 1, "less": 3, "less_equal": 3, "floor": 8,
    "entry": 8,
}  # fmt: skip
_FUNCTION = 40
"""Latencies in cycles on recent processors; a function is some ten dependent operations."""

_ARITHMETIC = {"add", "sub", "mul"}


def of_graph(traced: TracedProgram) -> np.ndarray:
    """The numbers `GRAPH` of a traced program."""
    nodes = traced.graph.nodes
    wanted = needed(traced.graph, [x for group in traced.outputs.values() for x in group if isinstance(x, Symbol)])
    ready: dict[int, int] = {}
    operations = divisions = functions = path = 0
    for k in wanted:
        name, *arguments = nodes[k]
        if name in ("input", "const"):
            continue
        name = name if isinstance(name, str) else name.name
        ready[k] = max([ready.get(a, 0) for a in arguments], default=0) + _CYCLES.get(name, _FUNCTION)
        path = max(path, ready[k])
        operations += name in _ARITHMETIC
        divisions += name in ("div", "sqrt")
        functions += name not in _CYCLES
    room = operations * max(0.0, log2(max(operations, 1) / 1000.0))
    return np.array([1.0, operations, divisions, functions, path, room])


def of_loops(structure: Structure) -> np.ndarray:
    """The numbers `LOOPS` of a tree."""
    s = structure
    depth = [0.0] * (s.na + 1)  # axes on the way to the base, the axis itself among them; the last place: the base
    for a, above in enumerate(s.tree.above.tolist()):
        depth[a] = 1.0 + depth[above]
    d, n = np.array(depth[: s.na]), float(s.nv)
    return np.array([1.0, s.nb, len(s.joints.kind), s.na, d.sum(), (d * d).sum(), n * n, n**3])


# --- the calibration for machines that have none of their own: what `sharnir calibrate` found on the machine it names
SHIPPED: dict[str, Any] = {
    "machine": "AMD EPYC (Zen 3)",
    "made": "2026-11-16",
    "single": [1.258e-09, 1.019e-10, 6.196e-10, 3.288e-09, 8.98e-11, 2.642e-11],
    "batch": [4.584e-09, 2.983e-11, 1.804e-10, 1.042e-09, 2.712e-11, 3.943e-12],
    "loops": {
        "composite": [1.383e-07, 2.222e-08, 5.182e-08, 0.0, 1.057e-08, 2.431e-10, 2.511e-10, 7.874e-14],
        "direct": [5.75e-08, 3.818e-08, 5.472e-08, 1.936e-08, 1.329e-09, 8.224e-10, 2.658e-11, 4.073e-11],
        "lagrange1": [0.0, 8.317e-07, 6.815e-08, 0.0, 0.0, 4.102e-13, 1.506e-10, 0.0],
        "separate": [5.233e-08, 6.202e-08, 4.604e-08, 4.735e-08, 1.5e-10, 0.0, 0.0, 0.0],
        "stepanenko": [8.781e-08, 6.136e-08, 4.798e-08, 0.0, 1.25e-08, 4.814e-10, 0.0, 1.227e-11],
    },
    "habits": {
        "single": {"composite": 1.015, "direct": 1.018, "lagrange1": 0.9631, "separate": 0.9917, "stepanenko": 1.028},
        "batch": {"composite": 1.016, "direct": 1.028, "lagrange1": 0.9906, "separate": 1.002, "stepanenko": 1.024},
    },
    "spread": {"single": 0.06217, "batch": 0.09231},
    "format": 1,
}


# --- the calibration of this machine
FORMAT = 1
KIND = "calibration"


@dataclass(frozen=True)
class Calibration:
    """Seconds for each number of `work`: straight-line code one state at a time and in lanes, loops for every method."""

    machine: str
    made: str
    """Date of the calibration."""
    single: list[float]
    batch: list[float]
    loops: dict[str, list[float]]
    habits: dict[str, dict[str, float]] = field(default_factory=dict)
    """The factor by which straight-line code of a method is slower than the fit over all methods: "single" and "batch"."""
    spread: dict[str, float] = field(default_factory=dict)
    """Root mean square of the relative error of predictions, for the measurements they were fitted to."""
    format: int = FORMAT

    def graph_seconds(self, method: str, work: np.ndarray, batch: bool) -> float:
        habit = self.habits.get("batch" if batch else "single", {}).get(method, 1.0)
        return habit * float(work @ (self.batch if batch else self.single))

    def loop_seconds(self, method: str, work: np.ndarray) -> float:
        return float(work @ self.loops[method])

    @cached_property
    def key(self) -> str:
        return digest(json.dumps(asdict(self), sort_keys=True))

    def __str__(self) -> str:
        return f"{self.machine}, {self.made}"


def current() -> Calibration:
    """The calibration of this machine, or the one that is shipped."""
    return _current(str(default_folder()))


@lru_cache(maxsize=8)
def _current(folder: str) -> Calibration:
    body = Cache().load(KIND, digest(host()))
    return (body and _checked(body)) or SHIPPED_CALIBRATION


def _checked(body: bytes) -> Calibration | None:
    """The stored calibration, if it is complete and of this format."""
    try:
        found: dict[str, Any] = json.loads(body)
        whole = found.get("format") == FORMAT and len(found["single"]) == len(found["batch"]) == len(GRAPH)
        return Calibration(**found) if whole and all(len(x) == len(LOOPS) for x in found["loops"].values()) else None
    except (ValueError, TypeError, KeyError, AttributeError):
        return None


def store(calibration: Calibration) -> None:
    """Make this the calibration of this machine, in this process and in later ones."""
    Cache().save(KIND, digest(host()), json.dumps(asdict(calibration)).encode())
    _current.cache_clear()


def forget() -> None:
    """Go back to the calibration that is shipped."""
    path = Cache().folder / KIND / digest(host())
    try:
        if path.exists():  # also where the folder cannot be one
            path.unlink()
    except OSError as error:
        raise SharnirError(f"the calibration {path} cannot be removed ({error.strerror})") from None
    _current.cache_clear()


SHIPPED_CALIBRATION = Calibration(**SHIPPED)
