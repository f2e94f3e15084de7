"""Floats as the numbers they were meant to be: short decimals, ratios of small whole numbers, square roots of these."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, TypeAlias

ROUNDING = 4.5e-16
"""Two units in the last place: a float this near to a number stands for it."""
DIGITS, DENOMINATOR, SMALL = 11, 5000, 100
"""Digits of a decimal; largest denominators of a ratio, and of one under a root."""

Coefficient: TypeAlias = Any
"""A Fraction, or a float where no ratio is meant."""


def exact(x: float) -> Coefficient:
    """The decimal or ratio that a float is the nearest one to, or itself."""
    for found in (Fraction(f"{x:.{DIGITS}g}"), Fraction(x).limit_denominator(DENOMINATOR)) if math.isfinite(x) else ():
        if abs(float(found) - x) <= ROUNDING * abs(x):
            return found
    return x


def root(x: float) -> tuple[Fraction, int] | None:
    """(a, n) where x = a√n with a whole number n."""
    square = Fraction(x * x).limit_denominator(SMALL) if 1e-3 < abs(x) < 1e3 else Fraction(0)
    if not square or abs(float(square) - x * x) > 2.0 * ROUNDING * x * x:
        return None
    inside = square.numerator * square.denominator
    k = next(k for k in range(math.isqrt(inside), 0, -1) if inside % (k * k) == 0)
    return Fraction(k if x > 0.0 else -k, square.denominator), inside // (k * k)


def added(a: Coefficient, b: Coefficient) -> Coefficient:
    """a + b, zero where nothing but rounding is left."""
    out = a + b
    return Fraction(0) if abs(out) <= 16.0 * ROUNDING * abs(a) else out
