"""Names, choices, paths, colours."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...errors import ModelError, brief
from .kind import Fault, Kind, accepted, expected, items_of, listed, one_of, shown
from .scalars import Scalar

# --- colours by name or by numbers
EXAMPLES = "a colour such as 'orange', '#ff8800' or three or four numbers from 0 to 1"


class ColourValue(Kind):
    """Red, green, blue, opacity, each from 0 to 1; from three or four numbers, a name of CSS or "#rrggbb"."""

    def check(self, value: Any) -> tuple[float, float, float, float]:
        if isinstance(value, str):
            from matplotlib.colors import to_rgba  # which knows the names

            try:
                r, g, b, a = to_rgba(value)
            except ValueError:
                raise expected(EXAMPLES, value) from None
            return r, g, b, a
        values = listed(value)
        if values is None or len(values) not in (3, 4):
            raise expected(EXAMPLES, value)
        r, g, b, a = (Scalar(at_least=0.0).number(x, k) for k, x in enumerate([*values, 1.0][:4]))
        if max(r, g, b, a) > 1.0:
            raise expected(EXAMPLES, value)
        return r, g, b, a


# --- names, choices, paths
LONGEST_NAME = 200
UNWRITABLE = {"Cc": "a control character", "Cs": "a surrogate", "Zl": "a line separator", "Zp": "a paragraph separator"}
"""Categories of characters that some file format cannot hold in a name."""


def name_fault(name: str, longest: int = LONGEST_NAME) -> str | None:
    """Why a text cannot be a name: it could not be written to every file, or read in a message."""
    if name.isprintable() and len(name) <= longest:  # nearly all of them, and models have millions
        return None
    from unicodedata import category  # needed only for unusual names

    if len(name) > longest:
        return f"a name has at most {longest} characters, this one has {len(name)}"
    for k, letter in enumerate(name):
        if (kind := category(letter)) in UNWRITABLE or letter in "\ufffe\uffff":
            return (
                f"a name has no control characters, but character {k + 1} is {UNWRITABLE.get(kind, 'no character')} ({letter!a})"
            )
    return None


def check_name(name: Any, what: str) -> str:
    """A name that the user gives to something: text, not empty, that every file can hold."""
    if type(name) is str and name and name.isprintable() and len(name) <= LONGEST_NAME:
        return name
    if not isinstance(name, str) or not name:
        raise ModelError(f"a {what} needs a name, got {brief(name)}")
    if fault := name_fault(name):
        raise ModelError(f"{what} {brief(name)}: {fault}")
    return name


class Text(Kind):
    def check(self, value: Any) -> str:
        if not isinstance(value, str):
            hint = "; put what looks like a number or a truth value in quotes" if isinstance(value, (bool, int, float)) else ""
            raise Fault(f"expected text, got {shown(value)}{hint}")
        if not value.isascii():
            try:
                value.encode()
            except UnicodeEncodeError as error:
                raise Fault(f"{shown(value)} cannot be written to a file: character {error.start + 1} is a surrogate") from None
        return value


@dataclass(frozen=True)
class Name(Text):
    """The name of something; `of`: "body" (the ground included) or "joint" where it must be part of the model."""

    of: str = ""

    def check(self, value: Any) -> str:
        found = value if type(value) is str else super().check(value)
        if not found:
            raise Fault("expected a name, got ''")
        if fault := name_fault(found):
            raise Fault(fault)
        return found


class Label(Text):
    """A name that may be left out, or be made of others: of an event at the limit of a joint."""

    def check(self, value: Any) -> str:
        if fault := name_fault(found := super().check(value), 2 * LONGEST_NAME):
            raise Fault(fault)
        return found


class Names(Kind):
    def check(self, value: Any) -> tuple[str, ...]:
        values = items_of(value, "a list of names")
        for k, x in enumerate(values):
            if fault := name_fault(accepted(isinstance(x, str) and bool(x), "a name", x, k)):
                raise Fault(fault, k)
        return tuple(values)


@dataclass(frozen=True)
class Choice(Kind):
    words: tuple[str, ...]

    def check(self, value: Any) -> str:
        return accepted(isinstance(value, str) and value in self.words, one_of(self.words), value)


class ChoiceOrFunction(Choice):
    """One of some words, or a function (which files cannot hold)."""

    def check(self, value: Any) -> Any:
        return value if callable(value) else super().check(value)


class FilePath(Kind):
    def check(self, value: Any) -> Path:
        if "\0" in Text().check(str(value) if isinstance(value, Path) else value):
            raise Fault("a path has no null characters")
        return Path(value)
