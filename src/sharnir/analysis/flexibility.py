"""Flexible bodies that cannot deform as they should: kept from it by loops, or with too few shapes for their loads."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from scipy.linalg import block_diag

from ..dynamics import Dynamics
from ..equations.rows.constraint_table import Numbers, table_of
from ..errors import FlexibilityWarning, SharnirError, warn
from ..model.copying import with_flexible
from ..model.flexible import Flexible, FlexibleBeam
from ..model.joints.elastic import Elastic
from ..model.model import Model
from ..types import FloatArray
from .tangent_space import DEPENDENT, UNDECIDED, Rows, rate_matrix


def warn_of_locking(d: Dynamics, t: float, *positions: np.ndarray, parameters: Numbers = ()) -> bool:
    """Warn where a deformation is locked at any of several positions; whether one is."""
    if found := next(filter(None, (locked_deformation(d, q, t, parameters) for q in positions)), ""):
        text = f"{found}. As it is, what is found of its deformation is rounding"
        warn(text, FlexibilityWarning)
    return bool(found)


def locked_deformation(d: Dynamics, q: np.ndarray, t: float, parameters: Numbers = ()) -> str:
    """A sentence: which deformation is locked, by what, and the remedy; empty where none is.

    To first order a locked body can deform: a row of a constraint is redundant here. To second order the row changes along the
    deformation (S9), always to the same side, so that no motion meets it; along motions without deformation it does not change.
    """
    s = d.structure
    if not s.deformations or d.constrained is None or d.constrained.table.is_large:
        return ""
    rows = Rows(d.constrained.table, q, np.zeros(s.nv), t, rate_matrix(d, q, t), parameters)
    U, size, Vt = np.linalg.svd(rows.J[: rows.holonomic])
    rank = int((size > DEPENDENT).sum())
    redundant, basis = U[:, rank:], Vt[rank:].T
    if not redundant.size or not basis.size:
        return ""
    elastic = {x.body: np.arange(s.v_first[x.row], s.v_first[x.row + 1]) for x in s.deformations.values()}
    _, size, Vt = np.linalg.svd(basis[np.concatenate(list(elastic.values()))])
    rigid = Vt[int((size > DEPENDENT).sum()) :].T
    by_itself = np.linalg.norm(redundant, axis=1) > 1.0 - DEPENDENT
    alone = np.eye(rows.holonomic)[:, by_itself]
    second = rows.second_order(rows.holonomic, basis, basis)
    for combination in np.hstack([alone, redundant]).T:
        form = np.einsum("m,wmx->wx", combination, second)
        values, vectors = np.linalg.eigh(0.5 * (form + form.T))
        largest = int(np.abs(values).argmax())
        same_side = values * np.sign(values[largest]) >= -UNDECIDED
        if abs(values[largest]) > UNDECIDED and same_side.all() and np.abs(rigid.T @ form @ rigid).max(initial=0.0) < UNDECIDED:
            w = basis @ vectors[:, largest]
            body = s.bodies[max(elastic, key=lambda i: float(np.linalg.norm(w[elastic[i]]))) - 1]
            stretching = "modes={…, 'stretch': 1}" if isinstance(body.flexible, FlexibleBeam) else "modes that lengthen it"
            why = f"that would draw its ends together, which {rows.names(combination)} does not allow, and it cannot stretch"
            return f"body {body.name!r} cannot deform: {why}. Give it {stretching}, or a joint that lets an end slide"
    return ""


ENOUGH = {"polynomial": 2}
"""The most shapes of bending that are looked at; of natural modes one: two are hardly ever off by more than a few per cent."""
MORE = 2
"""Shapes that are added: the next one alone may be symmetric where the load is not."""
LARGE = 0.2
"""Share of the energy of bending that is said to be missing."""


def warn_of_missing_shapes(model: Model, q: FloatArray, v: FloatArray, t: float, tau: FloatArray, parameters: Any) -> bool:
    """A FlexibilityWarning where the next shapes of a beam would have a large part of its response to the loads of a state;
    whether there was one."""
    more = {body.name: beam for body in model.bodies if (beam := _richer(body.flexible)) is not None}
    if not more:
        return False
    try:
        less, full = (_energies(x, model, (q, v, tau), t, parameters) for x in (model, with_flexible(model, more)))
    except (SharnirError, np.linalg.LinAlgError):  # nothing to compare where the equations have no solution
        return False
    missing = {name: 1.0 - less[name] / full[name] for name in more if full[name] > 0.0}
    few = {name: part for name, part in missing.items() if part > LARGE}
    for name, part in few.items():
        what = f"of the elastic energy of its static response at t = {t:.4g} s {part:.0%} is missing that {MORE} more shapes"
        words = f"body {name!r} has too few shapes for its loads: {what} of each kind would have. Give it more modes"
        warn(words, FlexibilityWarning)
    return bool(few)


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
