"""Dynamics: a model with one method of forming and solving its equations, and every question one asks of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from .backends.counting import Count
from .backends.fast_path import FastPath, placed
from .equations.motion.constrained import ConstrainedEquations
from .errors import MethodError, brief, known, suggesting
from .forms.solution import Solution
from .model.model import Model
from .model.references import is_name_in
from .programs import PROGRAMS
from .reporting.notebook import Fact, Shown
from .solvers.constrained import ConstrainedSolver
from .solvers.evaluator import Actions, At, Evaluator, unbatch
from .solvers.formulation import Formulation
from .solvers.questions import Questions, Solver
from .solvers.regressor import TorqueRegressor
from .solvers.tree import MatrixFormSolver, MomentumSolver, TreeSolver
from .types import Parameters, State, Wrenches, truth


class Dynamics(Shown, Questions):
    """A model compiled for one method. One state (nq,) or a batch (B, nq) goes in, the same comes out.

    method   "auto" or a name of `sharnir.methods()`; `why` gives the reason for the choice of auto, `why.details` all predictions
    backend  "auto": straight-line code for models that compile quickly, loops beyond; "llvm", "loops", or "python", the
             kernels as they are written
    tolerance  of methods that iterate: their residual, relative to the right-hand side, by default 1e-13
    threads  share the states of a batch; of one state of a large model on loops, the subtrees (forward dynamics by "separate") or
             the columns (`mass_matrix` by "composite", "stepanenko", "recursive"), where that pays

    Poses, velocities, Jacobians and forces from motion need no masses: a model without them is refused only where a motion is
    sought from forces.

    In all questions: q, v, tau, a are arrays or {joint: value} (the rest neutral, at rest, zero); t the time; wrenches (N, 6)
    or {body: (6,)}, force and moment on bodies at their origins, in body axes; parameters {name: value}, or {name: (B,)}, one
    value for each state of a batch: those left out have the values of the model. Other values compile nothing.
    """

    @suggesting
    def __init__(
        self, model: Model, method: str = "auto", backend: str = "auto", threads: int = 1, tolerance: float | None = None
    ) -> None:
        if not isinstance(threads, int) or threads < 1:
            raise MethodError(f"threads must be a whole number, at least 1; got {brief(threads)}")
        self.formulation = Formulation(model, method, backend, tolerance)
        self._arguments = (method, backend, threads, tolerance)
        self._evaluator = Evaluator(self.formulation, threads)
        self.solver: Solver = _solver_for(self._evaluator)
        self.model, self.structure, self.threads = model, self.formulation.structure, threads
        self._parametric = bool(self.structure.parameters)
        self.method, self.why = self.formulation.method.name, self.formulation.why

    @property
    def backend(self) -> str:
        """The backend of forward dynamics; where some joint moves no mass, that of inverse dynamics."""
        formulation = self.formulation
        return formulation.programs.backend_of("inverse") if formulation.massless else self.solver.backend

    @property
    def constrained(self) -> ConstrainedEquations | None:
        """The equations with constraints, where the model has any."""
        return self.formulation.constrained

    # --- motion from forces -------------------------------------------------------------------------------------------------
    def forward(
        self,
        q: State = None,
        v: State = None,
        tau: State = None,
        t: ArrayLike = 0.0,
        wrenches: Wrenches = None,
        out: np.ndarray | None = None,
        parameters: Parameters = None,
    ) -> np.ndarray:
        """q̈ (nv,) from joint forces τ and wrenches on the bodies."""
        if wrenches is None:
            fast = self._fast_forward  # written out: a call more would be felt in a single state
            more = self._evaluator.fast_parameters(parameters) if self._parametric or parameters is not None else ()
            done = fast.single(q, v, tau, *more, t)
            if done is None:
                done = fast.batch(out, q, v, tau, *more, t)
            elif out is not None:
                done = placed(done, out)
            if done is not None:
                return done
        return self._with_inertia.forward(At(q=q, v=v, tau=tau, t=t, wrench=wrenches, parameter=parameters), out)

    @cached_property
    def _fast_forward(self) -> FastPath:
        return self._with_inertia.fast_forward

    def reactions(
        self,
        q: State = None,
        v: State = None,
        tau: State = None,
        t: ArrayLike = 0.0,
        wrenches: Wrenches = None,
        parameters: Parameters = None,
    ) -> np.ndarray:
        """R (N, 6): force and moment of joint i on body i at its origin, body axes. AᵀR = τ; drive forces included.

        With closed loops: of the joints of the tree; those of the cut joints are given by `closing_reactions`.
        """
        return self._with_inertia.reactions(At(q=q, v=v, tau=tau, t=t, wrench=wrenches, parameter=parameters))

    def solve(
        self,
        q: State = None,
        v: State = None,
        tau: State = None,
        t: ArrayLike = 0.0,
        wrenches: Wrenches = None,
        parameters: Parameters = None,
    ) -> Solution:
        """Accelerations of coordinates (qdd) and of bodies (vdot), and reactions (R)."""
        return self._with_inertia.solve(At(q=q, v=v, tau=tau, t=t, wrench=wrenches, parameter=parameters))

    def multipliers(
        self,
        q: State = None,
        v: State = None,
        tau: State = None,
        t: ArrayLike = 0.0,
        wrenches: Wrenches = None,
        parameters: Parameters = None,
    ) -> np.ndarray:
        """λ of every constraint row (`constraint_rows` names them): M v̇ + h = τ + Jᵀλ. Of least norm where rows are redundant.

        Of a tree, by the methods that solve for them ("lagrange1" …): λ of [I] (3.10), the 6N − n multipliers of its joints,
        R = Zλ + A(AᵀA)⁻¹τ with A and Z of `sharnir.matrices`.
        """
        return self._with_inertia.multipliers(At(q=q, v=v, tau=tau, t=t, wrench=wrenches, parameter=parameters))

    def closing_reactions(
        self,
        q: State = None,
        v: State = None,
        tau: State = None,
        t: ArrayLike = 0.0,
        wrenches: Wrenches = None,
        parameters: Parameters = None,
    ) -> Actions:
        """Forces of the constraints on bodies: {constraint: {body: (…, 6) force and moment at its origin, its axes}}.
        What they do in coordinates of joints is `multipliers`; a Result gives both as forces on bodies."""
        return self._with_inertia.closing_reactions(At(q=q, v=v, tau=tau, t=t, wrench=wrenches, parameter=parameters))

    @property
    def constraint_rows(self) -> list[str]:
        """Names of the constraint rows: the constraint, and the motion it forbids."""
        return self.solver.constraint_rows()

    def iterations(
        self, q: State, v: State, tau: State = None, t: ArrayLike = 0.0, wrenches: Wrenches = None, parameters: Parameters = None
    ) -> np.ndarray:
        """Report of an iterative method: (…, 2) number of iterations, and 1 where it had to refactorise."""
        if not self.formulation.method.iterates:
            raise MethodError(
                f"method {self.method!r} does not iterate; the iterative ones are 'inverse-iterative', 'direct-iterative'"
            )
        return self._with_inertia.iterations(At(q=q, v=v, tau=tau, t=t, wrench=wrenches, parameter=parameters))

    # --- forces from motion -------------------------------------------------------------------------------------------------
    def inverse(
        self,
        q: State,
        v: State,
        a: State,
        t: ArrayLike = 0.0,
        wrenches: Wrenches = None,
        out: np.ndarray | None = None,
        actuated: Sequence[str] | None = None,
        parameters: Parameters = None,
    ) -> np.ndarray:
        """τ (nv,) that makes the mechanism move with accelerations a.

        With closed loops τ is not unique; this is the one of least norm. `actuated` names the joints that have motors
        ("joint", or "joint.part" for one of its freedoms): τ is zero elsewhere, again of least norm where there are more
        motors than freedoms; a motion they cannot produce, or one that violates a constraint, is refused with what is missing.
        """
        if wrenches is None and actuated is None:
            more = self._evaluator.fast_parameters(parameters) if self._parametric or parameters is not None else ()
            done = self.solver.fast_inverse(out, q, v, a, *more, t)
            if done is not None:
                return done
        return self.solver.inverse(At(q=q, v=v, qdd=a, t=t, wrench=wrenches, parameter=parameters), out, actuated)

    def inverse_reactions(
        self,
        q: State,
        v: State,
        a: State,
        t: ArrayLike = 0.0,
        wrenches: Wrenches = None,
        actuated: Sequence[str] | None = None,
        parameters: Parameters = None,
    ) -> np.ndarray:
        """R (N, 6) of every joint of the tree, drive forces included, when the motion is given.

        With closed loops: under the joint forces of `inverse(…, actuated)`; name the actuated joints where there are fewer
        motors than joints. Forces of redundant constraints are those of least norm; `inverse_closing_reactions` gives them.
        """
        return self.solver.inverse_reactions(At(q=q, v=v, qdd=a, t=t, wrench=wrenches, parameter=parameters), actuated)

    def inverse_closing_reactions(
        self,
        q: State,
        v: State,
        a: State,
        t: ArrayLike = 0.0,
        wrenches: Wrenches = None,
        actuated: Sequence[str] | None = None,
        parameters: Parameters = None,
    ) -> Actions:
        """`closing_reactions` of a given motion: forces of cut joints and other constraints on the bodies."""
        return self.solver.inverse_closing_reactions(At(q=q, v=v, qdd=a, t=t, wrench=wrenches, parameter=parameters), actuated)

    def regressor(
        self, q: State, v: State, a: State, t: ArrayLike = 0.0, parameters: Mapping[str, float] | None = None
    ) -> np.ndarray:
        """Y (nv, parameters): Y π = τ of `inverse`, less what the model's own forces and springs contribute.

        `regressor_names` says what π consists of, `regressor_parameters` are the model's own values: ten numbers for each
        body (mass, m·com, inertia about its origin), then armature, damping and dry friction for each axis of a joint. With
        closed loops Y π is the τ of least norm, as that of `inverse`.
        """
        at = At(q=q, v=v, qdd=a, t=t, parameter=parameters)
        rows, n, single = self._evaluator.arguments.states(at)
        regressor = self._regressor if parameters is None else self._regressor_at(parameters)
        Y = self.solver.uncarried(regressor({key: x for key, x in rows.items() if key != "parameter"}, n), rows, single)
        if single and not np.isfinite(Y).all():
            self._evaluator.diagnose(at)
        return unbatch(Y, single, None)

    @property
    def regressor_names(self) -> list[str]:
        """The parameters π of `regressor`: "link3.mass", "link3.mx" …, "elbow.armature", "elbow.damping", "elbow.friction"."""
        return list(self._regressor.names)

    @property
    def regressor_parameters(self) -> np.ndarray:
        """The model's own values of π. Dry friction is zero where no `JointFriction` makes the joint's option act."""
        return self._regressor.values.copy()

    @cached_property
    def _regressor(self) -> TorqueRegressor:
        return self._regressor_at(None)

    def _regressor_at(self, parameters: Mapping[str, float] | None) -> TorqueRegressor:
        return TorqueRegressor(self._evaluator, self.model.parameter_values(parameters))

    def mass_matrix(
        self, q: State = None, t: ArrayLike = 0.0, out: np.ndarray | None = None, parameters: Parameters = None
    ) -> np.ndarray:
        """M_r (nv, nv), by the method's own algorithm."""
        return self._evaluator.output(f"inertia/{self.formulation.method.inertia}", "M", out, q=q, t=t, parameter=parameters)

    def bias(
        self, q: State = None, v: State = None, t: ArrayLike = 0.0, wrenches: Wrenches = None, parameters: Parameters = None
    ) -> np.ndarray:
        """h (nv,): M_r q̈ + h = τ, by the method's own algorithm."""
        return self._evaluator.output(self.formulation.method.bias, "h", q=q, v=v, wrench=wrenches, t=t, parameter=parameters)

    # --- momenta ------------------------------------------------------------------------------------------------------------
    def momenta(self, q: State = None, v: State = None, t: ArrayLike = 0.0, parameters: Parameters = None) -> np.ndarray:
        """p (nv,) = BᵀMv: generalised momenta."""
        return self._evaluator.output("momenta", "p", q=q, v=v, t=t, parameter=parameters)

    def velocities(self, q: State, p: ArrayLike, t: ArrayLike = 0.0, parameters: Parameters = None) -> np.ndarray:
        """v (nv,) that has the momenta p."""
        self.formulation.check_inertia()
        return self._evaluator.output("speeds", "v", q=q, p=p, t=t, parameter=parameters)

    def momentum_rates(
        self,
        q: State,
        p: ArrayLike,
        tau: State = None,
        t: ArrayLike = 0.0,
        wrenches: Wrenches = None,
        parameters: Parameters = None,
    ) -> np.ndarray:
        """ṗ (nv,), without accelerations."""
        return self._with_inertia.momentum_rates(At(q=q, p=p, tau=tau, t=t, wrench=wrenches, parameter=parameters))

    # --- cost ---------------------------------------------------------------------------------------------------------------
    def count(self, what: str = "forward", compiled: bool = False, step: float | None = None) -> Count:
        """Operations of one evaluation of "forward", "inverse", "inertia" …: as written (nothing folded), or as compiled
        for this model (constants folded, common subexpressions shared). Methods that iterate factorise at first; with a `step` in
        seconds it is "forward" as it goes on: of a state so long after one that has been solved."""
        compiled = truth(compiled, "compiled")
        if is_name_in(("forward",), what):
            return self._with_inertia.count_forward(compiled, step)
        if step is not None:
            raise MethodError(f"step is for 'forward' by methods that iterate, not for {brief(what)}")
        method = self.formulation.method
        own = {"inertia": f"inertia/{method.inertia}", "bias": method.bias}
        name = own[what] if is_name_in(own, what) else what
        if not is_name_in(PROGRAMS, name):
            raise MethodError(
                f"nothing to count for {brief(what)} by {self.method!r}; try {known(['forward', 'inverse', 'inertia', 'energy'])}"
            )
        return self._evaluator.count(name, compiled)

    def __reduce__(self) -> tuple[type[Dynamics], tuple[object, ...]]:
        return Dynamics, (self.model, *self._arguments)

    def _facts(self) -> tuple[str, list[Fact]]:
        return self.model.name, [
            ("bodies", self.structure.nb, ""), ("coordinates", self.structure.nv, ""),
            ("method", self.method, ""), ("backend", self.backend, ""), ("threads", self.threads, ""), ("why", self.why, ""),
        ]  # fmt: skip

    def __repr__(self) -> str:
        return f"Dynamics({self.model.name!r}, method={self.method!r}, backend={self.backend!r})"


def _solver_for(evaluator: Evaluator) -> Solver:
    method = evaluator.formulation.method
    if evaluator.formulation.constrained:
        return ConstrainedSolver(evaluator)
    if method.is_sparse_form:
        return MatrixFormSolver(evaluator)
    return MomentumSolver(evaluator) if method.in_momenta else TreeSolver(evaluator)
