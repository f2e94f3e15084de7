"""Trees: every question is a program of the method, on compiled or interpreted kernels."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any, NoReturn

import numpy as np

from ..backends.counting import Count
from ..backends.fast_path import FastPath, fast_path
from ..errors import MethodError
from ..forms.solution import Solution
from .actuation import actuated_speeds, check_produced
from .derivatives import Derivatives, TreeDerivatives
from .evaluator import Evaluator
from .solver import nothing_to_count


class TreeSolver:
    """Of one formulation of a model without constraints beyond its joints."""

    def __init__(self, evaluator: Evaluator) -> None:
        self.evaluator, self.model = evaluator, evaluator.model
        self.method = evaluator.formulation.method

    @property
    def backend(self) -> str:
        return self.evaluator.formulation.programs.backend_of(self._forward)

    @property
    def _forward(self) -> str:
        return f"forward/{self.method.program}"

    # --- motion from forces -------------------------------------------------------------------------------------------------
    def fast_forward(self) -> FastPath:
        return self.evaluator.fast_path(self._forward, ("qdd",))

    def forward(self, q: Any, v: Any, tau: Any, t: Any, wrenches: Any, out: np.ndarray | None) -> np.ndarray:
        return self.evaluator.output(self._forward, "qdd", out, q=q, v=v, tau=tau, wrench=wrenches, t=t)

    def solve(self, q: Any, v: Any, tau: Any, t: Any, wrenches: Any) -> Solution:
        program = "separate" if self.method.iterates else self.method.program
        found = self.evaluator.outputs(f"solve/{program}", q=q, v=v, tau=tau, wrench=wrenches, t=t)
        return Solution(found["qdd"], without_base(found["vdot"]), without_base(found["R"]))

    def reactions(self, q: Any, v: Any, tau: Any, t: Any, wrenches: Any) -> np.ndarray:
        if self.method.iterates:
            a = self.forward(q, v, tau, t, wrenches, None)
            return self.inverse_reactions(q, v, a, t, wrenches, None)
        program = f"solve/{self.method.program}"
        return without_base(self.evaluator.output(program, "R", q=q, v=v, tau=tau, wrench=wrenches, t=t))

    def momentum_rates(self, q: Any, p: Any, tau: Any, t: Any, wrenches: Any) -> np.ndarray:
        v = self.evaluator.output("speeds", "v", q=q, p=p, t=t)
        return self.evaluator.output("momentum-rates", "dp", q=q, v=v, tau=tau, wrench=wrenches, t=t)

    # --- forces from motion -------------------------------------------------------------------------------------------------
    def fast_inverse(self) -> FastPath:
        return self.evaluator.fast_path("inverse", ("tau",))

    def inverse(
        self, q: Any, v: Any, a: Any, t: Any, wrenches: Any, out: np.ndarray | None, actuated: Sequence[str] | None
    ) -> np.ndarray:
        self._check_actuated(q, v, a, t, wrenches, actuated)
        return self.evaluator.output("inverse", "tau", out, q=q, v=v, qdd=a, wrench=wrenches, t=t)

    def inverse_reactions(self, q: Any, v: Any, a: Any, t: Any, wrenches: Any, actuated: Sequence[str] | None) -> np.ndarray:
        self._check_actuated(q, v, a, t, wrenches, actuated)
        return without_base(self.evaluator.output("kinetostatics", "R", q=q, v=v, qdd=a, wrench=wrenches, t=t))

    def _check_actuated(self, q: Any, v: Any, a: Any, t: Any, wrenches: Any, actuated: Sequence[str] | None) -> None:
        """A joint that is not actuated must need no force."""
        if actuated is None:
            return
        where = actuated_speeds(self.model, actuated)
        tree = np.atleast_2d(tau := self.evaluator.output("inverse", "tau", q=q, v=v, qdd=a, wrench=wrenches, t=t))
        missing = tree.copy()
        missing[:, where] = 0.0
        check_produced(self.model, missing, tree, where, tau.ndim == 1)

    # --- derivatives --------------------------------------------------------------------------------------------------------
    def forward_derivatives(self, q: Any, v: Any, tau: Any, t: Any, wrt: Any) -> Derivatives:
        return self._forward_derivatives(wrt, q, v, tau, t)

    def inverse_derivatives(self, q: Any, v: Any, a: Any, t: Any, wrt: Any) -> Derivatives:
        return self._inverse_derivatives(wrt, q, v, a, t)

    @cached_property
    def _forward_derivatives(self) -> TreeDerivatives:
        return TreeDerivatives(self.evaluator, "forward")

    @cached_property
    def _inverse_derivatives(self) -> TreeDerivatives:
        return TreeDerivatives(self.evaluator, "inverse")

    # --- constraints: there are none ----------------------------------------------------------------------------------------
    def _no_constraints(self, *arguments: Any, **named: Any) -> NoReturn:
        raise MethodError(f"model {self.model.name!r} is a tree: it has no constraints beyond its joints")

    multipliers = closing_reactions = inverse_closing_reactions = constraint_rows = _no_constraints

    # --- cost ---------------------------------------------------------------------------------------------------------------
    def count_forward(self, compiled: bool) -> Count:
        return self.evaluator.count(self._forward, compiled)


class WithoutPrograms(TreeSolver):
    """Methods without a program for accelerations."""

    @property
    def backend(self) -> str:
        return self.method.backends[0]

    def fast_forward(self) -> FastPath:
        return fast_path(None)

    def count_forward(self, compiled: bool) -> NoReturn:
        raise nothing_to_count(self.method.name)


class MomentumSolver(WithoutPrograms):
    """Momenta and their rates; accelerations are refused."""

    def _no_accelerations(self, *arguments: Any, **named: Any) -> NoReturn:
        raise MethodError("the form in momenta has no accelerations; use velocities and momentum_rates, or another method")

    forward = solve = reactions = forward_derivatives = _no_accelerations


def without_base(x: np.ndarray) -> np.ndarray:
    """Rows of bodies from an output that has a row for the base too."""
    return x[..., 1:, :]
