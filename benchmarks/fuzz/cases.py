"""The kinds of cases: each a function of a seed that returns how the case ended and what it was, or raises what it found."""

from __future__ import annotations

from collections.abc import Callable

from . import calls, physics, readers

KINDS: dict[str, Callable[[int], tuple[str, str]]] = {
    "calls": calls.run,
    "urdf": readers.urdf,
    "mjcf": readers.mjcf,
    "native": readers.native,
    "results": readers.results,
    "physics": physics.run,
}
