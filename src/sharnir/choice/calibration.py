"""The time of a unit of work on this machine: measured by `calibrate` and stored in the cache folder, or the shipped default."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from ..dialect.cache import Cache, default_folder, digest
from ..dialect.jit import host
from ..errors import SharnirError
from .work import GRAPH, LOOPS

# --- A calibration for machines that have none of their own: what `sharnir calibrate` found on the machine named
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


# --- calibration
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
    stored = None if body is None else _checked(body)
    return stored or SHIPPED_CALIBRATION


def _checked(body: bytes) -> Calibration | None:
    """The stored calibration, if it is complete and of this format."""
    try:
        found: dict[str, Any] = json.loads(body)
        if found.get("format") != FORMAT or len(found["single"]) != len(GRAPH) or len(found["batch"]) != len(GRAPH):
            return None
        if any(len(numbers) != len(LOOPS) for numbers in found["loops"].values()):
            return None
        return Calibration(**found)
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
        if path.exists():
            path.unlink()
    except OSError as error:
        raise SharnirError(f"the calibration {path} cannot be removed ({error.strerror})") from None
    _current.cache_clear()


SHIPPED_CALIBRATION = Calibration(**SHIPPED)
