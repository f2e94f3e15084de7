"""Flexible bodies that loops keep from deforming: bending draws the ends of a beam together, and one without modes of stretching,
its ends held apart, can do nothing but stay straight."""

from __future__ import annotations

import warnings

import numpy as np

from ..dynamics import Dynamics
from ..equations.rows.constraint_table import Numbers
from ..errors import FlexibilityWarning
from ..model.flexible import FlexibleBeam
from .tangent_space import DEPENDENT, UNDECIDED, Rows, rate_matrix


def warn_of_locking(d: Dynamics, t: float, *positions: np.ndarray, parameters: Numbers = (), stacklevel: int = 3) -> None:
    """Warn where a deformation is locked at any of several positions."""
    if found := next(filter(None, (locked_deformation(d, q, t, parameters) for q in positions)), ""):
        text = f"{found}. As it is, what is found of its deformation is rounding"
        warnings.warn(text, FlexibilityWarning, stacklevel=stacklevel)


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
    alone = np.eye(rows.holonomic)[
        :, np.linalg.norm(redundant, axis=1) > 1.0 - DEPENDENT
    ]  # rows that are redundant by themselves
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
            return (
                f"body {body.name!r} cannot deform: that would draw its ends together, which {rows.names(combination)} does not "
                f"allow, and it cannot stretch. Give it {stretching}, or a joint that lets an end slide"
            )
    return ""
