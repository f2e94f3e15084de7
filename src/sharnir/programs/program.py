"""A program: which kernels, in which order, answer one question by one method.

The function is written in the dialect of the kernels and takes five groups of arrays:
the tree, the joints, inputs x, work w, outputs y. Groups are NamedTuples whose annotations are shapes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Stage:
    """One of the steps that a program for one state consists of when several threads share it."""

    function: Callable[..., Any]
    """Takes the groups of the program and a Part."""
    over: str
    """ONCE, TRUNK, SUBTREES or BODIES."""
    own: tuple[str, ...] = ()
    """Arrays of the work, by their paths, that every part needs for itself: scratch."""


ONCE, TRUNK, SUBTREES, BODIES = "once", "trunk", "subtrees", "bodies"
"""Over what a stage runs: all bodies, by one thread; bodies near the base, by one thread; everything those carry, one part
independent of another; all bodies in any order and division."""


@dataclass(frozen=True)
class Sharing:
    """How several threads share a program for one state."""

    stages: tuple[Stage, ...]
    """One after the other."""
    least: int
    """Bodies from which it pays: below, one thread is as fast (`python -m benchmarks parallel`)."""


@dataclass(frozen=True)
class Program:
    name: str
    function: Callable[..., Any]
    inputs: type
    work: type
    outputs: type
    loops_only: bool = False
    """Branches on numbers (iterative methods): cannot be traced."""
    axis_rates: bool = False
    """Needs the rates of the columns of A."""
    wide: bool = False
    """Its outputs grow faster than the model: that its graph is too large says nothing about other programs."""
    sharing: Sharing | None = None
    """The same for several threads, where it can be shared."""

    def sizes(self, structure: Any) -> dict[str, int]:
        """What the names in the shapes of its arrays mean for a model."""
        return structure.sizes if self.axis_rates else {**structure.sizes, "nda": 0}
