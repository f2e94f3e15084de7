"""When sampled controllers are called and when their commands act: instants of a run, exact multiples of each period."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...errors import StateError
from ..run.options import ROUNDING
from .sampled import Sampled

APPLY, CALL = range(2)
"""At one instant commands that waited act first, then controllers are called."""

MOST_SAMPLES = 10**8


@dataclass(frozen=True)
class Schedule:
    """`times` of the instants; `tasks` (n, 3), what is done: APPLY or CALL, the controller, the number of its sample; those of
    instant i are tasks[first[i] : first[i + 1]]."""

    times: np.ndarray
    tasks: np.ndarray
    first: np.ndarray

    def at(self, instant: int) -> list[list[int]]:
        tasks: list[list[int]] = self.tasks[self.first[instant] : self.first[instant + 1]].tolist()
        return tasks


def schedule(controllers: Sequence[Sampled], t0: float, t1: float) -> Schedule:
    """From t0 to before t1: a command at the end would move nothing. Times that differ by rounding are one instant, at the sample
    time where one is among them."""
    tick = ROUNDING * min(one.period for one in controllers)
    counts = [max(0, int(np.ceil((t1 - t0 - one.offset) / one.period - ROUNDING))) for one in controllers]
    if sum(counts) > MOST_SAMPLES:
        raise StateError(f"control: {sum(counts):.2g} samples between t = {t0:g} and {t1:g}; take a longer period")
    times: list[np.ndarray] = [np.zeros(0)]
    tasks: list[np.ndarray] = [np.zeros((0, 3), dtype=np.int64)]
    for c, (one, count) in enumerate(zip(controllers, counts, strict=True)):
        k = np.arange(count)
        called = t0 + one.offset + one.period * k
        for kind, t in ((CALL, called), *([(APPLY, called + one.delay)] if one.delay else [])):
            inside = t < t1 - tick
            times.append(t[inside])
            tasks.append(np.stack([np.full(count, kind), np.full(count, c), k], axis=1)[inside])
    t, what = np.concatenate(times), np.concatenate(tasks)
    order = np.lexsort((what[:, 1], what[:, 0], t))
    t, what = t[order], what[order]
    starts = np.flatnonzero(np.diff(t, prepend=-np.inf) > tick)
    instant = np.cumsum(np.isin(np.arange(len(t)), starts)) - 1
    order = np.lexsort((what[:, 2], what[:, 1], what[:, 0], instant))
    t, what = t[order], what[order]
    if not len(t):
        return Schedule(t, what, np.zeros(1, dtype=np.int64))
    sampled = np.minimum.reduceat(np.where(what[:, 0] == CALL, t, np.inf), starts)
    return Schedule(np.where(np.isfinite(sampled), sampled, t[starts]), what, np.append(starts, len(t)))
