"""Methods that remain matrix forms: the papers' sparse systems, set up and solved state by state."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..forms import FORMS
from ..forms.matrices import Matrices
from ..forms.solution import Solution
from ..model.states import check_finite
from .arguments import unbatch
from .tree import WithoutPrograms


class MatrixFormSolver(WithoutPrograms):
    """Accelerations and reactions by a form; everything else as for any tree."""

    def forward(self, q: Any, v: Any, tau: Any, t: Any, wrenches: Any, parameters: Any, out: np.ndarray | None) -> np.ndarray:
        return self._part("qdd", q, v, tau, t, wrenches, parameters, out)

    def reactions(self, q: Any, v: Any, tau: Any, t: Any, wrenches: Any, parameters: Any) -> np.ndarray:
        return self._part("R", q, v, tau, t, wrenches, parameters)

    def solve(self, q: Any, v: Any, tau: Any, t: Any, wrenches: Any, parameters: Any) -> Solution:
        found, single = self._solutions(q, v, tau, t, wrenches, parameters)
        return Solution(*(unbatch(self._stacked(found, name), single, None) for name in ("qdd", "vdot", "R")))

    def _part(
        self, name: str, q: Any, v: Any, tau: Any, t: Any, wrenches: Any, parameters: Any, out: np.ndarray | None = None
    ) -> np.ndarray:
        found, single = self._solutions(q, v, tau, t, wrenches, parameters)
        return unbatch(self._stacked(found, name), single, out)

    def _solutions(self, q: Any, v: Any, tau: Any, t: Any, wrenches: Any, parameters: Any) -> tuple[list[Solution], bool]:
        rows, n, single = self.evaluator.arguments.states(wrenches, parameters, q=q, v=v, tau=tau, t=t)
        found = []
        for b in range(n):
            row = {key: x[b if len(x) > 1 else 0] for key, x in rows.items()}
            loads = row["wrench"].reshape(-1, 6)[1:] if "wrench" in row else None
            named = dict(zip(self.model.structure.parameters, row.get("parameter", ()), strict=True))
            m = Matrices(self.model, row["q"], row["v"], float(row["t"][0]), loads, sparse=True, parameters=named)
            check_finite(row["tau"], lambda: self.model.v_names, "tau")
            found.append(FORMS[self.method.name](m, row["tau"]))
        return found, single

    def _stacked(self, found: list[Solution], name: str) -> np.ndarray:
        s = self.evaluator.structure
        shape = (s.nv,) if name == "qdd" else (s.nb, 6)
        return np.array([getattr(solution, name) for solution in found]).reshape(len(found), *shape)
