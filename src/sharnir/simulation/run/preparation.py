"""From what the caller gives to where a run begins: joint forces, values, start, state. `simulate` and `Simulation` share it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ...dynamics import Dynamics
from ...equations.assembly.consistent_speeds import Start
from ...equations.assembly.fixed_coordinates import held_coordinates
from ...equations.assembly.start import StartState, assemble_start
from ...equations.motion.normalization import normalized_start
from ...model.model import Model
from ...model.states import check_state
from ..control.joint_laws import JointLaw, check_law, law_of, with_law
from ..systems.motion_system import MotionSystem


def with_joint_forces(model: Model, law: JointLaw | None, backend: str) -> tuple[Model, Any]:
    """The model with a law of joint forces as a force of its own, and that law."""
    if law is None:
        return model, None
    check_law(law)
    model = with_law(model, law)
    return model, law_of(model, backend)


def start_of(
    d: Dynamics, user_model: Model, q0: Start, v0: Start, t0: float, fixed: Sequence[str] | None, values: np.ndarray
) -> tuple[StartState, float]:
    """Where the motion starts, loops closed and quaternions normalized, and when. `user_model`: the caller's own model."""
    model = d.model
    q, v, t = check_state(model, q0, v0, t0)
    if d.constrained:
        return replace(assemble_start(model, q0, v0, t, d.constrained.table, values, fixed), model=user_model), t
    if fixed is not None:
        held_coordinates(model, fixed)
    q = normalized_start(model, q[None], t)[0]
    return StartState(user_model, q, v, q, v), t


def state_at(m: MotionSystem, start: StartState, t: float, states: np.ndarray) -> np.ndarray:
    """(row_size,): coordinates, speeds or momenta, states of forces, no work done yet."""
    return np.concatenate([start.q, m.momenta_of(start.q, start.v, t), states, np.zeros(len(m.causes))])
