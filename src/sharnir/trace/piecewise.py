"""Functions made of pieces: a smooth step, and functions that repeat. On floats, arrays and symbols."""

from __future__ import annotations

from ..errors import TraceError, brief
from .functions import maximum, minimum, mod, numbers_expected, select
from .graph import Number


def step(x: Number, x0: Number, h0: Number, x1: Number, h1: Number) -> Number:
    """h0 up to x0, h1 from x1 on, between them the cubic that meets both without a kink (STEP of ADAMS)."""
    if isinstance(x0, (int, float)) and isinstance(x1, (int, float)) and not x0 < x1:
        raise TraceError(f"step(x, x0, h0, x1, h1): x0 must be less than x1, got x0 = {brief(x0)}, x1 = {brief(x1)}")
    with numbers_expected("step", (x, x0, h0, x1, h1)):
        s = minimum(maximum((x - x0) / (x1 - x0), 0.0), 1.0)
        return h0 + (h1 - h0) * (s * s * (3.0 - 2.0 * s))


def sawtooth(x: Number, period: Number) -> Number:
    """Rises from 0 to 1 in every period, and falls back at its end."""
    with numbers_expected("sawtooth", (x, period)):
        return mod(x, _positive(period, "sawtooth")) / period


def triangle(x: Number, period: Number) -> Number:
    """Rises from 0 to 1 in the first half of every period, and back to 0 in the second."""
    with numbers_expected("triangle", (x, period)):
        return 1.0 - abs(1.0 - 2.0 * mod(x, _positive(period, "triangle")) / period)


def pulse(x: Number, period: Number, share: Number) -> Number:
    """1 for the first share of every period (0.5: half of it), 0 for the rest."""
    with numbers_expected("pulse", (x, period, share)):
        return select(mod(x, _positive(period, "pulse")) < share * period, 1.0, 0.0)


def _positive(period: Number, what: str) -> Number:
    if isinstance(period, (int, float)) and not period > 0.0:
        raise TraceError(f"{what}: the period must be positive, got {brief(period)}")
    return period
