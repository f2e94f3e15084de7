"""Beams with too few shapes: the static response to the loads of a state is compared with that of more shapes."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

import numpy as np
from scipy.linalg import block_diag

from ..dynamics import Dynamics
from ..equations.rows.constraint_table import table_of
from ..errors import FlexibilityWarning, SharnirError
from ..model.copying import with_flexible
from ..model.flexible import Flexible, FlexibleBeam
from ..model.joints.elastic import Elastic
from ..model.model import Model
from ..types import FloatArray
from .tangent_space import DEPENDENT

ENOUGH = {"polynomial": 2}
"""The most shapes of bending that are looked at; of natural modes one: two are hardly ever off by more than a few per cent."""
MORE = 2
"""Shapes that are added: the next one alone may be symmetric where the load is not."""
LARGE = 0.2
"""Share of the energy of bending that is said to be missing."""


def warn_of_missing_shapes(
    model: Model, q: FloatArray, v: FloatArray, t: float, tau: FloatArray, parameters: Any, stacklevel: int
) -> None:
    """A FlexibilityWarning where the next shapes of a beam would have a large part of its response to the loads of a state."""
    richer = {body.name: _richer(body.flexible) for body in model.bodies}
    more = {name: beam for name, beam in richer.items() if beam is not None}
    if not more:
        return
    try:
        less, full = (_energies(x, model, (q, v, tau), t, parameters) for x in (model, with_flexible(model, more)))
    except (SharnirError, np.linalg.LinAlgError):  # nothing to compare where the equations have no solution
        return
    for name in more:
        missing = 1.0 - less[name] / full[name] if full[name] > 0.0 else 0.0
        if missing > LARGE:
            warnings.warn(
                f"body {name!r} has too few shapes for its loads: of the elastic energy of its static response at the start "
                f"{missing:.0%} is missing that {MORE} more shapes of each kind would have. Give it more modes",
                FlexibilityWarning,
                stacklevel=stacklevel,
            )


def _richer(flexible: Flexible | None) -> FlexibleBeam | None:
    """The beam with more shapes of bending; None where it has enough."""
    if not isinstance(flexible, FlexibleBeam):
        return None
    few = [k for k, n in flexible.counts.items() if k.startswith("bend") and 0 < n <= ENOUGH.get(flexible.ends, 1)]
    return replace(flexible, modes={k: n + MORE * (k in few) for k, n in flexible.counts.items()}, damping=0.0) if few else None


def _energies(
    model: Model, asked: Model, state: tuple[FloatArray, FloatArray, FloatArray], t: float, parameters: Any
) -> dict[str, float]:
    """Elastic energy by body, from undeformed bodies: what keeps them from deforming while all moves as if it were rigid deforms
    them; rows of constraints that rigid bodies do not meet by themselves hold them. `state`: q, v, τ of the model `asked`."""
    s, e = model.structure, model.structure.elastic_speeds
    q, v, tau = model.neutral(), np.zeros(s.nv), np.zeros(s.nv)
    for joint in asked.joints:
        if not isinstance(joint.type, Elastic) and joint.follows is None:
            q[model.q_slice(joint.name)] = state[0][asked.q_slice(joint.name)]
            for own, given in ((v, state[1]), (tau, state[2])):
                own[model.v_slice(joint.name)] = given[asked.v_slice(joint.name)]
    d, r = Dynamics(model, "composite", "python"), np.setdiff1d(np.arange(s.nv), e)
    M, f = d.mass_matrix(q, t, parameters=parameters), tau - d.bias(q, v, t, parameters=parameters)
    now = table_of(model).evaluate(q, v, t, () if parameters is None else parameters)
    J, gamma, K = now["J"], now["gamma"], block_diag(*(x.shapes.stiffness for x in s.deformations.values()))
    A = np.block([[M[np.ix_(r, r)], -J[:, r].T], [J[:, r], np.zeros((len(J), len(J)))]])
    a, lam = np.split(np.linalg.lstsq(A, np.concatenate([f[r], -gamma]), rcond=DEPENDENT)[0], [len(r)])
    deformed = np.linalg.solve(K, f[e] - M[np.ix_(e, r)] @ a + J[:, e].T @ lam)
    U, size, _ = np.linalg.svd(J[:, r])
    held = J[:, e].T @ U[:, int((size > DEPENDENT * size.max(initial=0.0)).sum()) :]
    response = np.linalg.solve(K, held)
    deformed -= response @ np.linalg.lstsq(held.T @ response, held.T @ deformed, rcond=DEPENDENT)[0]
    ends = np.cumsum([x.n for x in s.deformations.values()])[:-1]
    parts = zip(s.deformations.values(), np.split(deformed, ends), strict=True)
    return {s.bodies[x.body - 1].name: float(y @ x.shapes.stiffness @ y) for x, y in parts}
