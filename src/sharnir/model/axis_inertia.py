"""The inertia that every coordinate of a tree has to stop: at the neutral position, and where what it carries is turned away."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..dialect.storage import allocate
from ..kernels.algebra import dot, get3, get3b
from ..kernels.composite import CompositeWork, composite_bodies
from ..kernels.force_derivatives import weight
from ..kernels.joint_stage import JointValues, joint_stage
from ..trace import Number, ParameterGraph, at_values, is_zero
from ..trace.functions import maximum, sqrt

if TYPE_CHECKING:
    from .structure import Structure

LEAST = 1e-12
"""Inertia that counts as none, relative to the largest."""


def carried_inertias(structure: Structure, graph: ParameterGraph) -> list[Number]:
    """For every speed what its axes carry, rotors included, where all others stand still: of a sliding axis the entry on the
    diagonal of the inertia matrix at the neutral position, I. A turning one may carry as much as any that it carries does, a
    forearm's roll what its wrist does: √(I·I'), I' the largest of them and I. Of a leader and its followers the sum.

    Driven coordinates are at zero. Formulas of `graph` where numbers depend on parameters. A coordinate that carries nothing gets
    the largest of all: constraints decide what it moves."""
    s = structure
    symbols: dict[str, Number] = {name: graph.parameters.get(name, x) for name, x in s.parameters.items()}
    tree, joints = s.tree, s.joints
    if s.parametric is not None:
        plain = [g._replace(**{f: x.astype(object) for f, x in g._asdict().items() if x.dtype == float}) for g in (tree, joints)]
        tree, joints = s.parametric.filled(plain, symbols)

    def zeros(shape: tuple[int, ...]) -> np.ndarray:
        return np.zeros(shape, dtype=object if symbols else float)

    q, v = s.neutral.tolist(), [0.0] * s.nv
    given = s.user_functions(q, v, 0.0, list(symbols.values()))[1]
    values, work = allocate(JointValues, s.sizes, zeros), allocate(CompositeWork, s.sizes, zeros)
    joint_stage(joints, np.zeros((len(s.drives), 3)), given, q, v, values)
    composite_bodies(tree, values, work)
    out: list[Number] = [0.0] * s.nv
    carried: list[Number] = [0.0] * s.na  # by axis, the largest of the turning ones among those that stand on it
    for a in reversed(range(s.na)):
        u, w, above, speed = get3(values.A, a), get3b(values.A, a), int(tree.above[a]), int(tree.speed[a])
        force, moment = weight(work, int(tree.owner[a]), u, w)
        own, turns = dot(u, force) + dot(w, moment) + tree.rotor[a], not is_zero(w)
        most = maximum(own, carried[a]) if turns else carried[a]
        if above >= 0:
            carried[above] = maximum(carried[above], most)
        out[speed] = out[speed] + (sqrt(own * most) if turns else own)
    now = [float(x) for x in at_values(tuple(out), s.parameters)]
    largest = max(now, default=0.0)
    return [x if value > LEAST * largest else largest or 1.0 for x, value in zip(out, now, strict=True)]
