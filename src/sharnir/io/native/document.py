"""YAML as plain data with the line of every value, composed from the parser's events: no tags, bounded depth and size; plain data
as readable YAML: short entries on one line, numbers exact."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from math import inf
from pathlib import Path
from typing import Any

import yaml

from ...errors import FormatError
from ..xml import read_bytes

MAX_NODES, MAX_DEPTH = 1_000_000, 40
"""Values that the aliases of a document stand for, and levels of nesting."""

_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_INTEGER = re.compile(r"[-+]?[0-9]{1,400}")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_WORDS: dict[str, Any] = {"": None, "~": None}
for _word, _value in (("null", None), ("true", True), ("false", False)):
    _WORDS |= {_word: _value, _word.title(): _value, _word.upper(): _value}
_WORDS |= {f"{sign}.{word}": float(f"{sign}{word}") for word in ("inf", "Inf", "INF") for sign in ("", "+", "-")}
_WORDS |= {f".{word}": float("nan") for word in ("nan", "NaN", "NAN")}
_ENDS = (yaml.MappingEndEvent, yaml.SequenceEndEvent)


@dataclass(slots=True)
class Node:
    """A value with the line it begins on. `size` and `height` count what is inside, aliases expanded."""

    line: int
    value: Any = None
    """Plain data."""
    inside: dict[Any, Node] = field(default_factory=dict)
    """Parts of a mapping by key, of a list by index."""
    key_lines: dict[str, int] = field(default_factory=dict)
    size: int = 1
    height: int = 1


def scalar(text: str) -> Any:
    """The meaning of a plain word of YAML: the core schema of YAML 1.2, so that 1e-3 is a number and `on` and `y` are words."""
    if text in _WORDS:
        return _WORDS[text]
    if _INTEGER.fullmatch(text):
        return int(text)
    return float(text) if _FLOAT.fullmatch(text) and abs(float(text)) != inf else text


def read_text(path: Path | str) -> str:
    data = read_bytes(path)
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise FormatError(f"{path}:{line}: the file is not UTF-8") from None


class Document:
    """The data of a text, and the line of each part of it."""

    def __init__(self, text: str, source: str) -> None:
        self.source = source
        self.root = _Composer(text, source).root()
        self.data = self.root.value

    def line(self, path: Sequence[str | int]) -> int:
        """The line of what `path` leads to, or of the last part of the path that there is."""
        node, line = self.root, self.root.line
        for part in path:
            if part not in node.inside:
                break
            line = node.key_lines.get(part, node.inside[part].line)  # type: ignore[arg-type]
            node = node.inside[part]
        return line

    def error(self, path: Sequence[str | int], what: str) -> str:
        """`file:12: joints.elbow.axis: what`, `file:3: bodies.arm.com[1]: what`"""
        shown = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path).removeprefix(".")
        return f"{self.source}:{self.line(path)}: {shown + ': ' if shown else ''}{what}"


class _Composer:
    def __init__(self, text: str, source: str) -> None:
        self.source = source
        self.events = self._events(text)
        self.anchors: dict[str, Node | None] = {}
        self.expanded = 0

    def root(self) -> Node:
        root: Node | None = None
        for event in self.events:
            if isinstance(event, yaml.DocumentStartEvent) and root is not None:
                raise self.error(event, "a second document begins here; a file holds one")
            if isinstance(event, yaml.NodeEvent):
                root = self.node(event, 0)
        return root or Node(1)

    def _events(self, text: str) -> Iterator[Any]:
        try:
            yield from yaml.parse(text, Loader=_LOADER)
        except yaml.YAMLError as error:
            mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
            what = getattr(error, "problem", None) or getattr(error, "reason", None) or "this is not YAML"
            line = mark.line + 1 if mark is not None else 1
            if "cannot start any token" in what and "\t" in "".join(text.splitlines()[line - 1 : line]):
                what = "a tab; indent with spaces"
            raise FormatError(f"{self.source}:{line}: malformed YAML: {what}") from None
        except (ValueError, UnicodeError) as error:
            raise FormatError(f"{self.source}:1: malformed YAML: {error}") from None

    def node(self, event: Any, depth: int, is_key: bool = False) -> Node:
        """A value and what is inside it; `depth` values are around it."""
        if isinstance(event, yaml.AliasEvent):
            target = self.anchors.get(event.anchor)  # None too where it is not complete: it cannot contain itself
            if target is None:
                raise self.error(event, f"the alias *{event.anchor} has no anchor &{event.anchor} before it")
            self.expanded += target.size  # what is written out is bounded by the length of the text
            if self.expanded > MAX_NODES:
                raise self.error(event, f"aliases expanded to more than {MAX_NODES} values")
            return target
        if event.tag is not None and not (isinstance(event, yaml.ScalarEvent) and event.tag == "!"):
            raise self.error(event, f"the tag {event.tag!r} is refused: the file is plain data")
        line = event.start_mark.line + 1
        if isinstance(event, yaml.ScalarEvent):
            node = Node(line, event.value if is_key or not event.implicit[0] else scalar(event.value))
        else:
            if depth >= MAX_DEPTH:
                raise self.error(event, f"more than {MAX_DEPTH} levels of nesting")
            if event.anchor:
                self.anchors[event.anchor] = None
            node = Node(line, {} if isinstance(event, yaml.MappingStartEvent) else [])
            self.fill(node, depth + 1)
        if event.anchor:
            self.anchors[event.anchor] = node
        return node

    def fill(self, node: Node, depth: int) -> None:
        """Put into a mapping or a list what belongs to it."""
        while not isinstance(event := next(self.events), _ENDS):
            key: Any = len(node.inside)
            if isinstance(node.value, dict):
                key, event = self.key(event, node, depth), next(self.events)
            child = self.node(event, depth)
            node.size += child.size
            node.height = max(node.height, child.height + 1)
            if depth + child.height > MAX_DEPTH:
                raise self.error(event, f"more than {MAX_DEPTH} levels of nesting")
            node.inside[key] = child
            if isinstance(node.value, dict):
                node.value[key] = child.value
            else:
                node.value.append(child.value)

    def key(self, event: Any, node: Node, depth: int) -> str:
        key = self.node(event, depth, is_key=True).value
        if not isinstance(key, str):
            raise self.error(event, "a key must be a word, not a list or a mapping")
        if key in node.key_lines:
            raise self.error(event, f"{key!r} is given twice, first in line {node.key_lines[key]}")
        node.key_lines[key] = event.start_mark.line + 1
        return key

    def error(self, event: Any, what: str) -> FormatError:
        return FormatError(f"{self.source}:{event.start_mark.line + 1}: {what}")


# --- the way back ---------------------------------------------------------------------------------------------------------------
WIDTH = 120
_PLAIN = re.compile(r"-?[A-Za-z0-9_(]([\w .+*/()-]*[\w.)])?", re.ASCII)
_RESOLVER = yaml.resolver.Resolver()
_LONGEST_KEY = 200
"""YAML requires longer keys to be marked by `?`."""


def emit(data: Mapping[str, Any]) -> str:
    """A document; entries that are mappings themselves are set apart by blank lines."""
    lines: list[str] = []
    for key, value in data.items():
        if isinstance(value, Mapping):
            lines += ["", *_block({key: value}, 0)]
        else:
            lines += _block({key: value}, 0)
    return "\n".join(lines).lstrip("\n") + "\n"


def _block(data: Mapping[str, Any], depth: int) -> list[str]:
    """The lines of a mapping; sections are written out, what is inside them is put on one line where it fits."""
    margin, lines = "  " * depth, list[str]()
    for key, value in data.items():
        head = margin + text(key) + ":"
        section = depth == 0 and isinstance(value, Mapping) and bool(value)
        flow = "" if section else " " + _flow(value)
        if len(text(key)) > _LONGEST_KEY:
            lines.append(f"{margin}? {text(key)}")
            head = f"{margin}:"
        short = len(head) + len(flow) <= WIDTH or not isinstance(value, (Mapping, list)) or not value
        if short and not section:
            lines.append(head + flow)
        elif isinstance(value, Mapping):
            lines += [head, *_block(value, depth + 1)]
        elif all(isinstance(x, float) for x in value):
            lines += _filled(head, value, depth + 1)
        else:
            lines += [head, *_items(value, depth + 1)]
    return lines


def _filled(head: str, values: list[float], depth: int) -> list[str]:
    """Many numbers, as many on a line as there is room for."""
    margin = "  " * depth
    lines = [head, margin + "["]
    for k, value in enumerate(values):
        word = number(value) + ("]" if k == len(values) - 1 else ",")
        if len(lines[-1]) + len(word) >= WIDTH:
            lines.append(margin + " " + word)
        else:
            lines[-1] += word if lines[-1].endswith("[") else " " + word
    return lines


def _items(values: list[Any], depth: int) -> list[str]:
    margin, lines = "  " * depth, list[str]()
    for value in values:
        flow = f"{margin}- {_flow(value)}"
        if isinstance(value, Mapping) and value and len(flow) > WIDTH:
            inner = _block(value, depth + 1)
            lines += [f"{margin}- {inner[0].lstrip()}", *inner[1:]]
        else:
            lines.append(flow)
    return lines


def _flow(value: Any) -> str:
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{text(k)}: {_flow(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_flow, value)) + "]"
    if isinstance(value, str):
        return text(value)
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    return number(value) if isinstance(value, float) else str(value)


def number(x: float) -> str:
    """The shortest digits that give the same float again; 1e-05 with a point, for readers of YAML 1.1."""
    shown = repr(x)
    if shown in ("inf", "-inf", "nan"):
        return shown.replace("inf", ".inf").replace("nan", ".nan")
    digits, e, power = shown.partition("e")
    return shown if not e or "." in digits else f"{digits}.0e{power}"


@lru_cache(4096)
def text(value: str) -> str:
    """A word of YAML, without quotes where no reader could misread it."""
    word = _RESOLVER.resolve(yaml.ScalarNode, value, (True, False)) == "tag:yaml.org,2002:str"
    if word and _PLAIN.fullmatch(value) and isinstance(scalar(value), str):
        return value
    return '"' + "".join(_escaped(c) for c in value) + '"'


def _escaped(c: str) -> str:
    if c in '"\\':
        return "\\" + c
    if 0xD800 <= ord(c) <= 0xDFFF:
        raise FormatError(f"the name with {c!r} is no Unicode text (half a surrogate pair) and cannot be written")
    if c.isprintable() and c not in "\ufeff":
        return c
    return f"\\x{ord(c):02x}" if ord(c) < 256 else f"\\u{ord(c):04x}" if ord(c) < 65536 else f"\\U{ord(c):08x}"
