"""Errors on the command line, and the exit code of a command that Ctrl-C ended."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from math import isfinite
from pathlib import Path
from typing import TypeVar

from ..errors import SharnirError, unknown

INTERRUPTED = 130
"""What a shell expects of a program that Ctrl-C ended."""

Value = TypeVar("Value")


class UsageError(Exception):
    """The value of an option is wrong."""

    def __init__(self, option: str, problem: str) -> None:
        super().__init__(f"argument {option}: {problem}")


def check_usage(option: str, check: Callable[[Value], object], value: Value) -> None:
    """Report what `check` raises as an error of this option."""
    try:
        check(value)
    except SharnirError as error:
        raise UsageError(option, str(error)) from None


def check_name(option: str, name: str, names: Iterable[str]) -> None:
    names = list(names)
    if name not in names:
        raise UsageError(option, unknown(repr(name), name, names, "choices"))


def check_file(option: str, path: Path) -> None:
    """Whether it can be written."""
    from ..simulation.results.storage import check_writable  # imports numpy, which help does without

    check_usage(option, check_writable, path)


def check_picture(option: str, path: Path) -> None:
    from ..reporting.pictures import check_picture_suffix

    check_file(option, path)
    check_usage(option, check_picture_suffix, path)


def named_values(option: str, words: Sequence[str]) -> dict[str, list[float]]:
    """{joint: numbers} from joint=1 or joint=1,0,0,0."""
    out = {}
    for word in words:
        joint, equals, text = word.rpartition("=")
        try:
            out[joint] = [float(x) for x in text.split(",")]
        except ValueError:
            equals = ""
        if not equals or not joint or not all(map(isfinite, out[joint])):
            raise UsageError(option, f"expected joint=number or joint=number,number,…; got {word!r}")
    return out
