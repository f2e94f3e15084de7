"""The axis of a column: its ends, linear or logarithmic, and ticks with their texts; the same in pictures and on pages."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from math import ceil, floor, log10

import numpy as np

from ...reporting.pictures import log_ticks, round_number
from ...types import FloatArray
from .columns import Column

WIDE = 50.0
"""The ratio of largest to smallest value from which a logarithmic axis is considered."""
TICKS = 7
"""Approximate number of ticks on an axis."""
DECADE = ((1.0,), (1.0, 3.0), (1.0, 2.0, 5.0))
"""Places of ticks within a decade, from coarse to fine."""
MAX_WORDS = 20
"""Most words that are written on an axis; where there are more, some are left out."""


@dataclass(frozen=True)
class Scale:
    low: float
    high: float
    log: bool
    ticks: tuple[float, ...]
    texts: tuple[str, ...]

    def position(self, values: FloatArray) -> FloatArray:
        """Positions on the axis, 0 at the lower end, 1 at the upper one; nan stays."""
        if self.log:
            return (np.log(values) - np.log(self.low)) / (np.log(self.high) - np.log(self.low))
        return (values - self.low) / (self.high - self.low)

    def value(self, position: FloatArray) -> FloatArray:
        """The inverse of `position`."""
        if self.log:
            return np.exp(np.log(self.low) + position * (np.log(self.high) - np.log(self.low)))
        return self.low + position * (self.high - self.low)


def scale_of(column: Column, ticks: int = TICKS) -> Scale:
    """The axis on which a column is drawn, from its smallest value to its largest, with about so many ticks."""
    known = column.finite
    if column.words:
        return _words(column)
    if not len(known):
        return Scale(0.0, 1.0, False, (), ())
    low, high = float(known.min()), float(known.max())
    if not high - low > max(1e-12 * max(abs(low), abs(high)), 1e-300):  # constant, but for rounding
        half = 0.5 * abs(low) or 1.0
        return Scale(low - half, low + half, False, (low,), (texts([low])[0],))
    if _is_logarithmic(known, low, high):
        return Scale(low, high, True, *_log_ticks(low, high, ticks))
    found = _linear_ticks(low, high, ticks)
    return Scale(low, high, False, tuple(found), tuple(texts(found)))


def texts(values: list[float]) -> list[str]:
    """Numbers as short as they can be without two being the same, or being rounded visibly."""
    step = min((abs(b - a) for a, b in pairwise(values)), default=0.0)
    out: list[str] = []
    for digits in range(3, 16):
        out = [_rounded(x, digits) for x in values]
        if len(values) == 1 or all(abs(float(text) - x) <= 0.01 * step for text, x in zip(out, values, strict=True)):
            break
    return [text.replace("-", "−") for text in out]


def _rounded(x: float, digits: int) -> str:
    """A number with so many significant digits; 30000, but 3e5, without the plus and the zeros of C."""
    mantissa, e, exponent = f"{float(f'{x:.{digits}g}'):.{max(digits, 5)}g}".partition("e")
    return f"{mantissa}e{int(exponent)}" if e else mantissa


def _is_logarithmic(known: FloatArray, low: float, high: float) -> bool:
    """Whether values are positive over decades, the median nearer to the middle of a logarithmic axis than of a linear one."""
    if low <= 0.0 or high < WIDE * low:
        return False
    middle = float(np.median(known))
    return abs(log10(middle / low) / log10(high / low) - 0.5) < abs((middle - low) / (high - low) - 0.5)


def _linear_ticks(low: float, high: float, ticks: int) -> list[float]:
    step = round_number((high - low) / ticks)
    first, last = ceil(low / step - 1e-9), floor(high / step + 1e-9)
    return [k * step for k in range(first, last + 1)]


def _log_ticks(low: float, high: float, ticks: int) -> tuple[tuple[float, ...], tuple[str, ...]]:
    found = log_ticks(low, high, DECADE)
    found = found[:: ceil(len(found) / ticks)]
    return tuple(found), tuple(_rounded(x, 3).replace("-", "−") for x in found)


def _words(column: Column) -> Scale:
    n = len(column.words)
    every = ceil(n / MAX_WORDS)
    ticks = range(0, n, every)
    return Scale(-0.5, n - 0.5, False, tuple(float(k) for k in ticks), tuple(column.words[k] for k in ticks))
