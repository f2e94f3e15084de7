"""Speeds and accelerations that meet the constraints, or an error that names the one that cannot be met."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike

from ...errors import AssemblyError
from ...model.model import Model
from ..rows.constraint_table import ConstraintTable
from .fixed_coordinates import Held, coordinate_rows, undeformed
from .least_motion import Rows, least_motion, of_speeds, stacked

RANK = 1e-7
"""Singular values of J below this, relative to the largest, are zero: a straight position is known to no more than the root of
rounding, and speeds that follow from so small a number mean nothing."""

SPEEDS_MET, ACCELERATIONS_MET = 1e-9, 1e-6
"""Tolerances of the rates of constraints, and of their accelerations, relative to the sizes of their terms."""
MOST_SOLUTIONS = 20
"""Limit on the refinements of the solution of a large linear system."""

Start = ArrayLike | Mapping[str, ArrayLike] | None
"""Coordinates or speeds: an array, {joint: value}, or None for the neutral position at rest."""


def assembled_speeds(model: Model, table: ConstraintTable, q: np.ndarray, v: np.ndarray, t: float, held: Held) -> np.ndarray:
    """The speeds nearest to v that meet the constraints, those held not changing, nor elastic ones where that can be."""
    if (stiff := undeformed(model, held)) is not None:
        try:
            return nearest_speeds(model, table, q, v, t, stiff)
        except AssemblyError:
            pass
    return nearest_speeds(model, table, q, v, t, held)


def nearest_speeds(model: Model, table: ConstraintTable, q: np.ndarray, v: np.ndarray, t: float, held: Held) -> np.ndarray:
    """The same with no speed preferred to another."""
    now = table.finite(q, v, t, sparse=True)
    J, rate = now["J"], now["rate"]
    if not np.abs(rate).max(initial=0.0):
        return v
    if held.rows:
        J = stacked(J, coordinate_rows(model, q, held.rows, t))
        rate = np.concatenate([rate, np.zeros(len(held.rows))])
    v = v + np.where(held.speeds, 0.0, _least_change(of_speeds(J, ~held.speeds), rate))
    now = table.evaluate(q, v, t, sparse=True)
    if (np.abs(now["rate"]) > SPEEDS_MET * table.scale.of_rates(q, v, now["J"])).any():
        raise refusal(table, now["rate"], 1)
    return v


def check_accelerations(table: ConstraintTable, q: np.ndarray, v: np.ndarray, t: float) -> None:
    """Drives may agree in position and speed but not in acceleration; in a singular position not every speed can be continued."""
    now = table.finite(q, v, t, sparse=True)
    J, gamma = now["J"], now["gamma"]
    if not gamma.any():
        return
    left = J @ _least_change(J, gamma) + gamma
    if (np.abs(left) > ACCELERATIONS_MET * table.scale.of_accelerations(q, gamma, J)).any():
        raise refusal(table, left, 2)


def _least_change(J: Rows, wanted: np.ndarray) -> np.ndarray:
    """The least x with J x = −wanted, as nearly as that can be, to rounding."""
    if isinstance(J, np.ndarray):
        return -np.linalg.lstsq(J, wanted, rcond=RANK)[0]
    x, left = np.zeros(J.shape[1]), wanted
    for _ in range(MOST_SOLUTIONS):
        more = x + least_motion(J, left)
        still = wanted + J @ more
        if not np.abs(still).max() < np.abs(left).max():
            break
        x, left = more, still
    return x


_REMEDIES = {
    1: "check that drives agree with one another and with the speeds that are named or held, or leave more of them free; "
    "nearest=True takes what is named as a guess",
    2: "check that drives agree with one another, and speeds in singular positions",
}
"""Remedies where speeds (1) or accelerations (2) cannot be found."""


def refusal(table: ConstraintTable, left: np.ndarray, order: int) -> AssemblyError:
    """`left`: derivatives of the residuals of that order in time."""
    row, most = table.worst(left)
    what = "the mechanism cannot be assembled" if order < 2 else "no accelerations meet the constraints"
    return AssemblyError(f"{what}: {row} stays violated by {row.amount(most, order)}; {_REMEDIES[order]}")
