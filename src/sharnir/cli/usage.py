"""Faults of the command line, and the code of a command that Ctrl-C ended."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..errors import SharnirError

INTERRUPTED = 130
"""What a shell expects of a program that Ctrl-C ended."""


class UsageError(Exception):
    """What stands on the command line cannot be meant."""

    def __init__(self, option: str, what: str) -> None:
        super().__init__(f"argument {option}: {what}")


def check_usage(option: str, check: Callable[[Any], Any], value: Any) -> None:
    """A refusal of what stands on the command line is a fault of the command line."""
    try:
        check(value)
    except SharnirError as error:
        raise UsageError(option, str(error)) from None
