"""The part of `Dynamics` that differentiates: of accelerations, joint forces, reactions, energy."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

from numpy.typing import ArrayLike

from ..backends.traced import TracedProgram
from ..equations.rows.evaluation import evaluate, state_inputs, traced_program, with_bodies
from ..trace import Graph
from ..types import Parameters, State
from .arguments import At, unbatch
from .derivatives import Derivatives, Wrt, check_wrt, field_of
from .evaluator import Evaluator
from .formulation import Formulation
from .jacobian_code import JacobianCode
from .solver import Solver


# --- derivatives of kinetic and of potential energy, of gravity and of what the model's forces store
class EnergyDerivatives:
    """Energy of one model and its derivatives."""

    def __init__(self, evaluator: Evaluator) -> None:
        self.evaluator, self.structure = evaluator, evaluator.structure
        self.code = JacobianCode(evaluator, "derivatives of energy", self._trace, ("energy",))

    def _trace(self, graph: Graph) -> TracedProgram:
        s = self.structure
        values: dict[str, Any] = state_inputs(s, graph)
        kinetic, potential = evaluate(s, "energy", values).energy
        if s.forces:
            stored = s.forces.report(with_bodies(s, values) if s.forces.kinematic else values)[0]
            kinetic = sum((x for x, turns in zip(stored, s.forces.kinetic, strict=True) if turns), kinetic)
            potential = sum((x for x, turns in zip(stored, s.forces.kinetic, strict=True) if not turns), potential)
        return traced_program(values, {"energy": (kinetic, potential)})

    def __call__(self, at: At, wrt: Wrt) -> Derivatives:
        wrt = check_wrt(wrt, ("q", "v"), self.evaluator)
        rows, n, single = self.evaluator.arguments.states(at)
        found = self.code.run(rows, n, wrt)
        changes = {field_of(name): unbatch(found[f"energy/{name}"], single, None) for name in wrt}
        return Derivatives(unbatch(found["energy"], single, None), **changes)


# --- derivative questions
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
        return self._with_inertia.forward_derivatives(At(q=q, v=v, tau=tau, t=t, parameter=parameters), wrt)

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
        return self.solver.inverse_derivatives(At(q=q, v=v, qdd=a, t=t, parameter=parameters), wrt)

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
        return self._with_inertia.reaction_derivatives(At(q=q, v=v, tau=tau, t=t, parameter=parameters), wrt)

    def energy_derivatives(
        self,
        q: State = None,
        v: State = None,
        t: ArrayLike = 0.0,
        wrt: str | Sequence[str] = ("q", "v"),
        parameters: Parameters = None,
    ) -> Derivatives:
        """Kinetic and potential energy (2,) and their derivatives (2, nv) with respect to q (in the tangent) and v."""
        return self._energy_derivatives(At(q=q, v=v, t=t, parameter=parameters), wrt)

    @cached_property
    def _energy_derivatives(self) -> EnergyDerivatives:
        return EnergyDerivatives(self._evaluator)
