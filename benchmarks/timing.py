"""Time, fairly: all contenders take turns, so that the machine's noise falls on all of them; the minimum of each counts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import repeat
from time import perf_counter
from typing import Any

QUICK = False
"""Set by `--quick`: fewer rounds."""


def race(contenders: Mapping[str, Callable[[], Any]], rounds: int = 12, seconds: float = 0.02) -> dict[str, float]:
    """Seconds per call of each. A turn lasts about `seconds`, however many calls that takes; at least one call."""
    rounds = max(3, rounds // 3) if QUICK else rounds
    best = {name: once(call) for name, call in contenders.items()}  # the first call may compile: it only sets a bound
    best = {name: once(call) for name, call in contenders.items()}
    for _ in range(rounds):
        for name, call in contenders.items():
            times = max(1, int(seconds / best[name]))
            best[name] = min(best[name], once(call, times))
    return best


def once(call: Callable[[], Any], times: int = 1) -> float:
    start = perf_counter()
    for _ in repeat(None, times):
        call()
    return (perf_counter() - start) / times
