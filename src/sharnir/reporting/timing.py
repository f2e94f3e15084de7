"""Timing: repeated calls in samples, all contenders sampled in turn so that the machine's noise falls on all alike.

Noise only ever adds: the minimum over the samples is the result.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Iterator, Mapping
from itertools import islice, repeat
from math import inf
from time import perf_counter, process_time
from typing import Any, TypeVar

Key = TypeVar("Key")
Clock = Callable[[], float]
Repeat = Callable[[int], float]
"""Seconds that so many calls take."""
cpu_clock: Clock = perf_counter if sys.platform == "win32" else process_time
"""Processor time of this process, which leaves out that of others; Windows counts it in steps that are too coarse."""


def repeated(call: Callable[[], Any]) -> Repeat:

    def run(times: int) -> float:
        start = perf_counter()
        for _ in repeat(None, times):
            call()
        return perf_counter() - start

    return run


def repeated_over(call: Callable[..., Any], arguments: Iterator[tuple[Any, ...]], clock: Clock = perf_counter) -> Repeat:
    """Repeat a call with other arguments each time, which are prepared before the clock starts."""

    def run(times: int) -> float:
        ready = list(islice(arguments, times))
        start = clock()
        for each in ready:
            call(*each)
        return clock() - start

    return run


def once(call: Callable[[], Any], times: int = 1) -> float:
    """Seconds per call."""
    return repeated(call)(times) / times


def cpu_and_wall(call: Callable[[], Any]) -> tuple[float, float]:
    """Processor and elapsed seconds of one call."""
    wall, cpu = perf_counter(), cpu_clock()
    call()
    return cpu_clock() - cpu, perf_counter() - wall


class Stopwatch:
    """One contender: samples of about `sample` seconds, each of as many calls as that takes, `fewest` to `most`."""

    def __init__(
        self, run: Repeat, sample: float, *, states: int = 1, fewest: int = 1, most: int = sys.maxsize, limit: float = inf
    ) -> None:
        self.run, self.sample, self.states, self.fewest, self.most, self.limit = run, sample, states, fewest, most, limit
        self.calls = fewest
        self.seconds: list[float] = []
        """Seconds per state of a call, for every sample; before the first, the seconds found by warming up."""
        self.spent = 0.0
        self._measuring = False

    @property
    def least(self) -> float:
        return min(self.seconds)

    def warm_up(self) -> float:
        """Call once unmeasured, which may compile; then find how many calls make a sample. Seconds per state."""
        self.run(1)
        best = inf
        for _ in range(4):
            best = min(best, max(self.run(self.calls) / self.calls, 1e-9))
            enough = int(min(max(self.sample / best, self.fewest), self.most))
            if self.calls >= enough // 2:
                break
            self.calls = enough
        self.seconds = [best / self.states]
        return self.seconds[0]

    def take_sample(self) -> None:
        """Take one more sample, unless three were taken and they took longer than `limit` seconds."""
        if self.spent > self.limit and len(self.seconds) >= 3:
            return
        took = self.run(self.calls)
        each = took / (self.calls * self.states)
        self.seconds = [*self.seconds, each] if self._measuring else [each]
        self.spent += took
        self._measuring = True


def interleaved(watches: Collection[Stopwatch], rounds: int, seconds: float = 0.0) -> Iterator[int]:
    """Rounds in which each takes a sample: at least `rounds`, and until they took `seconds` each on the average.

    Yields the number of a round before it begins: leave the loop to end early.
    """
    before, done = sum(w.spent for w in watches), 0
    while done < rounds or sum(w.spent for w in watches) - before < seconds * len(watches):
        yield done
        for watch in watches:
            watch.take_sample()
        done += 1


def race(
    calls: Mapping[Key, Callable[[], Any]], *, rounds: int, sample: float, seconds: float = 0.0,
    states: Mapping[Key, int] | None = None,
) -> dict[Key, float]:  # fmt: skip
    """Least seconds per call of each, or per state where a call works on several; elapsed time."""
    watches = {key: Stopwatch(repeated(call), sample, states=states[key] if states else 1) for key, call in calls.items()}
    for watch in watches.values():
        watch.warm_up()
    for _ in interleaved(watches.values(), rounds, seconds):
        pass
    return {key: watch.least for key, watch in watches.items()}
