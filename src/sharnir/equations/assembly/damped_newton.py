"""A damped Newton method for the least sum of squares (Levenberg, Marquardt): one search for all.

Undamped while steps keep what they promise, it converges fast; damped where one does not, it descends to a least sum of squares.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, Protocol, TypeVar

import numpy as np

FIRST_DAMPING, LAST_DAMPING = 1e-3, 1e9
STRAIGHT = 0.25
"""The share of the expected gain above which a step needs no damping."""
ACCEPTED = 1e-3
"""The share of the expected gain above which a step is taken."""


class Point(Protocol):
    """A point of a search."""

    @property
    def cost(self) -> float:
        """The sum of squares."""


class Step(NamedTuple):
    """A step: the motion, and the decrease of the cost that it promises."""

    motion: np.ndarray
    promised: float
    ends: float | None = None
    """The search ends where this step leaves more than so large a share of the cost."""


P = TypeVar("P", bound=Point)


def damped_newton(
    now: P,
    step: Callable[[P, float, float], Step | None],
    moved: Callable[[P, np.ndarray], P | None],
    iterations: int,
    damping: float = 0.0,
) -> P:
    """The end of the search from `now`. Damping is relative to the size of the equations.

    step   from a point, the damping, and the gain of the last step, relative to its promise (nan at first); None: the end
    moved  the point after a motion; None where it leads to none
    """
    gain = np.nan
    for _ in range(iterations):
        found = step(now, damping, gain)
        if found is None:
            break
        trial = moved(now, found.motion)
        if found.ends is not None and (trial is None or not trial.cost < found.ends * now.cost):
            return trial if trial is not None and trial.cost < now.cost else now
        gain = -1.0 if trial is None else (now.cost - trial.cost) / found.promised
        if trial is not None and ACCEPTED < gain < np.inf:
            now = trial
            damping = (0.1 * damping if damping > 1e-8 else 0.0) if gain > STRAIGHT else max(2.0 * damping, FIRST_DAMPING)
        elif damping > LAST_DAMPING:
            break
        else:
            damping = max(8.0 * damping, FIRST_DAMPING)
    return now
