"""A compiled MJCF model as plain arrays, and its way through a pipe: the process that reads it has no MuJoCo in it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import IO, Any

import numpy as np

from ..types import FloatArray

MISSING = 'reading MJCF needs MuJoCo\'s own compiler: pip install "sharnir[mjcf]"'
HEADER = 8
"""Bytes that say how long the JSON behind them is."""


class CompiledModel:
    """The fields of an MjModel that are read, under MuJoCo's names (`body_mass`, `jnt_axis` …); names and lines of objects.

    In `facts`, "meshes" has the file of every mesh as the source names it (`Source.assets`), "" where it has none."""

    def __init__(self, facts: Mapping[str, Any], arrays: Mapping[str, FloatArray]) -> None:
        self.facts = facts
        vars(self).update(arrays)

    def __getattr__(self, field: str) -> FloatArray:
        raise AttributeError(f"this version of MuJoCo has no {field}")

    def given(self, field: str, i: int, default: Any = 0) -> Any:
        """Entry i of a field that not every version of MuJoCo has."""
        return vars(self)[field][i] if field in vars(self) else default

    def count(self, kind: str) -> int:
        """How many "body", "joint", "geom", "site", "camera", "equality", "tendon", "actuator", "key" … there are."""
        return len(self.facts["names"].get(kind, ()))

    def name_of(self, kind: str, i: int) -> str:
        return str(self.facts["names"][kind][i])

    def name_or_number(self, kind: str, i: int) -> str:
        """`elbow`, or `joint3` where it has no name."""
        return self.name_of(kind, i) or f"{kind}{i}"

    def label(self, kind: str, i: int) -> str:
        """`joint 'elbow'`, or `joint 3` where it has no name."""
        return f"{kind} {self.name_of(kind, i) or i!r}"

    def line_of(self, kind: str, i: int) -> int:
        """The line of the source that defines an object; 0 where that is not known."""
        lines = self.facts["lines"].get(kind, ())
        return int(lines[i]) if i < len(lines) else 0

    def enumeration(self, name: str) -> dict[str, int]:
        """`mjtGeom` … as {"sphere": 2, …}."""
        return self.facts["enumerations"][name]

    def word(self, enumeration: str, number: int) -> str:
        """`sphere` for mjtGeom and 2."""
        return next((word for word, n in self.enumeration(enumeration).items() if n == number), "unknown")

    def is_disabled(self, what: str) -> bool:
        """Whether `<option><flag>` switches something off: "gravity", "spring", "damper", "equality" …"""
        bits = self.enumeration("mjtDisableBit")
        bit = bits.get(what) or bits["passive"]  # one bit for springs and dampers in older versions
        return bool(int(self.opt_disableflags[0]) & bit)


# --- messages -----------------------------------------------------------------------------------------------------------
def send(pipe: IO[bytes], facts: Mapping[str, Any], arrays: Mapping[str, FloatArray] | None = None) -> None:
    """One message: JSON and the bytes of arrays. No pickle: a message can only be data."""
    parts = {name: np.ascontiguousarray(a) for name, a in (arrays or {}).items()}
    layout = [(name, a.dtype.str, a.shape) for name, a in parts.items()]
    text = json.dumps({"facts": facts, "arrays": layout}).encode()
    pipe.write(len(text).to_bytes(HEADER, "little") + text)
    for a in parts.values():
        pipe.write(a.tobytes())
    pipe.flush()


def receive(pipe: IO[bytes]) -> tuple[dict[str, Any], dict[str, FloatArray]]:
    """The next message; EOFError where the other side has gone."""
    message = json.loads(_exactly(pipe, int.from_bytes(_exactly(pipe, HEADER), "little")))
    arrays: dict[str, FloatArray] = {}
    for name, dtype, shape in message["arrays"]:
        kind = np.dtype(dtype)
        data = _exactly(pipe, kind.itemsize * int(np.prod(shape, dtype=int)))
        arrays[name] = np.frombuffer(data, kind).reshape(shape)
    return message["facts"], arrays


def _exactly(pipe: IO[bytes], count: int) -> bytes:
    data = pipe.read(count)
    if len(data) < count:
        raise EOFError("the other side has gone")
    return data
