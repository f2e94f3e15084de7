"""Assembly: the consistent state nearest to a given one, or an error that names the constraint that cannot be met."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike

from ..errors import AssemblyError, ModelError, brief
from ..model.model import Model
from ..model.references import is_name_in, listed_names
from ..model.states import check_state
from .constraint_table import ConstraintTable, Numbers, table_of
from .retraction import retract

TOLERANCE = 1e-11
"""Of the residuals, relative to the size of the mechanism."""
MAX_ITERATIONS = 200

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
    """Coordinates and speeds that meet all constraints, nearest to (q0, v0); those of the joints named in `fixed` do not
    change."""
    check_fixed(model, fixed)
    q, v, t = check_state(model, q0, v0, t)
    q = retract(model, q, np.zeros(model.nv), t)  # of unit length, and on the constraints of its joints, before it is moved
    at = AtParameters(table or table_of(model), tuple(model.parameter_values(parameters).values()))
    free = _free(model, fixed)
    q = assembled_positions(model, at, q, t, free)
    v = _speeds(model, at, q, v, t, free)
    _check_accelerations(at, q, v, t)
    return q, v


class AtParameters:
    """A table of constraints with the parameters of the model at some values."""

    def __init__(self, table: ConstraintTable, parameters: Numbers) -> None:
        table.check_conditions(parameters)
        self.rows, self.undefined = table.rows, table.undefined
        self._table, self._parameters = table, parameters

    def evaluate(self, q: np.ndarray, v: np.ndarray, t: float) -> dict[str, np.ndarray]:
        return self._table.evaluate(q, v, t, self._parameters)

    def finite(self, q: np.ndarray, v: np.ndarray, t: float) -> dict[str, np.ndarray]:
        return self._table.finite(q, v, t, self._parameters)


Table = AtParameters | ConstraintTable
"""With the parameters it was made for, or with those of the model."""


def assemble_start(
    model: Model, q0: Start, v0: Start, t: float, constraints: ConstraintTable, parameters: Numbers = ()
) -> tuple[np.ndarray, np.ndarray]:
    """For a simulation: coordinates and speeds given by the name of a joint do not change if the others can be assembled."""
    table = AtParameters(constraints, parameters)
    named_q = [*q0] if isinstance(q0, Mapping) else []
    named_v = [*v0] if isinstance(v0, Mapping) else []
    q, v, t = check_state(model, q0, v0, t)
    q = retract(model, q, np.zeros(model.nv), t)
    free = _free(model, named_q)
    try:
        q = assembled_positions(model, table, q, t, free)
    except AssemblyError:
        q = assembled_positions(model, table, q, t, _free(model, []))
    try:
        v = _speeds(model, table, q, v, t, _free(model, named_v))
    except AssemblyError:
        v = _speeds(model, table, q, v, t, _free(model, []))
    _check_accelerations(table, q, v, t)
    return q, v


def _free(model: Model, fixed: Sequence[str]) -> np.ndarray:
    free = np.ones(model.nv, dtype=bool)
    for joint in fixed:
        free[model.v_slice(joint)] = False
    return free


def assembled_positions(
    model: Model,
    table: AtParameters | ConstraintTable,
    q: np.ndarray,
    t: float,
    free: np.ndarray,
    iterations: int = MAX_ITERATIONS,
) -> np.ndarray:
    """The nearest closed position that only speeds in `free` (nv,) lead to; an AssemblyError after so many iterations.

    Gauss–Newton with steps of least length, halved while the residual does not decrease; near singularities with
    Levenberg's damping."""
    at_rest, damping = np.zeros(model.nv), 0.0
    now = table.finite(q, at_rest, t)
    size = max(1.0, float(np.abs(q).max(initial=0.0)))
    for _ in range(iterations):
        g = now["g"]
        gap = float(np.abs(g).max(initial=0.0))
        if gap == 0.0:
            return q
        J = now["J"][: len(g), free]
        A = J @ J.T
        step = -J.T @ np.linalg.lstsq(A + damping * np.trace(A) / max(len(A), 1) * np.eye(len(A)), g, rcond=1e-12)[0]
        v = np.zeros(model.nv)
        v[free] = step
        if gap <= TOLERANCE * size:  # converged; one step more takes it to rounding
            closer = retract(model, q, v, t)
            return closer if np.abs(table.evaluate(closer, at_rest, t)["g"]).max() < gap else q
        share = min(1.0, 0.5 / max(float(np.abs(step).max(initial=0.0)), 1e-300))
        trial, after = q, now
        for _ in range(20):
            trial = retract(model, q, v * share, t)
            after = table.evaluate(trial, at_rest, t)
            if np.linalg.norm(after["g"]) < (1.0 - 1e-4 * share) * np.linalg.norm(g) and not table.undefined(after):
                break
            share *= 0.5
        else:
            if damping >= 1.0:
                break
            damping = max(1e-8, 100.0 * damping)
            continue
        q, now, damping = trial, after, 0.1 * damping if damping > 1e-9 else 0.0
    _refuse(table, now["g"], 0)
    return q


def _speeds(model: Model, table: AtParameters, q: np.ndarray, v: np.ndarray, t: float, free: np.ndarray) -> np.ndarray:
    now = table.finite(q, v, t)
    J, rate = now["J"], now["rate"]
    if not len(rate):
        return v
    v = v.copy()
    v[free] -= np.linalg.lstsq(J[:, free], rate, rcond=1e-10)[0]
    left = table.evaluate(q, v, t)["rate"]
    size = max(1.0, float(np.abs(v).max(initial=0.0)))
    if np.abs(left).max() > 1e-9 * size:
        _refuse(table, left, 1)
    return v


def _check_accelerations(table: AtParameters, q: np.ndarray, v: np.ndarray, t: float) -> None:
    """Drives may agree in position and speed but not in acceleration; in a singular position not every speed can be continued."""
    now = table.finite(q, v, t)
    J, gamma = now["J"], now["gamma"]
    if not len(gamma):
        return
    a = np.linalg.lstsq(J, -gamma, rcond=1e-10)[0]
    left = J @ a + gamma
    if np.abs(left).max() > 1e-6 * max(1.0, float(np.abs(gamma).max())):
        _refuse(table, left, 2)


_REMEDIES = (
    "check lengths and places of joints, give coordinates nearer to a closed position, or leave more joints free",
    "check that drives agree with one another and with the speeds of fixed joints, or leave more joints free",
    "check that drives agree with one another, and speeds in singular positions",
)
"""Where coordinates, speeds, accelerations cannot be found."""


def _refuse(table: Table, left: np.ndarray, order: int) -> None:
    """`left`: residuals, or their derivatives of that order in time."""
    worst = int(np.argmax(np.abs(left)))
    row = table.rows[worst]
    what = "the mechanism cannot be assembled" if order < 2 else "no accelerations meet the constraints"
    raise AssemblyError(f"{what}: {row} stays violated by {row.amount(left[worst], order)}; {_REMEDIES[order]}")


def check_fixed(model: Model, fixed: Sequence[str]) -> None:
    names = [j.name for j in model.joints]
    for joint in listed_names(fixed, "fixed"):
        if not is_name_in(names, joint):
            raise ModelError(f"no joint {brief(joint)} to hold fixed; {model.structure.where_is(joint)}")
