"""Damage to a URDF file: its bytes, its attributes and elements, its numbers."""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np

VALUES = [
    "",
    "nan",
    "inf",
    "-1",
    "1e308",
    "1e400",
    "0",
    "0 0 0",
    "1 2",
    "x y z",
    "é",
    "&lt;",
    "1e-320",
    "${x}",
    "../../..",
    " ",
    "١",
]
NUMBERS = ["0", "-1", "1e29", "-1e29", "1e-29", "1e-320", "3", "1e9", "1e15", "-1e15", "1e-9"]
TAGS = ["link", "joint", "robot", "inertial", "mass", "origin", "xacro:if", "a:b", "mimic", "geometry"]


def truncated(text: str, rng: np.random.Generator) -> str:
    return text[: int(rng.integers(len(text)))]


def garbled(text: str, rng: np.random.Generator) -> bytes:
    data = bytearray(text.encode())
    for _ in range(int(rng.integers(1, 12))):
        data[int(rng.integers(len(data)))] = int(rng.integers(256))
    return bytes(data)


def spliced(text: str, rng: np.random.Generator) -> str:
    """A piece cut out, or put in once more elsewhere."""
    a, b = sorted(int(x) for x in rng.integers(len(text), size=2))
    at = int(rng.integers(len(text)))
    return text[:a] + text[b:] if rng.integers(2) else text[:at] + text[a : min(b, a + 400)] + text[at:]


def _one(pattern: str, text: str, rng: np.random.Generator, new: Callable[[re.Match[str]], str]) -> str:
    places = list(re.finditer(pattern, text))
    if not places:
        return text
    m = places[int(rng.integers(len(places)))]
    return text[: m.start()] + new(m) + text[m.end() :]


def revalued(text: str, rng: np.random.Generator) -> str:
    return _one(r'(\w+)="[^"]*"', text, rng, lambda m: f'{m[1]}="{rng.choice(VALUES)}"')


def unattributed(text: str, rng: np.random.Generator) -> str:
    return _one(r' \w+="[^"]*"', text, rng, lambda m: "")


def renamed(text: str, rng: np.random.Generator) -> str:
    """A tag called otherwise, most often no longer closed; or a name that others refer to."""
    if rng.integers(2):
        return _one(r"<(\w+)", text, rng, lambda m: f"<{rng.choice(TAGS)}")
    return _one(
        r'(name|link|joint|type)="[^"]*"',
        text,
        rng,
        lambda m: f'{m[1]}="{rng.choice(["base", "elbow", "zzz", "fixed", "ground"])}"',
    )


def unelemented(text: str, rng: np.random.Generator) -> str:
    return _one(r"<\w+ [^<>]*/>", text, rng, lambda m: "")


def relined(text: str, rng: np.random.Generator) -> str:
    """Whole elements deleted, doubled or exchanged: still XML."""
    lines = text.split("\n")
    if len(lines) < 4:
        return text
    i, j = (int(x) for x in rng.integers(2, len(lines) - 1, size=2))
    change = int(rng.integers(3))
    if change == 0:
        del lines[i]
    elif change == 1:
        lines.insert(j, lines[i])
    else:
        lines[i], lines[j] = lines[j], lines[i]
    return "\n".join(lines)


MUTATIONS: tuple[Callable[[str, np.random.Generator], str | bytes], ...] = (
    truncated, garbled, spliced, revalued, unattributed, renamed, unelemented, relined,
)  # fmt: skip


def renumbered(text: str, rng: np.random.Generator) -> str:
    return _one(r'(?<=[" ])-?\d[\d.]*(?=[" ])', text, rng, lambda m: str(rng.choice(NUMBERS)))


def mutated(text: str, rng: np.random.Generator) -> str | bytes:
    """One to three kinds of damage."""
    data: str | bytes = text
    for k in rng.choice(len(MUTATIONS), size=int(rng.integers(1, 4)), replace=False):
        if isinstance(data, str) and data:
            data = MUTATIONS[k](data, rng)
    return data
