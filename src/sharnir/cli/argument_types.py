"""Numbers on the command line: each function turns a word into a number, or says what was expected."""

from __future__ import annotations

from argparse import ArgumentTypeError
from collections.abc import Callable
from math import inf, isfinite


def number(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        raise ArgumentTypeError(f"expected a number, got {text!r}") from None
    if not isfinite(value):
        raise ArgumentTypeError(f"expected a finite number, got {text!r}")
    return value


def whole(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise ArgumentTypeError(f"expected a whole number, got {text!r}") from None


def port(text: str) -> int:
    value = whole(text)
    if not 0 <= value <= 65535:
        raise ArgumentTypeError(f"expected a whole number from 0 to 65535, got {text}")
    return value


def positive(text: str) -> float:
    value = number(text)
    if not 0.0 < value < inf:
        raise ArgumentTypeError(f"expected a positive number, got {text}")
    return value


def not_zero(text: str) -> float:
    value = number(text)
    if value == 0.0:
        raise ArgumentTypeError(f"expected a number of seconds other than zero, got {text}; a negative one runs backward in time")
    return value


def at_least(least: float, kind: Callable[[str], float] = whole) -> Callable[[str], float]:
    def checked(text: str) -> float:
        value = kind(text)
        if not value >= least:
            raise ArgumentTypeError(f"expected at least {least}, got {text}")
        return value

    return checked
