"""The interface of the solvers behind `Dynamics`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

from ..backends.counting import Count
from ..backends.fast_path import FastPath
from ..errors import MethodError
from ..forms.solution import Solution
from .derivatives import Derivatives
from .evaluator import Evaluator

Actions = dict[str, dict[str, np.ndarray]]
"""{constraint or force: {body: (…, 6) force and moment at its origin, its axes}}."""


class Solver(Protocol):
    """Motion from forces, and forces from motion. Arguments are those of `Dynamics`: one state or a batch, arrays or names."""

    evaluator: Evaluator

    @property
    def backend(self) -> str:
        """The backend of forward dynamics."""

    def fast_forward(self) -> FastPath:
        """q, v, tau, t as plain arrays straight to compiled code, where there is such code."""

    def fast_inverse(self) -> FastPath:
        """The same of q, v, a, t."""

    def forward(self, q: Any, v: Any, tau: Any, t: Any, wrenches: Any, parameters: Any, out: np.ndarray | None) -> np.ndarray: ...

    def solve(self, q: Any, v: Any, tau: Any, t: Any, wrenches: Any, parameters: Any) -> Solution: ...

    def reactions(self, q: Any, v: Any, tau: Any, t: Any, wrenches: Any, parameters: Any) -> np.ndarray: ...

    def inverse(
        self,
        q: Any,
        v: Any,
        a: Any,
        t: Any,
        wrenches: Any,
        parameters: Any,
        out: np.ndarray | None,
        actuated: Sequence[str] | None,
    ) -> np.ndarray: ...

    def inverse_reactions(
        self, q: Any, v: Any, a: Any, t: Any, wrenches: Any, parameters: Any, actuated: Sequence[str] | None
    ) -> np.ndarray: ...

    def uncarried(self, Y: np.ndarray, rows: dict[str, np.ndarray], single: bool) -> np.ndarray:
        """Joint forces (n, nv, …) of motions given as rows q, v, qdd, t without the part that constraints carry."""

    def multipliers(self, q: Any, v: Any, tau: Any, t: Any, wrenches: Any, parameters: Any) -> np.ndarray: ...

    def closing_reactions(self, q: Any, v: Any, tau: Any, t: Any, wrenches: Any, parameters: Any) -> Actions: ...

    def inverse_closing_reactions(
        self, q: Any, v: Any, a: Any, t: Any, wrenches: Any, parameters: Any, actuated: Sequence[str] | None
    ) -> Actions: ...

    def forward_derivatives(self, q: Any, v: Any, tau: Any, t: Any, wrt: Any, parameters: Any) -> Derivatives: ...

    def inverse_derivatives(self, q: Any, v: Any, a: Any, t: Any, wrt: Any, parameters: Any) -> Derivatives: ...

    def reaction_derivatives(self, q: Any, v: Any, tau: Any, t: Any, wrt: Any, parameters: Any) -> Derivatives: ...

    def constraint_rows(self) -> list[str]: ...

    def momentum_rates(self, q: Any, p: Any, tau: Any, t: Any, wrenches: Any, parameters: Any) -> np.ndarray: ...

    def count_forward(self, compiled: bool) -> Count: ...


def nothing_to_count(method: str) -> MethodError:
    """The error for a method that is no program of kernels."""
    return MethodError(f"nothing to count for 'forward' by {method!r}; try 'inverse', 'inertia', 'energy'")
