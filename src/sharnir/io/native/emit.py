"""Plain data as readable YAML: short entries on one line, numbers exact."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import yaml

from ...errors import FormatError
from .document import scalar

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
