"""Text, names, choices, paths."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .base import Fault, Kind, expected, listed, one_of, shown


class Text(Kind):
    def check(self, value: Any) -> str:
        if not isinstance(value, str):
            hint = "; put what looks like a number or a truth value in quotes" if isinstance(value, (bool, int, float)) else ""
            raise Fault(f"expected text, got {shown(value)}{hint}")
        return value


@dataclass(frozen=True)
class Name(Text):
    """The name of something; `of`: "body" (the ground included) or "joint" where it must be part of the model."""

    of: str = ""

    def check(self, value: Any) -> str:
        found = value if type(value) is str else super().check(value)
        if not found:
            raise Fault("expected a name, got ''")
        return found


class Names(Kind):
    def check(self, value: Any) -> tuple[str, ...]:
        values = listed(value)
        if values is None:
            raise expected("a list of names", value)
        for k, x in enumerate(values):
            if not isinstance(x, str) or not x:
                raise expected("a name", x, k)
        return tuple(values)


@dataclass(frozen=True)
class Choice(Kind):
    words: tuple[str, ...]

    def check(self, value: Any) -> str:
        if not isinstance(value, str) or value not in self.words:
            raise expected(one_of(self.words), value)
        return value


class ChoiceOrFunction(Choice):
    """One of some words, or a function (which files cannot hold)."""

    def check(self, value: Any) -> Any:
        return value if callable(value) else super().check(value)


class FilePath(Kind):
    def check(self, value: Any) -> Path:
        if isinstance(value, Path):
            return value
        if "\0" in Text().check(value):
            raise Fault("a path has no null characters")
        return Path(value)
