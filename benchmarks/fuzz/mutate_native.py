"""Damage to a native file: its keys and values, or its characters."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import numpy as np

from sharnir.io.native.document import Document, emit

VALUES = [
    None, True, False, 0, -1, 1, 7, 1e308, -1e308, 1e-320, float("nan"), float("inf"), 10**30, "", " ", "x", "t", "ground", "nan",
    "1e400", "9**9**9", "t**t**t", "1/0", "log(-1)", "sin(t", "q.elbow", "__import__('os').system('true')", "../x", "/etc/passwd",
    "a" * 3000, "\u202e", "\0", [], {}, [0, 0, 0], [1, 0, 0], [0, 0, 0, 0], [[1]], [1, 2, 3, 4, 5, 6], [None], ["t", 0, 0],
    {"type": "revolute"}, {"formula": "t"}, {"turns": [{"axis": "x", "angle": "t"}]}, {"x": {"y": {"z": 1}}}, "revolute", "free",
    "weld", "wrench", {"quaternion": [0, 0, 0, 0]}, {"quaternion": ["t", 0, 0, 0]}, -0.0, "z", 2, 6, "1e-3", "pi",
]  # fmt: skip
SCRAPS = ["{", "}", "[", "]", ": ", "- ", "&a ", "*a", "!!python/object:os.system ", "!x ", "|\n", ">\n", "? ", "---\n", "...\n",
          "%YAML 1.1\n", "\t", '"', "'", "#", "\n\n", "<<: *a\n", "\ufeff", "\x07", "\u2028", "@", "`", ","]  # fmt: skip


def mutated(text: str, rng: np.random.Generator) -> str:
    """One to three blows: mostly to keys and values, so that some pass as models, else to the characters."""
    blows = int(rng.integers(1, 4))
    if rng.random() < 0.75:
        data = deepcopy(Document(text, "seed").data)
        for _ in range(blows):
            _bend(data, rng)
        return emit(data)
    for _ in range(blows):
        text = _break(text, rng)
    return text


def _places(data: Any, found: list[tuple[Any, Any]] | None = None) -> list[tuple[Any, Any]]:
    found = [] if found is None else found
    for key in data if isinstance(data, dict) else range(len(data)):
        found.append((data, key))
        if isinstance(data[key], (dict, list)):
            _places(data[key], found)
    return found


def _bend(data: Any, rng: np.random.Generator) -> None:
    """Another value, a key less, more or renamed, an entry moved elsewhere."""
    places = _places(data)
    if not places:
        return
    (one, key), (two, other) = (places[int(k)] for k in rng.integers(len(places), size=2))
    kind = rng.integers(6)
    if kind <= 1:
        one[key] = deepcopy(VALUES[int(rng.integers(len(VALUES)))])  # what is bent later must not stay in the list
    elif kind == 2:
        del one[key]
    elif kind == 3 and isinstance(one, dict):
        items = [(str(other) if k == key else k, v) for k, v in one.items()]
        one.clear()
        one.update(items)
    elif kind == 4:
        one[key] = deepcopy(two[other])
    elif isinstance(one, dict):
        one[str(other)] = deepcopy(two[other])


def _break(text: str, rng: np.random.Generator) -> str:
    at, kind = int(rng.integers(len(text) + 1)), rng.integers(5)
    if kind == 0:
        return text[:at] + SCRAPS[int(rng.integers(len(SCRAPS)))] + text[at:]
    if kind == 1:
        return text[:at] + text[at + int(rng.integers(40)) :]
    if kind == 2:
        return text[:at] + text[at : at + 200] + text[at:]
    return text[:at] + chr(int(rng.integers(1, 400))) + text[at + 1 :] if kind == 3 else text[:at]
