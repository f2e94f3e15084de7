"""Whether a linear model holds for good or for a moment: at rest, in steady motion, or frozen at an instant."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..dynamics import Dynamics
from ..errors import SingularError
from .vector_field import VectorField

STEADY = 1e-6
"""Accelerations, and changes of A, below this are none, relative to what a displacement of one causes."""
TURN = 0.3
"""How far the fastest coordinate goes until A is looked at again, rad or m."""

EQUILIBRIUM, STEADY_MOTION, FROZEN = "equilibrium", "steady motion", "frozen"


def classify(
    d: Dynamics,
    state: tuple[np.ndarray, np.ndarray, float],
    field: VectorField,
    A: np.ndarray,
    later: Callable[[np.ndarray, float], tuple[np.ndarray, np.ndarray]],
) -> tuple[str, str]:
    """One of the three, and the reason where it is frozen. `later(q, t)`: accelerations and A there, at the same speeds."""
    q, v, t = state
    names = d.model.v_names
    size = max(1.0, float(np.abs(field.a_q).max(initial=0.0)), float(np.abs(field.a_v @ v).max(initial=0.0)))
    if np.abs(field.a).max(initial=0.0) > STEADY * size:
        worst = int(np.abs(field.a).argmax())
        return FROZEN, f"{names[worst]!r} accelerates there by {field.a[worst]:.3g}"
    size_z = max(1.0, *(float(np.abs(x).max(initial=0.0)) for x in (field.z_q, field.z_v, field.z_z)))
    if np.abs(field.z).max(initial=0.0) > STEADY * size_z:
        worst = int(np.abs(field.z).argmax())
        return FROZEN, f"state {list(d.model.states)[worst]!r} changes there at a rate of {field.z[worst]:.3g}"
    moving = bool(np.abs(v).max(initial=0.0) > 0.0)
    for span in (TURN, 2.7 * TURN):
        span /= max(1.0, float(np.abs(v).max(initial=0.0)))
        try:
            a, B = later(d.model.integrate(q, span * v, t + span), t + span)
        except SingularError as error:
            return FROZEN, f"{span:.2g} s later: {error}"
        if np.abs(a).max(initial=0.0) > STEADY * size or np.abs(B - A).max(initial=0.0) > STEADY * np.abs(A).max(initial=1.0):
            return FROZEN, f"the equations change along the motion: {span:.2g} s later they are others"
    return (STEADY_MOTION if moving else EQUILIBRIUM), ""
