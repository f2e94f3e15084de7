"""Distributions by name, as files give them: each is what `study` takes from scipy.stats."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ...errors import StateError


class Family(NamedTuple):
    numbers: tuple[str, ...]
    """What its numbers are, in their order."""
    needs: str
    """Of them, in words."""
    holds: Callable[..., bool]
    make: Callable[..., Any]
    """From scipy.stats and the numbers."""


FAMILIES: dict[str, Family] = {
    "uniform": Family(("low", "high"), "low < high", lambda a, b: a < b, lambda s, a, b: s.uniform(a, b - a)),
    "loguniform": Family(("low", "high"), "0 < low < high", lambda a, b: 0 < a < b, lambda s, a, b: s.loguniform(a, b)),
    "normal": Family(("mean", "deviation"), "deviation > 0", lambda m, d: d > 0, lambda s, m, d: s.norm(m, d)),
    "lognormal": Family(
        ("median", "deviation of the logarithm"), "both > 0", lambda m, d: m > 0 and d > 0, lambda s, m, d: s.lognorm(d, scale=m)
    ),
    "triangular": Family(
        ("low", "mode", "high"), "low <= mode <= high and low < high", lambda a, m, b: a <= m <= b and a < b,
        lambda s, a, m, b: s.triang((m - a) / (b - a), a, b - a),
    ),
    "weibull": Family(("scale", "shape"), "both > 0", lambda c, k: c > 0 and k > 0, lambda s, c, k: s.weibull_min(k, scale=c)),
}  # fmt: skip


class Truncated:
    """A distribution of which only what lies between two values is drawn."""

    def __init__(self, whole: Any, low: float, high: float) -> None:
        self._whole, self._low, self._high = whole, low, high
        self._below, upto = float(whole.cdf(low)), float(whole.cdf(high))
        self._share = upto - self._below
        if not self._share > 0.0:
            raise StateError(f"nothing of the distribution lies between {low:g} and {high:g}")

    def ppf(self, u: np.ndarray) -> np.ndarray:
        return np.clip(self._whole.ppf(self._below + self._share * u), self._low, self._high)


def distribution(name: str, numbers: Sequence[float]) -> Any:
    """One of `FAMILIES`."""
    from scipy import stats  # takes longer to import than a file to read

    family = FAMILIES[name]
    if len(numbers) != len(family.numbers) or not family.holds(*numbers):
        shown = ", ".join(f"{x:g}" for x in numbers)
        raise StateError(f"expected [{', '.join(family.numbers)}] with {family.needs}, got [{shown}]")
    return family.make(stats, *numbers)
