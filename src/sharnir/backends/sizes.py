"""Limits of size: up to where a model runs as straight-line code, and what takes over beyond. All of them stand here."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from ..model.structure import Structure
from ..trace import GraphTooLarge

T = TypeVar("T")

# --- nodes of a graph
PROGRAM = 20_000
"""One question about a tree, or all rows of constraints; loops take over. Straight-line code is two to three times as fast, but
compiles for 2 s for one state and 4 s for a batch there, again for every model, and superlinearly in its size; loops, the same
for all models, compile once in a second (`python -m benchmarks limit`)."""

ROLLOUT = 2 * PROGRAM
"""The derivative in a rollout, which runs long enough to amortize its compilation."""

DERIVATIVES = 36_000
"""Derivatives of dynamics. More than for other questions, because a call does more: forward derivatives of ANYmal C, 33 100
nodes, compile for some 4 s for one state and 7 s for a batch, and are then 1.7 times as fast as loops."""

EQUATIONS = 40_000
"""Equations with constraints and their solution, and equations to be differentiated. Beyond, the solution is a loop; the
equations at a state are straight-line code even then, so that less is saved by it than in a tree. Where multipliers are
eliminated with the bodies everything can be loops, and the limit is PROGRAM."""

COLUMNS = 20_000
"""Equations with constraints and all their derivatives. Beyond, derivatives are made of several parts, or column by column as a
batch: fifty times the work, but compiled in a second."""

DOUBLE_DOUBLE = 200_000
"""Equations in double-double arithmetic: half a minute of compilation, once."""

PIECE = 300
"""Numbers that one piece of straight-line code computes, where there are many that depend on parameters: long code compiles
slowly."""

JOINED = 2_000
"""Functions of different shapes that are joined in one piece, in operations: straight-line code, but short."""

# --- what is not traced, because its graph would not fit
BODIES = 500
"""Bodies beyond which no graph fits PROGRAM."""

NODES_A_BODY = 200
"""Nodes per body, at least, of the solution by elimination."""

DENSE_OPERATIONS = 10_000_000
"""Operations of a dense solution, those with zeros too, that are traced to find the graph in double-double."""

DENSE_ROWS = 4_000
"""Rows, or bodies, times speeds beyond which the Jacobian of constraints is not traced as one graph: it would take seconds."""

SPEEDS = 300
"""Speeds from which the motion of all bodies is computed anew for every position, and not traced."""


def fits(make: Callable[[], T]) -> T | None:
    """The result of `make`; None where a graph that it traces exceeds its limit."""
    try:
        return make()
    except GraphTooLarge:
        return None


def is_traceable(structure: Structure) -> bool:
    """Whether graphs of a model are tried at all."""
    return structure.nb <= BODIES


def is_large(structure: Structure) -> bool:
    """Whether a model runs as loops: all of it, once one of its graphs was too large. Loops are compiled already then, and
    straight-line code for a few answers would take seconds."""
    return not is_traceable(structure) or structure.runs_as_loops


def mark_large(structure: Structure) -> None:
    structure.runs_as_loops = True


def dense_operations(n: int, m: int) -> float:
    """Operations of the solution for n speeds and m multipliers by an inertia matrix."""
    return n**3 / 6 + n * n * m + n * m * m + m**3 / 6
