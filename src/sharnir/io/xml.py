"""A small safe reader of XML on expat: every element has its file and line; entity declarations are refused."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import NoReturn
from xml.parsers import expat

from ..errors import FormatError, ModelError, known

MAX_BYTES = 64 * 1024 * 1024
MAX_DEPTH = 200
MAX_ELEMENTS = 1_000_000
LARGEST = 1e30
"""Beyond this no length, mass or angle means anything, and its square overflows."""

_ESCAPES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "\t": "&#9;", "\n": "&#10;", "\r": "&#13;"})
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\Z", re.ASCII)
_INFINITE = re.compile(r"[+-]?inf(inity)?\Z", re.ASCII | re.IGNORECASE)


@dataclass
class Element:
    """A tag with its attributes and children, and its place in the file."""

    tag: str
    attributes: dict[str, str]
    file: str
    line: int
    parent: Element | None = field(default=None, repr=False)
    children: list[Element] = field(default_factory=list, repr=False)

    # --- finding --------------------------------------------------------------------------------------------------------
    def first(self, tag: str) -> Element | None:
        return next((child for child in self.children if child.tag == tag), None)

    def all(self, tag: str) -> list[Element]:
        return [child for child in self.children if child.tag == tag]

    def walk(self) -> Iterator[Element]:
        """This element and all inside it, in the order of the file."""
        yield self
        for child in self.children:
            yield from child.walk()

    # --- messages -------------------------------------------------------------------------------------------------------
    @property
    def label(self) -> str:
        """`joint 'a'`, or `origin of joint 'a'` for an element without a name: the nearest name above it."""
        named: Element | None = self
        while named is not None and "name" not in named.attributes:
            named = named.parent
        if named is None:
            return self.tag
        full = f"{named.tag} {named.attributes['name']!r}"
        return full if named is self else f"{self.tag} of {full}"

    @property
    def where(self) -> str:
        return f"{self.label}, line {self.line}"

    def error(self, message: str) -> FormatError:
        return FormatError(f"{self.file}:{self.line}: {self.label}: {message}")

    # --- attributes -----------------------------------------------------------------------------------------------------
    def string(self, attribute: str) -> str:
        """An attribute that must be present and not empty."""
        value = self.attributes.get(attribute, "").strip()
        if not value:
            raise self.error(f"the attribute {attribute!r} is missing or empty; it has {known(self.attributes)}")
        return value

    def number(self, attribute: str, default: float | None = None, *, unbounded: bool = False) -> float:
        """One finite number; without a default it must be present. `unbounded` allows infinity."""
        if default is not None and attribute not in self.attributes:
            return default
        value, *more = self._parsed(attribute, unbounded)
        if more:
            raise self.error(f"{attribute}: expected one number, got {self.attributes[attribute]!r}")
        return value

    def numbers(self, attribute: str, count: int, default: tuple[float, ...] | None = None) -> tuple[float, ...]:
        """`count` finite numbers separated by blanks."""
        if default is not None and attribute not in self.attributes:
            return default
        values = self._parsed(attribute, False)
        if len(values) != count:
            raise self.error(f"{attribute}: expected {count} numbers, got {len(values)} in {self.attributes[attribute]!r}")
        return values

    def _parsed(self, attribute: str, unbounded: bool) -> tuple[float, ...]:
        values = []
        for word in self.string(attribute).split():
            if not _NUMBER.match(word) and not (unbounded and _INFINITE.match(word)):
                raise self.error(f"{attribute}: {word!r} is not a {'' if unbounded else 'finite '}number")
            value = float(word)
            if abs(value) > LARGEST and not unbounded:
                raise self.error(f"{attribute}: {word} is beyond any length, mass or angle; are the units SI?")
            values.append(value)
        return tuple(values)


@contextmanager
def located(place: Callable[[str], FormatError]) -> Iterator[None]:
    """A ModelError raised inside gets the file, the line and the name that `place` adds: `with located(element.error): …`."""
    try:
        yield
    except FormatError:
        raise
    except ModelError as error:
        raise place(str(error)) from None


def read_xml(path: Path | str) -> Element:
    """The root element of a file; encodings as declared, UTF-8 if not."""
    return parse_xml(read_bytes(path), str(path))


def read_bytes(path: Path | str) -> bytes:
    """A whole file; an error if it does not exist or is too large."""
    path = Path(path)
    try:
        if not path.is_file():
            raise FormatError(f"{path}: {'this is a folder, not a file' if path.is_dir() else 'there is no such file'}")
        if path.stat().st_size > MAX_BYTES:
            raise FormatError(f"{path}: {path.stat().st_size} bytes are more than the {MAX_BYTES} that are read")
        return path.read_bytes()
    except FormatError:
        raise
    except (OSError, ValueError) as error:  # ValueError: a null character in the name
        raise FormatError(f"{path}: cannot be read ({error})") from None


def parse_xml(data: bytes, file: str) -> Element:
    """`data` as a tree of elements; `file` is the name for messages. Stops where a file would exhaust memory or name others."""
    if len(data) > MAX_BYTES:
        raise FormatError(f"{file}: {len(data)} bytes are more than the {MAX_BYTES} that are read")
    parser = expat.ParserCreate()
    found: list[Element] = []
    around: list[Element] = []

    def stop(message: str) -> NoReturn:
        raise FormatError(f"{file}:{parser.CurrentLineNumber}: {message}")

    def refusing(what: str) -> Callable[..., NoReturn]:
        return lambda *_: stop(f"{what} is refused: it can name other files or expand without bound; remove it")

    def start(tag: str, attributes: dict[str, str]) -> None:
        if len(around) >= MAX_DEPTH:
            stop(f"elements are nested more than {MAX_DEPTH} deep")
        if len(found) >= MAX_ELEMENTS:
            stop(f"more than {MAX_ELEMENTS} elements")
        found.append(Element(tag, attributes, file, parser.CurrentLineNumber, around[-1] if around else None))
        if around:
            around[-1].children.append(found[-1])
        around.append(found[-1])

    parser.StartElementHandler = start
    parser.EndElementHandler = lambda tag: around.pop()
    parser.StartDoctypeDeclHandler = refusing("a DOCTYPE declaration")
    parser.EntityDeclHandler = refusing("an entity declaration")
    parser.ExternalEntityRefHandler = refusing("an external entity")
    try:
        parser.Parse(data, True)
    except expat.ExpatError as error:
        what = expat.ErrorString(error.code)
        raise FormatError(f"{file}:{error.lineno}: malformed XML at column {error.offset + 1}: {what}") from None
    except FormatError:
        raise
    except (LookupError, UnicodeError, ValueError) as error:  # an encoding that Python does not know
        raise FormatError(f"{file}:{parser.CurrentLineNumber}: its encoding cannot be read ({error})") from None
    return found[0]  # expat insists on one root element


def numbers(values: Iterable[float]) -> str:
    """Numbers as an attribute has them: exact, separated by blanks."""
    return " ".join(repr(float(x)) for x in values)


def attribute(text: str) -> str:
    """Quoted and escaped; XML has no way to write most control characters."""
    if any(ord(c) < 32 and c not in "\t\n\r" for c in text):
        raise FormatError(f"{text!r}: a name with control characters cannot be written to XML")
    return f'"{text.translate(_ESCAPES)}"'
