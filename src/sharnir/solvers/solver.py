"""The interface of the solvers behind `Dynamics`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from ..backends.counting import Count
from ..backends.fast_path import FastPath
from ..errors import MethodError
from ..forms.solution import Solution
from .arguments import At, Rows
from .derivatives import Derivatives, Wrt
from .evaluator import Evaluator

Actions = dict[str, dict[str, np.ndarray]]
"""{constraint or force: {body: (…, 6) force and moment at its origin, its axes}}."""


class Solver(Protocol):
    """Motion from forces, and forces from motion: one state or a batch, arrays or values by name, as `Dynamics` takes them."""

    evaluator: Evaluator

    @property
    def backend(self) -> str:
        """The backend of forward dynamics."""

    @property
    def fast_forward(self) -> FastPath:
        """q, v, tau, t as plain arrays straight to compiled code, where there is such code."""

    @property
    def fast_inverse(self) -> FastPath:
        """The same of q, v, a, t."""

    def forward(self, at: At, out: np.ndarray | None = None) -> np.ndarray:
        """Accelerations, where the fast path does not apply; so with `inverse`."""

    def solve(self, at: At) -> Solution: ...

    def reactions(self, at: At) -> np.ndarray: ...

    def inverse(self, at: At, out: np.ndarray | None = None, actuated: Sequence[str] | None = None) -> np.ndarray: ...

    def inverse_reactions(self, at: At, actuated: Sequence[str] | None = None) -> np.ndarray: ...

    def uncarried(self, Y: np.ndarray, rows: Rows, single: bool) -> np.ndarray:
        """Joint forces (n, nv, …) of motions given as rows q, v, qdd, t without the part that constraints carry."""

    def multipliers(self, at: At) -> np.ndarray: ...

    def closing_reactions(self, at: At) -> Actions: ...

    def inverse_closing_reactions(self, at: At, actuated: Sequence[str] | None = None) -> Actions: ...

    def forward_derivatives(self, at: At, wrt: Wrt) -> Derivatives: ...

    def inverse_derivatives(self, at: At, wrt: Wrt) -> Derivatives: ...

    def reaction_derivatives(self, at: At, wrt: Wrt) -> Derivatives: ...

    def constraint_rows(self) -> list[str]: ...

    def momentum_rates(self, at: At) -> np.ndarray: ...

    def count_forward(self, compiled: bool) -> Count: ...


def nothing_to_count(method: str) -> MethodError:
    """The error for a method that is no program of kernels."""
    return MethodError(f"nothing to count for 'forward' by {method!r}; try 'inverse', 'inertia', 'energy'")
