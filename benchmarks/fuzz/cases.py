"""The kinds of cases: each a function of a seed that returns how the case ended and what it was, or raises what it found."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module

Case = Callable[[int], tuple[str, str]]

KINDS = {
    "calls": "benchmarks.fuzz.calls:run",
    "urdf": "benchmarks.fuzz.readers:urdf",
    "mjcf": "benchmarks.fuzz.readers:mjcf",
    "native": "benchmarks.fuzz.readers:native",
    "results": "benchmarks.fuzz.readers:results",
    "physics": "benchmarks.fuzz.physics:run",
}


def case(kind: str) -> Case:
    """The function of a kind, or any other given as `module:function`."""
    module, _, name = KINDS.get(kind, kind).partition(":")
    found: Case = getattr(import_module(module), name)
    return found
