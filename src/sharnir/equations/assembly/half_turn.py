"""Cut joints whose rows vanish at half a turn too: which side of it they are on.

An axis shared by two frames is perpendicular to the same two directions when it points the other way, and the vector part of a
rotation vanishes at half a turn about any axis. Neither is a position of the joint. Where no motion turns the joint over, as in a
plane, it is as it was built.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from ...backends import sizes
from ...model.constraints.closing import ClosingJoint
from ...model.model import Model
from ...model.motion import Motion
from ...model.per_structure import per_structure
from ...trace import Expression, Graph, Number, Symbol
from ..rows.body_rows import body_rows
from ..rows.constraint_table import Numbers
from ..rows.evaluation import Values, state_inputs, with_bodies


def turned_joint(model: Model, q: np.ndarray, t: float, parameters: Numbers = ()) -> str:
    """A cut joint that is half a turn from where it belongs, in a position that meets its rows; empty where there is none."""
    s, senses = model.structure, _senses(model)
    if not senses.names:
        return ""
    own = [float(x) for x in parameters] or list(s.parameters.values())
    values = senses.at({"q": q.tolist(), "v": [0.0] * s.nv, "parameter": own, "t": [float(t)]})
    return next((name for name, x in zip(senses.names, values, strict=True) if not x > 0.0), "")


def turned_rows(model: Model, q: np.ndarray, t: float, parameters: np.ndarray) -> np.ndarray:
    """(n,): whether there is one, of rows of positions and of values of all parameters; of models with few speeds."""
    senses = _senses(model)
    if not senses.names:
        return np.zeros(len(q), dtype=bool)
    found = senses.at({"q": [*q.T], "v": [0.0] * model.nv, "parameter": [*parameters.T], "t": [t]})
    return np.any([~(np.broadcast_to(x, len(q)) > 0.0) for x in found], axis=0)


class _Senses:
    """Numbers that are positive where cut joints are as they should be, of those that motion can turn over."""

    def __init__(self, model: Model) -> None:
        self.structure, self._local = model.structure, list[tuple[Expression, list[tuple[str, int]]]]()
        self.names = list[str]()
        turning = {row.owner for row in body_rows(model).rows if row.what.startswith("rotation")}  # the others' axes never move
        for name, constraint in model.constraints.items():
            if isinstance(constraint, ClosingJoint) and f"joint {name!r}" in turning:
                graph = Graph()
                on = Motion(self.structure, graph)
                sense = constraint.sense(on)
                if isinstance(sense, Symbol):
                    self.names.append(name)
                    self._local.append((Expression(graph, list(on.inputs.values()), [sense]), list(on.inputs)))

    def at(self, values: Values) -> list[float]:
        if self.structure.nv < sizes.SPEEDS:
            return list(self._flat(*(x for group in values.values() for x in group)))
        return [float(x) for x in self._of(with_bodies(self.structure, values, float))]

    def _of(self, motion: Values) -> list[Number]:
        return [local(*(motion[kind][index] for kind, index in reads))[0] for local, reads in self._local]

    @cached_property
    def _flat(self) -> Expression:
        """All of them as one expression of the state."""
        graph = Graph()
        inputs = state_inputs(self.structure, graph)
        outputs = self._of(with_bodies(self.structure, inputs))
        return Expression(graph, [x for group in inputs.values() for x in group], outputs)


@per_structure
def _senses(model: Model) -> _Senses:
    return _Senses(model)
