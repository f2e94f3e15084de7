"""YAML as plain data that knows its lines. Parsed event by event: no tags, no code, bounded depth and size."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import inf
from typing import Any

import yaml

from ...errors import FormatError

MAX_NODES, MAX_DEPTH = 1_000_000, 40
"""Values of a document once every alias is written out, and values inside one another."""

_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_INTEGER = re.compile(r"[-+]?[0-9]{1,400}")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_WORDS: dict[str, Any] = {"": None, "~": None, "null": None, "Null": None, "NULL": None, "true": True, "True": True, "TRUE": True}
_WORDS |= {"false": False, "False": False, "FALSE": False}
_ENDLESS = {f"{sign}.{word}": float(f"{sign}{word}") for word in ("inf", "Inf", "INF") for sign in ("", "+", "-")}
_WORDS |= {**_ENDLESS, **{f".{word}": float("nan") for word in ("nan", "NaN", "NAN")}}


@dataclass(slots=True)
class Node:
    """A value with the line it begins on. `size` and `height` count what is inside, aliases written out."""

    line: int
    value: Any = None
    """Plain data."""
    inside: dict[Any, Node] | None = None
    """Of a mapping by key, of a list by index."""
    key_lines: dict[str, int] | None = None
    size: int = 1
    height: int = 1


def scalar(text: str) -> Any:
    """What a plain word of YAML means: YAML 1.2's core, so that 1e-3 is a number and `on` and `y` are words."""
    if text in _WORDS:
        return _WORDS[text]
    if _INTEGER.fullmatch(text):
        return int(text)
    return float(text) if _FLOAT.fullmatch(text) and abs(float(text)) != inf else text


class Document:
    """The data of a text, and where each part of it stands."""

    def __init__(self, text: str, source: str) -> None:
        self.source = source
        self.root = _Composer(text, source).root()
        self.data = self.root.value

    def place(self, path: Sequence[Any]) -> tuple[int, tuple[Any, ...]]:
        """Line and true path of what `path` leads to, as far as it goes; words that are no keys are passed over."""
        node, line, found = self.root, self.root.line, list[Any]()
        for part in path:
            if node.inside is None or part not in node.inside:
                continue
            line = node.key_lines[part] if node.key_lines is not None else node.inside[part].line
            node = node.inside[part]
            found.append(part)
        return line, tuple(found)

    def error(self, path: Sequence[Any], what: str, missing: Any = None) -> str:
        """`file:12: joints.elbow.axis: what`; `missing`: a field that should be there."""
        line, found = self.place(path)
        shown = dotted([*found, *([] if missing is None else [missing])])
        return f"{self.source}:{line}: {shown + ': ' if shown else ''}{what}"


def dotted(path: Sequence[Any]) -> str:
    """joints.elbow.axis, bodies.arm.com[1]."""
    out = ""
    for part in path:
        out += f"[{part}]" if isinstance(part, int) else f"{'.' if out else ''}{part}"
    return out


class _Composer:
    """Events to nodes, with a stack of its own: depth costs nothing, and is limited."""

    def __init__(self, text: str, source: str) -> None:
        self.text, self.source = text, source
        self.anchors: dict[str, Node | None] = {}

    def root(self) -> Node:
        events = self.events()
        documents: list[Node] = []
        for event in events:
            if isinstance(event, (yaml.StreamStartEvent, yaml.StreamEndEvent, yaml.DocumentEndEvent)):
                continue
            if isinstance(event, yaml.DocumentStartEvent):
                if documents:
                    raise self.error(event, "a second document begins here; a file is one model")
                continue
            documents.append(self.tree(event, events))
        return documents[0] if documents else Node(1)

    def events(self) -> Iterator[Any]:
        try:
            yield from yaml.parse(self.text, Loader=_LOADER)
        except yaml.YAMLError as error:
            mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
            what = getattr(error, "problem", None) or getattr(error, "reason", None) or "this is not YAML"
            line = mark.line + 1 if mark is not None else 1
            raise FormatError(f"{self.source}:{line}: malformed YAML: {what}") from None
        except (ValueError, UnicodeError) as error:
            raise FormatError(f"{self.source}:1: malformed YAML: {error}") from None

    def tree(self, first: Any, events: Iterator[Any]) -> Node:
        """One value and all that is inside it."""
        stack: list[tuple[Node, list[Node | str], str | None]] = []
        event = first
        while True:
            done: Node | None = None
            if isinstance(event, (yaml.MappingStartEvent, yaml.SequenceStartEvent)):
                self.refuse_tag(event)
                mapping = isinstance(event, yaml.MappingStartEvent)
                node = Node(event.start_mark.line + 1, {} if mapping else [], {}, {} if mapping else None)
                if event.anchor:
                    self.anchors[event.anchor] = None  # not complete yet: it cannot contain itself
                stack.append((node, [], event.anchor))
                if len(stack) > MAX_DEPTH:
                    raise self.error(event, f"more than {MAX_DEPTH} levels inside one another")
            elif isinstance(event, (yaml.MappingEndEvent, yaml.SequenceEndEvent)):
                done, waiting, anchor = stack.pop()
                if waiting:
                    raise self.error(event, "a key without a value")
                if anchor:
                    self.anchors[anchor] = done
            else:
                done = self.leaf(event, key=bool(stack) and stack[-1][0].key_lines is not None and not stack[-1][1])
            if done is not None:
                if not stack:
                    return done
                self.put(stack, done, event)
            event = next(events)

    def leaf(self, event: Any, key: bool) -> Node:
        if isinstance(event, yaml.AliasEvent):
            target = self.anchors.get(event.anchor)
            if target is None:
                raise self.error(event, f"the alias *{event.anchor} has no anchor &{event.anchor} before it")
            return target
        self.refuse_tag(event)
        value = event.value if key or not event.implicit[0] else scalar(event.value)
        node = Node(event.start_mark.line + 1, value)
        if event.anchor:
            self.anchors[event.anchor] = node
        return node

    def put(self, stack: list[tuple[Node, list[Node | str], str | None]], child: Node, event: Any) -> None:
        """A finished value into what encloses it: as a key, as the value of the key before it, or as an item."""
        parent, waiting, _ = stack[-1]
        line = event.start_mark.line + 1
        if parent.key_lines is not None and not waiting:
            if not isinstance(child.value, str):
                raise self.error(event, "a key must be a word, not a list or a mapping")
            if child.value in parent.key_lines:
                raise self.error(event, f"{child.value!r} is given twice, first in line {parent.key_lines[child.value]}")
            parent.key_lines[child.value] = line
            waiting.append(child.value)
            return
        parent.size += child.size
        parent.height = max(parent.height, child.height + 1)
        if parent.size > MAX_NODES:
            raise self.error(event, f"more than {MAX_NODES} values, aliases written out")
        if len(stack) + child.height > MAX_DEPTH:
            raise self.error(event, f"more than {MAX_DEPTH} levels inside one another")
        key: Any = waiting.pop() if parent.key_lines is not None else len(parent.value)
        if parent.inside is not None:
            parent.inside[key] = child
        if parent.key_lines is not None:
            parent.value[key] = child.value
        else:
            parent.value.append(child.value)

    def refuse_tag(self, event: Any) -> None:
        if event.tag is not None and not (isinstance(event, yaml.ScalarEvent) and event.tag == "!"):
            raise self.error(event, f"the tag {event.tag!r} is refused: a model is plain data")

    def error(self, event: Any, what: str) -> FormatError:
        return FormatError(f"{self.source}:{event.start_mark.line + 1}: {what}")
