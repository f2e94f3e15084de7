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
from .shipped import SHIPPED
from .work import GRAPH, LOOPS

FORMAT = 1
KIND = "calibration"


@dataclass(frozen=True)
class Calibration:
    """Seconds for each number of `work`: straight-line code one state at a time and in lanes, loops for every method."""

    machine: str
    made: str
    """The day."""
    single: list[float]
    batch: list[float]
    loops: dict[str, list[float]]
    habits: dict[str, dict[str, float]] = field(default_factory=dict)
    """The factor by which straight-line code of a method is slower than the fit over all methods: "single" and "batch"."""
    spread: dict[str, float] = field(default_factory=dict)
    """How far predictions are from the measurements they were fitted to: root of mean squares, relative."""
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
    """That of this machine, or the one that is shipped."""
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
    """From now on this is the calibration of this machine, in this process and in those to come."""
    Cache().save(KIND, digest(host()), json.dumps(asdict(calibration)).encode())
    _current.cache_clear()


def forget() -> None:
    """Back to the calibration that is shipped."""
    path = Cache().folder / KIND / digest(host())
    try:
        if path.exists():
            path.unlink()
    except OSError as error:
        raise SharnirError(f"the calibration {path} cannot be removed ({error.strerror})") from None
    _current.cache_clear()


SHIPPED_CALIBRATION = Calibration(**SHIPPED)
