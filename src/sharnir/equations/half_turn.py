"""Cut joints whose rows vanish at half a turn too: which side of it they are on.

An axis shared by two frames is perpendicular to the same two directions when it points the other way, and the vector part of a
rotation vanishes at half a turn about any axis. Neither is a position of the joint.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..model.constraints.closing import ClosingJoint
from ..model.model import Model
from ..model.motion import Motion
from ..trace import Expression, Graph, Number, Symbol
from .constraint_table import Numbers
from .evaluation import state_inputs, with_bodies


def turned_joint(model: Model, q: np.ndarray, t: float, parameters: Numbers = ()) -> str:
    """A cut joint that is half a turn from where it belongs, in a position that meets its rows; empty where there is none."""
    s = model.structure
    if "senses" not in s.cached:
        s.cached["senses"] = _senses(model)
    names, expression = s.cached["senses"]
    if not names:
        return ""
    own = [float(x) for x in parameters] or list(s.parameters.values())
    values = expression(*q.tolist(), *[0.0] * s.nv, *own, float(t))
    return next((name for name, x in zip(names, values, strict=True) if not x > 0.0), "")


def _senses(model: Model) -> tuple[list[str], Expression | None]:
    """Joints that motion can turn over, and numbers that are positive where they are as they should be."""
    s, graph = model.structure, Graph()
    inputs = state_inputs(s, graph)
    motion: dict[str, Sequence[Number]] | None = None
    found: dict[str, Number] = {}
    for name, constraint in model.constraints.items():
        if not isinstance(constraint, ClosingJoint):
            continue
        own = Graph()
        on = Motion(s, own)
        sense = constraint.sense(on)
        if sense is not None:
            motion = motion if motion is not None else with_bodies(s, inputs)
            local = Expression(own, list(on.inputs.values()), [sense])
            found[name] = local(*(motion[kind][index] for kind, index in on.inputs))[0]
    symbols = [x for group in inputs.values() for x in group]
    names = [name for name, x in found.items() if isinstance(x, Symbol)]
    expression = Expression(graph, symbols, [found[name] for name in names])
    rng = np.random.default_rng(5)
    drawn = [expression(*rng.uniform(-1.0, 1.0, len(symbols)).tolist()) for _ in range(3)] if names else []
    moving = [name for name, *x in zip(names, *drawn, strict=True) if not (np.ptp(x) < 1e-9 and min(x) > 0.0)]
    return moving, Expression(graph, symbols, [found[name] for name in moving])
