"""The oracle: the extended system as a matrix, built and solved by `forms/`, which runs no kernel.

Joints are products of 4×4 matrices, constraints are differentiated by the chain rule. What both sides share is the model itself:
its bodies, the definitions of its joints, forces and constraints, and the differentiation of traced formulas.
"""

from __future__ import annotations

import numpy as np

from ..forms import FORMS, momentum
from ..forms.closed import by_extended
from ..forms.constraint_rows import constraint_rows
from ..forms.matrices import Matrices
from ..model.model import Model
from .states import States

DENSE = 100
"""Bodies up to which the matrix is dense; beyond, the same system is solved by sparse LU."""


class Oracle:
    """The correct answers in given states."""

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
            self._known[gives] = np.array([self._answer(gives, k) for k in range(len(self.states))])
        return self._known[gives]

    def _answer(self, gives: str, k: int) -> np.ndarray:
        s = self.states
        m = Matrices(self.model, s.q[k], s.v[k], float(s.t[k]), None, sparse=self.sparse)
        if gives != "q̈":
            return momentum.momentum_rates(m, s.tau[k], momentum.velocities(m, momentum.momenta(m))[2])
        if self.model.constraints:
            return by_extended(m, s.tau[k] + m.load, constraint_rows(m))[0]
        return FORMS["extended"](m, s.tau[k]).qdd


def disagreement(found: np.ndarray, right: np.ndarray) -> float:
    """Largest difference, relative to the largest number of each state; infinite where a number is not finite."""
    if not np.isfinite(found).all():
        return float("inf")
    size = np.abs(right).max(axis=-1)
    return float((np.abs(found - right).max(axis=-1) / np.where(size > 0.0, size, 1.0)).max(initial=0.0))
