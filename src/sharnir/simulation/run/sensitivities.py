"""Sensitivities of a motion: how it changes with parameters and with its start, integrated along with it.

For every direction the state has a row δx = (δq, δv, δw) more, whose rate is the derivative of the equations along (δx, δp):
exact, by differentiating their graph. Rows are scaled by the size of what they are taken by, so that the tolerances of the motion
serve for them too. At an event that changes the state the rows jump: the time of the event depends on the direction.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ...backends.differentiated import displacement
from ...dynamics import Dynamics
from ...equations.rows.constraint_table import ConstraintTable
from ...errors import MethodError, ModelError, StateError, brief, choices
from ...model.model import Model

if TYPE_CHECKING:
    from ..systems.motion_system import MotionSystem

START = ("q0", "v0")
"""Parts of the start. Their components have the names of speeds: displacements of coordinates are given as speeds are."""
STEP = 1e-4
"""Step of the differences by which the action of an event, a function in Python, is differentiated."""


@dataclass
class Sensitivities:
    """Derivatives of the state that a run integrates beside it."""

    names: tuple[str, ...]
    scale: np.ndarray
    """(n,): rows are derivatives times this."""
    start: np.ndarray
    """(n, nq + nv): derivatives of the start."""
    parameters: np.ndarray
    """(n, P): derivatives of the parameters; the action of an event may change them."""

    def __len__(self) -> int:
        return len(self.names)


def sensitivities_by(
    model: Model, names: Sequence[str], q: np.ndarray, v: np.ndarray, t: float, parameters: np.ndarray,
    free: np.ndarray, table: ConstraintTable | None,
) -> Sensitivities:  # fmt: skip
    """Sensitivities by names: a parameter, "q0.joint", "v0.joint" (with the component behind where there are several).

    free   (2, nv): which coordinates, as speeds, and which speeds an assembly of the start moves
    """
    if isinstance(names, str) or not all(isinstance(name, str) for name in names):
        raise StateError(f"sensitivities: expected names of parameters, 'q0.joint' or 'v0.joint', got {brief(names)}")
    n, nv, nq = len(names), model.nv, model.nq
    scale, dp = np.ones(n), np.zeros((n, len(model.structure.parameters)))
    dq, dv = np.zeros((n, nv)), np.zeros((n, nv))
    for k, name in enumerate(names):
        if name in model.parameters:
            model.check_parameter(name)
            j = list(model.parameters).index(name)
            scale[k] = abs(parameters[j]) or 1.0
            dp[k, j] = scale[k]
        else:
            part, _, rest = name.partition(".")
            if part not in START or rest not in model.v_names:
                every = [*model.parameters, *(f"{part}.{label}" for part in START for label in model.v_names)]
                why = model.structure.why_cut(rest) or choices(name, every, "choices")
                raise StateError(f"no sensitivity by {name!r}; {why}")
            (dq if part == "q0" else dv)[k, model.v_names.index(rest)] = 1.0
    rows = np.zeros((n, nq + nv))
    for k in range(n):
        if table is not None:
            dq[k], dv[k] = _consistent(table, model, q, v, t, parameters, dq[k], dv[k], dp[k], free)
        rows[k] = [*displacement(model.structure, q.tolist(), dq[k].tolist(), [t], float), *dv[k]]
    return Sensitivities(tuple(names), scale, rows, dp)


def _consistent(
    table: ConstraintTable, model: Model, q: np.ndarray, v: np.ndarray, t: float, p: np.ndarray,
    dq: np.ndarray, dv: np.ndarray, dp: np.ndarray, free: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:  # fmt: skip
    """The change of a start that stays on the constraints: free coordinates and speeds follow, of least size as in assembly."""

    def change() -> dict[str, np.ndarray]:
        return table.change(q, v, t, p, displacement(model.structure, q.tolist(), dq.tolist(), [t], float), dv, dp)

    J, dq, dv = table.evaluate(q, v, t, p)["J"], dq.copy(), dv.copy()
    g = change()["g"]
    dq[free[0]] -= np.linalg.lstsq(J[: table.n_holonomic, free[0]], g, rcond=1e-10)[0]
    left = change()
    if np.abs(left["g"]).max(initial=0.0) > 1e-8 * max(1.0, np.abs(g).max(initial=0.0)):
        raise StateError("sensitivities: the start cannot follow: too many joints are given by name; name fewer of them in q0")
    dv[free[1]] -= np.linalg.lstsq(J[:, free[1]], left["rate"], rcond=1e-10)[0]
    return dq, dv


def check_sensitivities(d: Dynamics, stabilisation: str) -> None:
    """Refuse what has no derivative along with the motion."""
    if d.formulation.method.in_momenta:
        raise MethodError("sensitivities are those of coordinates and speeds; choose another method than 'momentum'")
    if d.constrained and stabilisation == "partitioning":
        raise MethodError("sensitivities: stabilisation 'partitioning' chooses other coordinates as it goes; take 'projection'")


def jump(
    m: MotionSystem, slopes: Callable[[float, np.ndarray, np.ndarray, np.ndarray, float], float],
    change: Callable[[float, np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]], t: float, x: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:  # fmt: skip
    """State and rows after an event: x = (state, rows); returns the new ones.

    slopes(t, x, δx, δp, δt)   the change of the event function along a direction
    change(t, x, p) -> x, p    the action, with everything that follows from it

    δt = −(∂g δx)/ġ is how much earlier or later the event happens; before it the state moves by f₋, after it by f₊.
    """
    s = m.setup.sensitivities
    assert s is not None
    nx, p = m.row_size, m.parameters.copy()
    rows, state = x[nx:].reshape(len(s), nx), x[:nx]
    f_before = m.rate_of(t, x)
    after, p_after = change(t, state, p)
    passing = slopes(t, state, f_before, np.zeros_like(p), 1.0)
    if not abs(passing) > 0.0:
        raise ModelError("sensitivities: an event is touched, not crossed; its time has no derivative there")
    directions = []
    for k in range(len(s)):
        dt = -slopes(t, state, rows[k], s.parameters[k], 0.0) / passing
        dx = rows[k] + f_before * dt
        ends = [change(t + e * dt, state + e * dx, p + e * s.parameters[k]) for e in (STEP, -STEP, 2 * STEP, -2 * STEP)]
        moved = [(8 * (a - b) - (c - d)) / (12 * STEP) for a, b, c, d in zip(*ends, strict=True)]
        directions.append((dt, *moved))
    m.parameters[:] = p_after
    s.parameters[:] = [dp for _, _, dp in directions]
    f_after = m.rate_of(t, np.concatenate([after, x[nx:]]))
    return after, np.array([dx - f_after * dt for dt, dx, _ in directions])
