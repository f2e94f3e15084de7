"""Kinds of values that only files have."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ...model.element import Element
from ...model.values import Kind


class FileKind(Kind):
    """Checked when it is read."""

    def check(self, value: Any) -> Any:
        return value


class Grid(FileKind):
    """Rows of numbers."""


@dataclass(frozen=True)
class Block(FileKind):
    """Numbers in lists of lists, this many levels deep, each level of one length."""

    levels: int


class PlaceValue(FileKind):
    """A pose, or the name of a frame."""


@dataclass(frozen=True)
class Record(FileKind):
    """An entry with fields."""

    of: type[Element]


@dataclass(frozen=True)
class Tagged(FileKind):
    """One of some classes, selected by `type`; `beside`: an entry whose fields are put beside its own."""

    classes: tuple[type[Element], ...]
    beside: type[Element] | None = None


class Version(FileKind):
    """The version of the format."""


@dataclass(frozen=True)
class FlexibleValue(Tagged):
    """A flexible body; a modal one may be named by its archive."""
