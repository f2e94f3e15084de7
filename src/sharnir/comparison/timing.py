"""Time, fairly: contenders take turns, so that the machine's noise falls on all of them alike.

It is the processor's time, which is the clock's on an idle machine, and on a busy one leaves out what others took.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from itertools import islice
from time import perf_counter, process_time
from typing import Any

clock = perf_counter if sys.platform == "win32" else process_time
"""Windows counts the processor's time in steps longer than a turn."""
TURN = 0.01
"""Seconds of a turn; at least one evaluation."""


MAX_SECONDS = 1.5
"""Seconds after which one whose single evaluation takes longer than a turn has had turns enough."""


class Stopwatch:
    """One call with arguments that change from call to call, timed in turns."""

    def __init__(self, call: Callable[..., Any], arguments: Iterator[tuple[Any, ...]], states_per_call: int = 1) -> None:
        self.call, self.arguments, self.states = call, arguments, states_per_call
        self.seconds: list[float] = []
        """Per state, of every turn."""
        self._calls = 1

    def warm_up(self) -> float:
        """Seconds per state after the first call, which may have compiled; settles how many calls a turn has."""
        self.seconds = [max(self._turn(), 1e-9)]
        for _ in range(3):
            if self.seconds[0] * self.states * self._calls < TURN / 2.0:
                self._calls = max(1, int(TURN / (self.seconds[0] * self.states)))
                self.seconds = [min(self.seconds[0], self._turn())]
        return self.seconds[0]

    def take_turn(self, first: bool) -> None:
        """`first`: what was measured while warming up does not count any longer. A slow one sits out some rounds."""
        if not first and sum(self.seconds) * self.states > MAX_SECONDS and len(self.seconds) >= 3:
            return
        seconds = self._turn()
        self.seconds = [seconds] if first else [*self.seconds, seconds]

    def _turn(self) -> float:
        call, ready = self.call, list(islice(self.arguments, self._calls))
        start = clock()
        for arguments in ready:
            call(*arguments)
        return (clock() - start) / (self._calls * self.states)
