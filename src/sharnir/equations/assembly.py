"""Assembly: the consistent state nearest to a given one, or a word about the closure that cannot be met."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..backends.run import run_program
from ..errors import AssemblyError, ModelError, known
from ..model.model import Model
from ..model.states import check_state
from ..programs import PROGRAMS
from .constraint_table import ConstraintTable, table_of
from .normalization import normalised

TOLERANCE = 1e-11
"""Of what is kept at zero, relative to the size of the mechanism."""
TURNS = 200


def assemble(
    model: Model, q0: Any = None, v0: Any = None, t: float = 0.0, fixed: Sequence[str] = (), table: ConstraintTable | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Coordinates and speeds that meet all constraints, nearest to (q0, v0); the joints named in `fixed` keep theirs."""
    check_fixed(model, fixed)
    q, v, t = check_state(model, q0, v0, t)
    table = table or table_of(model)
    free = _free(model, fixed)
    q = _positions(model, table, q, t, free)
    v = _speeds(model, table, q, v, t, free)
    _check_accelerations(table, q, v, t)
    return q, v


def assemble_start(model: Model, q0: Any, v0: Any, t: float, table: ConstraintTable) -> tuple[np.ndarray, np.ndarray]:
    """For a simulation: what the user named stays as it is, if that is possible; everything else gives way first."""
    named_q = [*q0] if isinstance(q0, Mapping) else []
    named_v = [*v0] if isinstance(v0, Mapping) else []
    q, v, t = check_state(model, q0, v0, t)
    free = _free(model, named_q)
    try:
        q = _positions(model, table, q, t, free)
    except AssemblyError:
        q = _positions(model, table, q, t, _free(model, []))
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


def _positions(model: Model, table: ConstraintTable, q: np.ndarray, t: float, free: np.ndarray) -> np.ndarray:
    """Gauss–Newton with steps of least length, halved while they make things worse (Levenberg's damping near singularities)."""
    still, damping = np.zeros(model.nv), 0.0
    now = table.evaluate(q, still, t)
    size = max(1.0, float(np.abs(q).max(initial=0.0)))
    for _ in range(TURNS):
        g = now["g"]
        gap = float(np.abs(g).max(initial=0.0))
        if gap == 0.0:
            return q
        J = now["J"][: len(g), free]
        A = J @ J.T
        step = -J.T @ np.linalg.lstsq(A + damping * np.trace(A) / max(len(A), 1) * np.eye(len(A)), g, rcond=1e-12)[0]
        v = np.zeros(model.nv)
        v[free] = step
        if gap <= TOLERANCE * size:  # there; one step more takes it to rounding
            closer = moved(model, q, v, t)
            return closer if np.abs(table.evaluate(closer, still, t)["g"]).max() < gap else q
        share = min(1.0, 0.5 / max(float(np.abs(step).max(initial=0.0)), 1e-300))
        trial, after = q, now
        for _ in range(20):
            trial = moved(model, q, v * share, t)
            after = table.evaluate(trial, still, t)
            if np.linalg.norm(after["g"]) < (1.0 - 1e-4 * share) * np.linalg.norm(g):
                break
            share *= 0.5
        else:
            if damping >= 1.0:
                break
            damping = max(1e-8, 100.0 * damping)
            continue
        q, now, damping = trial, after, 0.1 * damping if damping > 1e-9 else 0.0
    _refuse(table, now["g"], "position")
    return q


def moved(model: Model, q: np.ndarray, v: np.ndarray, t: float) -> np.ndarray:
    """Coordinates after the small motion v."""
    s = model.structure
    rates = [
        run_program(PROGRAMS["rates"], s, {"q": q.tolist(), "v": speeds.tolist(), "t": [t]}).rate
        for speeds in (v, np.zeros_like(v))
    ]
    return normalised(model, q + rates[0] - rates[1])


def _speeds(model: Model, table: ConstraintTable, q: np.ndarray, v: np.ndarray, t: float, free: np.ndarray) -> np.ndarray:
    now = table.evaluate(q, v, t)
    J, rate = now["J"], now["rate"]
    if not len(rate):
        return v
    v = v.copy()
    v[free] -= np.linalg.lstsq(J[:, free], rate, rcond=1e-10)[0]
    left = table.evaluate(q, v, t)["rate"]
    size = max(1.0, float(np.abs(v).max(initial=0.0)))
    if np.abs(left).max() > 1e-9 * size:
        _refuse(table, left, "speed")
    return v


def _check_accelerations(table: ConstraintTable, q: np.ndarray, v: np.ndarray, t: float) -> None:
    """Drives may agree in position and speed and part the next moment; in a singular position not every speed leads on."""
    now = table.evaluate(q, v, t)
    J, gamma = now["J"], now["gamma"]
    if not len(gamma):
        return
    a = np.linalg.lstsq(J, -gamma, rcond=1e-10)[0]
    left = J @ a + gamma
    if np.abs(left).max() > 1e-6 * max(1.0, float(np.abs(gamma).max())):
        _refuse(table, left, "acceleration")


UNITS = {"position": "", "speed": " per second", "acceleration": " per second, each second"}


def _refuse(table: ConstraintTable, left: np.ndarray, what: str) -> None:
    worst = int(np.argmax(np.abs(left)))
    unit = UNITS[what]
    if what == "acceleration":
        raise AssemblyError(
            f"the mechanism cannot move on: {table.rows[worst]} cannot be met, no accelerations keep it, it would be off by "
            f"{abs(left[worst]):.3g}{unit}; check that drives agree with one another, and speeds in singular positions"
        )
    remedy = "check lengths and places of joints, give coordinates nearer to a closed position, or leave more joints free"
    if what == "speed":
        remedy = "check that drives agree with one another and with the speeds of fixed joints, or leave more joints free"
    raise AssemblyError(
        f"the mechanism cannot be assembled: {table.rows[worst]} cannot be met, it stays off by {abs(left[worst]):.3g}{unit}; "
        f"{remedy}"
    )


def check_fixed(model: Model, fixed: Sequence[str]) -> None:
    names = [j.name for j in model.joints]
    for joint in fixed:
        if joint not in names:
            raise ModelError(f"no joint {joint!r} to keep fixed; the joints are {known(names)}")
