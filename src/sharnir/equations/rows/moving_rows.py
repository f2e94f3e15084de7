"""Which rows of constraints the motion changes, and which hold, or fail, whatever it is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ...errors import ModelError
from .constraint_families import Family
from .flat_motion import GenericMotion
from .one_constraint import ConstraintRow


class Condition(NamedTuple):
    """A row that nothing but parameters changes."""

    family: Family
    member: int
    k: int
    row: ConstraintRow


class MovingRows(NamedTuple):
    kept: list[np.ndarray]
    """For every family (members, rows): whether a row is moved by anything."""
    trivial: list[ConstraintRow]
    """Those that are not."""
    conditions: list[Condition]
    """Those of them that hold at some values of the parameters only."""


def moving_rows(families: Sequence[Family], labels: Sequence[str], motion: GenericMotion) -> MovingRows:
    """A row is kept unless its rate vanishes at generic states, relative to the terms of this row alone: a rate of
    rounding errors, scaled by its own size, would count as a constraint."""
    kept = [~f.generic(motion, f.rate).vanishes.all(axis=1).T for f in families]
    residuals = [[f.values(flat, f.g) for flat in motion.flat] for f in families]
    found: list[tuple[bool, int, int, ConstraintRow]] = []
    conditions = []
    for f, moves, gaps in zip(families, kept, residuals, strict=True):
        gap = np.stack([g.T for g in gaps])  # (motions, members, rows of position)
        spread, largest_gap = (x.tolist() for x in (np.ptp(gap, axis=0), np.abs(gap).max(axis=0)))
        for member, k in np.argwhere(~moves).tolist():
            row = ConstraintRow(labels[f.members[member]], f.names[member][k])
            found.append((k >= len(f.g), f.members[member], k, row))
            if k >= len(f.g):
                continue
            if spread[member][k] < 1e-9 < largest_gap[member][k]:
                raise ModelError(f"{row} can never be met: it stays at {gap[0, member, k]:.6g} whatever the motion")
            if spread[member][k] > 1e-12 * max(1.0, largest_gap[member][k]):  # parameters differ from sample to sample
                conditions.append(Condition(f, member, k, row))
    return MovingRows(kept, [row for *_, row in sorted(found, key=lambda x: x[:3])], conditions)
