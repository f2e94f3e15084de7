"""The part of `Dynamics` that differentiates: of accelerations, joint forces, reactions, energy."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from .derivatives import Derivatives
from .energy_derivatives import EnergyDerivatives
from .evaluator import Evaluator
from .formulation import Formulation
from .solver import Solver

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from ..types import State
    from .arguments import Parameters


class DerivativeQuestions:
    """Exact derivatives. `wrt` names what they are taken by; those by q are in the tangent, nv columns."""

    solver: Solver
    _evaluator: Evaluator
    formulation: Formulation

    @property
    def _with_inertia(self) -> Solver:
        """The solver, for a motion sought from forces: refused where some joint moves no mass."""
        self.formulation.check_inertia()
        return self.solver

    def forward_derivatives(
        self,
        q: State = None,
        v: State = None,
        tau: State = None,
        t: ArrayLike = 0.0,
        wrt: str | Sequence[str] = ("q", "v", "tau"),
        parameters: Parameters = None,
    ) -> Derivatives:
        """Accelerations a = `value` and ∂a/∂q, ∂a/∂v, ∂a/∂τ = `dq`, `dv`, `dtau`, exact, each (…, nv, nv); with "parameters" in
        `wrt` also `dparameters` (…, nv, P), in the order of `model.parameters`.

        Everything in the model is differentiated: forces, drives, couplings, joints of any kind. `dq` is in the tangent:
        column j is the derivative along the motion that speed j alone causes, q + N(q)·e_j·s.
        """
        return self._with_inertia.forward_derivatives(q, v, tau, t, wrt, parameters)

    def inverse_derivatives(
        self,
        q: State,
        v: State,
        a: State,
        t: ArrayLike = 0.0,
        wrt: str | Sequence[str] = ("q", "v", "a"),
        parameters: Parameters = None,
    ) -> Derivatives:
        """Joint forces τ = `value` and ∂τ/∂q, ∂τ/∂v, ∂τ/∂a = `dq`, `dv`, `da` (the mass matrix), as `forward_derivatives`."""
        return self.solver.inverse_derivatives(q, v, a, t, wrt, parameters)

    def reaction_derivatives(
        self,
        q: State = None,
        v: State = None,
        tau: State = None,
        t: ArrayLike = 0.0,
        wrt: str | Sequence[str] = ("q", "v", "tau"),
        parameters: Parameters = None,
    ) -> Derivatives:
        """R (N, 6) of `reactions` and its derivatives (N, 6, nv) with respect to q (in the tangent), v and τ."""
        return self._with_inertia.reaction_derivatives(q, v, tau, t, wrt, parameters)

    def energy_derivatives(
        self,
        q: State = None,
        v: State = None,
        t: ArrayLike = 0.0,
        wrt: str | Sequence[str] = ("q", "v"),
        parameters: Parameters = None,
    ) -> Derivatives:
        """Kinetic and potential energy (2,) and their derivatives (2, nv) with respect to q (in the tangent) and v."""
        return self._energy_derivatives(q, v, t, wrt, parameters)

    @cached_property
    def _energy_derivatives(self) -> EnergyDerivatives:
        return EnergyDerivatives(self._evaluator)
