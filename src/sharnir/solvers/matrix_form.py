"""Methods that remain matrix forms: the papers' sparse systems, set up and solved state by state."""

from __future__ import annotations

import numpy as np

from ..forms import FORMS
from ..forms.matrices import Matrices
from ..forms.solution import Solution
from ..model.states import check_finite
from .arguments import At, each_state, unbatch
from .tree import WithoutPrograms


class MatrixFormSolver(WithoutPrograms):
    """Accelerations and reactions by a form; everything else as for any tree."""

    def forward(self, at: At, out: np.ndarray | None = None) -> np.ndarray:
        return self._parts(at, "qdd", out=out)[0]

    def reactions(self, at: At) -> np.ndarray:
        return self._parts(at, "R")[0]

    def solve(self, at: At) -> Solution:
        return Solution(*self._parts(at, "qdd", "vdot", "R"))

    def _parts(self, at: At, *names: str, out: np.ndarray | None = None) -> list[np.ndarray]:
        s = self.evaluator.structure
        rows, n, single = self.evaluator.arguments.states(at)
        found = []
        for row in each_state(rows, n):
            loads = row["wrench"].reshape(-1, 6)[1:] if "wrench" in row else None
            named = dict(zip(self.model.structure.parameters, row.get("parameter", ()), strict=True))
            m = Matrices(self.model, row["q"], row["v"], float(row["t"][0]), loads, sparse=True, parameters=named)
            check_finite(row["tau"], lambda: self.model.v_names, "tau")
            found.append(FORMS[self.method.name](m, row["tau"]))
        shapes = {"qdd": (s.nv,), "vdot": (s.nb, 6), "R": (s.nb, 6)}
        stacked = [np.array([getattr(solution, name) for solution in found]).reshape(n, *shapes[name]) for name in names]
        return [unbatch(x, single, out) for x in stacked]
