"""Flexible bodies that loops keep from deforming: bending draws the ends of a beam together, and one without modes of stretching,
its ends held apart, can do nothing but stay straight."""

from __future__ import annotations

import warnings

import numpy as np

from ..dynamics import Dynamics
from ..errors import FlexibilityWarning
from ..model.flexible import FlexibleBeam
from .tangent import rate_matrix
from .tangent_space import DEPENDENT, UNDECIDED, Rows


def warn_of_locking(d: Dynamics, t: float, *positions: np.ndarray, stacklevel: int = 3) -> None:
    """At any of several positions."""
    if found := next(filter(None, (locked_deformation(d, q, t) for q in positions)), ""):
        text = f"{found}. As it is, what is found of its deformation is rounding"
        warnings.warn(text, FlexibilityWarning, stacklevel=stacklevel)


def locked_deformation(d: Dynamics, q: np.ndarray, t: float) -> str:
    """What is locked, by what, and the remedy; empty where nothing is. To first order a locked body can deform: a row of a
    constraint is redundant here. Along the deformation it is not (S9), and it stays so along motions without deformation."""
    s = d.structure
    if not s.deformations or d.constrained is None or d.constrained.table.is_large:
        return ""
    rows = Rows(d.constrained.table, q, np.zeros(s.nv), t, rate_matrix(d, q, t))
    m = rows.holonomic
    U, size, Vt = np.linalg.svd(rows.J[:m])
    rank = int((size > DEPENDENT).sum())
    redundant, basis = U[:, rank:], Vt[rank:].T
    elastic = {x.body: np.arange(s.v_first[x.row], s.v_first[x.row + 1]) for x in s.deformations.values()}
    if not redundant.size or not basis.size:
        return ""
    _, size, Vt = np.linalg.svd(basis[np.concatenate(list(elastic.values()))])
    rigid = basis @ Vt[int((size > DEPENDENT).sum()) :].T
    growth = rows.growth(redundant, basis)
    if growth.max(initial=0.0) <= UNDECIDED or rows.growth(redundant, rigid).max(initial=0.0) > UNDECIDED:
        return ""
    w = basis[:, int(growth.max(axis=1).argmax())]
    body = s.bodies[max(elastic, key=lambda i: float(np.linalg.norm(w[elastic[i]]))) - 1]
    stretching = "modes={…, 'stretch': 1}" if isinstance(body.flexible, FlexibleBeam) else "modes that lengthen it"
    return (
        f"body {body.name!r} cannot deform: that would draw its ends together, which "
        f"{rows.names(redundant[:, int(growth.max(axis=0).argmax())])} does not allow, and it cannot stretch. Give it "
        f"{stretching}, or a joint that lets an end slide"
    )
