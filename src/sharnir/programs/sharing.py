"""Which programs for one state several threads can share, and how: the stages of each, one after the other."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from ..kernels.composite import composite_columns
from ..kernels.stepanenko import stepanenko_columns
from .kernels import parallel

ONCE, TRUNK, SUBTREES, BODIES = "once", "trunk", "subtrees", "bodies"
"""Over what a stage runs: all bodies, by one thread; bodies near the base, by one thread; everything those carry, one part
independent of another; all bodies in any order and division."""


@dataclass(frozen=True)
class Stage:
    function: Callable[..., Any]
    """Takes the groups of the program and a `parallel.BodyRanges`."""
    over: str
    """ONCE, TRUNK, SUBTREES or BODIES."""
    own: tuple[str, ...] = ()
    """Arrays of the work, by their paths, that every part needs for itself: scratch."""


@dataclass(frozen=True)
class Sharing:
    stages: tuple[Stage, ...]
    least: int
    """Bodies from which it pays: below, one thread is as fast (`python -m benchmarks parallel`)."""

    @property
    def in_subtrees(self) -> bool:
        return any(stage.over == SUBTREES for stage in self.stages)


_SCRATCH = ("inertia.r", "inertia.s", "inertia.M2", "inertia.M3", "inertia.moves")
"""Arrays that the recursive algorithm computes anew for every column."""

SHARING: dict[str, Sharing] = {
    "rates": Sharing((Stage(parallel.joints_of_part, BODIES), Stage(parallel.rates_of_all, ONCE)), least=1000),
    "forward/separate": Sharing(
        (
            Stage(parallel.drift_of_trunk, TRUNK),
            Stage(parallel.fold_subtrees, SUBTREES),
            Stage(parallel.solve_trunk, TRUNK),
            Stage(parallel.accelerate_part, SUBTREES),
        ),
        least=300,
    ),
    "inertia/composite": Sharing(
        (
            Stage(parallel.joints_at_rest, ONCE),
            Stage(parallel.composites, ONCE),
            Stage(parallel.zero_part, BODIES),
            Stage(partial(parallel.columns_of_part, composite_columns), BODIES),
            Stage(parallel.rotors, ONCE),
        ),
        least=150,
    ),
    "inertia/stepanenko": Sharing(
        (
            Stage(parallel.joints_at_rest, ONCE),
            Stage(parallel.zero_part, BODIES),
            Stage(partial(parallel.columns_of_part, stepanenko_columns), BODIES, own=("inertia",)),
            Stage(parallel.rotors, ONCE),
        ),
        least=150,
    ),
    "inertia/recursive": Sharing(
        (
            Stage(parallel.joints_at_rest, ONCE),
            Stage(parallel.sums_of_subtrees, ONCE),
            Stage(parallel.zero_part, BODIES),
            Stage(parallel.recursive_part, BODIES, own=_SCRATCH),
            Stage(parallel.mirror_part, BODIES),
            Stage(parallel.rotors, ONCE),
        ),
        least=150,
    ),
}
"""Sharing by the names of programs. Where coordinates are coupled, programs have other names."""
