"""Assembly: the consistent state nearest to a given one, or an error that names the constraint that cannot be met."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike

from ..errors import AssemblyError
from ..model.model import Model
from ..model.states import check_state
from .closure import AtParameters, Table, rows_at
from .constraint_table import ConstraintTable, table_of
from .held import Held, coordinate_rows, held_coordinates, undeformed
from .least_motion import Rows, least_motion, of_speeds, stacked
from .search import closed_position

RANK = 1e-7
"""Singular values of J below this, relative to the largest, are zero: a straight position is known to no more than the root of
rounding, and speeds that follow from so small a number mean nothing."""

SPEEDS_MET, ACCELERATIONS_MET = 1e-9, 1e-6
"""What may be left of the rates of constraints, relative to the speeds, and of their accelerations, relative to themselves."""

Start = ArrayLike | Mapping[str, ArrayLike] | None
"""Coordinates or speeds: an array, {joint: value}, or None for the neutral position at rest."""


def assemble(
    model: Model,
    q0: Start = None,
    v0: Start = None,
    t: float = 0.0,
    fixed: Sequence[str] = (),
    table: ConstraintTable | None = None,
    parameters: Mapping[str, float] | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Coordinates and speeds that meet all constraints, nearest to (q0, v0). The coordinates of the joints named in `fixed` ("A",
    or "float.x" for one of several) do not change, nor do their speeds where v0 is given."""
    held = held_coordinates(model, fixed)
    q, v, t = check_state(model, q0, v0, t)
    at = AtParameters(table or table_of(model), tuple(model.parameter_values(parameters).values()))
    q = closed_position(model, at, q, t, held)
    v = assembled_speeds(model, at, q, v, t, held if v0 is not None else held_coordinates(model, ()))
    check_accelerations(at, q, v, t)
    return q, v


def assembled_speeds(model: Model, table: Table, q: np.ndarray, v: np.ndarray, t: float, held: Held) -> np.ndarray:
    """The speeds nearest to v that meet the constraints, those held not changing, nor elastic ones where that can be."""
    if (stiff := undeformed(model, held)) is not None:
        try:
            return nearest_speeds(model, table, q, v, t, stiff)
        except AssemblyError:
            pass
    return nearest_speeds(model, table, q, v, t, held)


def nearest_speeds(model: Model, table: Table, q: np.ndarray, v: np.ndarray, t: float, held: Held) -> np.ndarray:
    """The same with no speed preferred to another."""
    now = rows_at(table, q, v, t, check=True)
    J, rate = now["J"], now["rate"]
    if not np.abs(rate).max(initial=0.0):
        return v
    size = max(1.0, float(np.abs(v).max(initial=0.0)))
    if held.rows:
        J = stacked(J, coordinate_rows(model, q, held.rows, t))
        rate = np.concatenate([rate, np.zeros(len(held.rows))])
    v = v + np.where(held.speeds, 0.0, _least_change(of_speeds(J, ~held.speeds), rate))
    left = table.evaluate(q, v, t)["rate"]
    if np.abs(left).max() > SPEEDS_MET * size:
        raise refusal(table, left, 1)
    return v


def check_accelerations(table: Table, q: np.ndarray, v: np.ndarray, t: float) -> None:
    """Drives may agree in position and speed but not in acceleration; in a singular position not every speed can be continued."""
    now = rows_at(table, q, v, t, check=True)
    J, gamma = now["J"], now["gamma"]
    if not gamma.any():
        return
    left = J @ _least_change(J, gamma) + gamma
    if np.abs(left).max() > ACCELERATIONS_MET * max(1.0, float(np.abs(gamma).max())):
        raise refusal(table, left, 2)


def _least_change(J: Rows, wanted: np.ndarray) -> np.ndarray:
    """The least x with J x = −wanted, as nearly as that can be."""
    if isinstance(J, np.ndarray):
        return -np.linalg.lstsq(J, wanted, rcond=RANK)[0]
    x = least_motion(J, wanted)
    return x + least_motion(J, wanted + J @ x)


_REMEDIES = {
    1: "check that drives agree with one another and with the speeds that are named or held, or leave more of them free",
    2: "check that drives agree with one another, and speeds in singular positions",
}
"""Where speeds, accelerations cannot be found."""


def refusal(table: Table, left: np.ndarray, order: int) -> AssemblyError:
    """`left`: derivatives of the residuals of that order in time."""
    worst = int(np.argmax(np.abs(left)))
    row = table.rows[worst]
    what = "the mechanism cannot be assembled" if order < 2 else "no accelerations meet the constraints"
    return AssemblyError(f"{what}: {row} stays violated by {row.amount(left[worst], order)}; {_REMEDIES[order]}")
