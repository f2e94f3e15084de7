"""The oracle: the extended system, as dense as it stands, which shares no code with the kernels it is compared to."""

from __future__ import annotations

import numpy as np

from ..equations.constraint_table import table_of
from ..forms import FORMS, momentum
from ..forms.closed import extended as closed_extended
from ..forms.matrices import Matrices
from ..model.model import Model
from .states import States

DENSE = 100
"""Bodies up to which the matrix is dense; beyond, the same system by sparse LU."""


class Oracle:
    """What every method should have answered in these states."""

    def __init__(self, model: Model, states: States) -> None:
        self.model, self.states = model, states
        self.sparse = len(model.bodies) > DENSE and not model.constraints
        self._known: dict[str, np.ndarray] = {}

    @property
    def what(self) -> str:
        rows = " with rows for the closed loops" if self.model.constraints else ""
        return f"the extended system{rows}, {'sparse' if self.sparse else 'dense'}"

    def answers(self, gives: str = "q̈") -> np.ndarray:
        if gives not in self._known:
            make = self._accelerations if gives == "q̈" else self._momentum_rates
            self._known[gives] = make()
        return self._known[gives]

    def _matrices(self, k: int) -> Matrices:
        s = self.states
        return Matrices(self.model, s.q[k], s.v[k], float(s.t[k]), None, sparse=self.sparse)

    def _accelerations(self) -> np.ndarray:
        s, out = self.states, []
        table = table_of(self.model) if self.model.constraints else None
        for k in range(len(s)):
            m = self._matrices(k)
            if table is None:
                out.append(FORMS["extended"](m, s.tau[k]).qdd)
            else:
                rows = table.evaluate(s.q[k], s.v[k], float(s.t[k]))
                out.append(closed_extended(m, s.tau[k] + m.load, (rows["J"], rows["gamma"]))[0])
        return np.array(out)

    def _momentum_rates(self) -> np.ndarray:
        out = []
        for k in range(len(self.states)):
            m = self._matrices(k)
            carried = momentum.velocities(m, momentum.momenta(m))[2]
            out.append(momentum.momentum_rates(m, self.states.tau[k], carried))
        return np.array(out)


def disagreement(found: np.ndarray, right: np.ndarray) -> float:
    """Largest difference, relative to the largest number of each state; infinite where a number is not finite."""
    if not np.isfinite(found).all():
        return float("inf")
    size = np.abs(right).max(axis=-1)
    return float((np.abs(found - right).max(axis=-1) / np.where(size > 0.0, size, 1.0)).max(initial=0.0))
