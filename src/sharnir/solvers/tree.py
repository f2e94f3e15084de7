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
from .arguments import unbatch
from .derivatives import Derivatives, TreeDerivatives, check_wrt, field_of
from .evaluator import Evaluator
from .jacobian_code import JacobianCode
from .reaction_derivatives import reaction_changes, statics_code
from .solver import nothing_to_count


class TreeSolver:
    """Solver for models without constraints beyond their joints."""

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

    def forward(self, q: Any, v: Any, tau: Any, t: Any, wrenches: Any, parameters: Any, out: np.ndarray | None) -> np.ndarray:
        return self.evaluator.output(self._forward, "qdd", out, q=q, v=v, tau=tau, wrench=wrenches, parameter=parameters, t=t)

    def solve(self, q: Any, v: Any, tau: Any, t: Any, wrenches: Any, parameters: Any) -> Solution:
        program = "separate" if self.method.iterates else self.method.program
        found = self.evaluator.outputs(f"solve/{program}", q=q, v=v, tau=tau, wrench=wrenches, parameter=parameters, t=t)
        return Solution(found["qdd"], without_base(found["vdot"]), without_base(found["R"]))

    def reactions(self, q: Any, v: Any, tau: Any, t: Any, wrenches: Any, parameters: Any) -> np.ndarray:
        if self.method.iterates:
            a = self.forward(q, v, tau, t, wrenches, parameters, None)
            return self.inverse_reactions(q, v, a, t, wrenches, parameters, None)
        program = f"solve/{self.method.program}"
        return without_base(self.evaluator.output(program, "R", q=q, v=v, tau=tau, wrench=wrenches, parameter=parameters, t=t))

    def momentum_rates(self, q: Any, p: Any, tau: Any, t: Any, wrenches: Any, parameters: Any) -> np.ndarray:
        v = self.evaluator.output("speeds", "v", q=q, p=p, parameter=parameters, t=t)
        return self.evaluator.output("momentum-rates", "dp", q=q, v=v, tau=tau, wrench=wrenches, parameter=parameters, t=t)

    # --- forces from motion -------------------------------------------------------------------------------------------------
    def fast_inverse(self) -> FastPath:
        return self.evaluator.fast_path("inverse", ("tau",))

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
    ) -> np.ndarray:
        self._check_actuated(q, v, a, t, wrenches, parameters, actuated)
        return self.evaluator.output("inverse", "tau", out, q=q, v=v, qdd=a, wrench=wrenches, parameter=parameters, t=t)

    def inverse_reactions(
        self, q: Any, v: Any, a: Any, t: Any, wrenches: Any, parameters: Any, actuated: Sequence[str] | None
    ) -> np.ndarray:
        self._check_actuated(q, v, a, t, wrenches, parameters, actuated)
        return without_base(
            self.evaluator.output("kinetostatics", "R", q=q, v=v, qdd=a, wrench=wrenches, parameter=parameters, t=t)
        )

    def uncarried(self, Y: np.ndarray, rows: dict[str, np.ndarray], single: bool) -> np.ndarray:
        return Y

    def _check_actuated(
        self, q: Any, v: Any, a: Any, t: Any, wrenches: Any, parameters: Any, actuated: Sequence[str] | None
    ) -> None:
        """A joint that is not actuated must need no force."""
        if actuated is None:
            return
        where = actuated_speeds(self.model, actuated)
        tree = np.atleast_2d(
            tau := self.evaluator.output("inverse", "tau", q=q, v=v, qdd=a, wrench=wrenches, parameter=parameters, t=t)
        )
        missing = tree.copy()
        missing[:, where] = 0.0
        check_produced(self.model, missing, tree, where, tau.ndim == 1)

    # --- derivatives --------------------------------------------------------------------------------------------------------
    def forward_derivatives(self, q: Any, v: Any, tau: Any, t: Any, wrt: Any, parameters: Any) -> Derivatives:
        return self._forward_derivatives(wrt, q, v, tau, t, parameters)

    def inverse_derivatives(self, q: Any, v: Any, a: Any, t: Any, wrt: Any, parameters: Any) -> Derivatives:
        return self._inverse_derivatives(wrt, q, v, a, t, parameters)

    def reaction_derivatives(self, q: Any, v: Any, tau: Any, t: Any, wrt: Any, parameters: Any) -> Derivatives:
        names = check_wrt(wrt, ("q", "v", "tau"), self.evaluator)
        rows, n, single = self.evaluator.arguments.states(None, parameters, q=q, v=v, tau=tau, t=t)
        moved = self.forward_derivatives(q, v, tau, t, wrt, parameters)
        qdd = moved.value.reshape(n, nv := self.model.nv)
        changes = {name: getattr(moved, field_of(name)) for name in names}
        steps = {name: {"qdd": x.reshape(n, nv, x.shape[-1]).swapaxes(1, 2)} for name, x in changes.items()}
        found = reaction_changes(self._statics_code, rows | {"qdd": qdd}, n, steps)
        R = self.inverse_reactions(q, v, moved.value, t, None, parameters, None)
        return Derivatives(R, **{field_of(name): unbatch(x, single, None) for name, x in found.items()})

    @cached_property
    def _statics_code(self) -> JacobianCode:
        return statics_code(self.evaluator)

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
