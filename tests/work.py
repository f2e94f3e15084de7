"""Work counted where seconds would be measured: the same number on every machine, however busy it is."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from cProfile import Profile
from dataclasses import dataclass
from types import FrameType
from typing import Any
from unittest.mock import patch

from sharnir.dialect import jit


@dataclass
class Work:
    calls: int = 0
    """Calls of functions, Python's own included."""
    assembly: int = 0
    """Characters of assembly that LLVM was given; none where the code was in the cache."""


@contextmanager
def counted() -> Iterator[Work]:
    """What is done within, known at its end."""
    work, profile, object_code = Work(), Profile(), jit.object_code

    def compiled(text: str, *options: bool) -> bytes:
        work.assembly += len(text)
        return object_code(text, *options)

    with patch.object(jit, "object_code", compiled):
        profile.enable()
        try:
            yield work
        finally:
            profile.disable()
            work.calls = sum(entry.callcount for entry in profile.getstats())


def lines(action: Callable[[], object]) -> int:
    """How often a line of Python is reached: a search through all of something shows, even where it calls nothing."""
    count, before = 0, sys.gettrace()

    def reached(frame: FrameType, event: str, value: object) -> Any:
        nonlocal count
        count += 1
        return reached

    sys.settrace(reached)
    try:
        action()
    finally:
        sys.settrace(before)
    return count
