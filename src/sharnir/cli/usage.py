"""Errors on the command line, and the exit code of a command that Ctrl-C ended."""

from __future__ import annotations

from argparse import ArgumentTypeError, Namespace
from collections.abc import Callable, Iterable, Sequence
from math import inf, isfinite
from typing import Any, TypeVar

from ..errors import SharnirError, unknown


# --- numbers on the command line: each function turns a word into a number, or says what was expected
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


# --- usage
INTERRUPTED = 130
"""Exit code that a shell expects of a program that Ctrl-C ended."""

Value = TypeVar("Value")


class UsageError(Exception):
    """The value of an option is wrong."""

    def __init__(self, option: str, problem: str) -> None:
        super().__init__(f"argument {option}: {problem}")


def given(options: Namespace, *names: str) -> dict[str, Any]:
    """Options that are on the command line, by name."""
    return {name: getattr(options, name) for name in names if name in options}


def check_usage(option: str, check: Callable[[Value], object], value: Value | None) -> None:
    """Report what `check` raises as an error of this option; None: it is not given."""
    try:
        if value is not None:
            check(value)
    except SharnirError as error:
        raise UsageError(option, str(error)) from None


def check_name(option: str, name: str, names: Iterable[str]) -> None:
    names = list(names)
    if name not in names:
        raise UsageError(option, unknown(repr(name), name, names, "choices"))


def named_values(option: str, words: Sequence[str]) -> dict[str, list[float]]:
    """{joint: numbers} from words joint=1 or joint=1,0,0,0 of an option."""
    out = {}
    for word in words:
        joint, equals, text = word.rpartition("=")
        try:
            out[joint] = [float(x) for x in text.split(",")]
        except ValueError:
            equals = ""
        if not equals or not joint or not all(map(isfinite, out[joint])):
            raise UsageError(f"--{option}", f"expected joint=number or joint=number,number,…; got {word!r}")
    return out
