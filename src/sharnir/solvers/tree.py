"""Trees: every question is a program of the method, on compiled or interpreted kernels; methods that remain matrix forms set up
and solve the papers' sparse systems state by state."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any, NoReturn

import numpy as np

from ..backends.counting import Count
from ..backends.fast_path import FastPath, fast_path
from ..errors import MethodError, known
from ..forms import FORMS
from ..forms.lagrange1 import multipliers_of
from ..forms.matrices import Matrices
from ..forms.solution import Solution
from ..programs.methods import METHODS
from .actuation import actuated_speeds, check_produced
from .derivatives import (
    QUESTIONS,
    Derivatives,
    JacobianCode,
    TreeDerivatives,
    Wrt,
    check_wrt,
    field_of,
    reaction_derivatives,
    statics_code,
)
from .evaluator import At, Evaluator, Rows, each_state, unbatch

MULTIPLIERS = known(name for name, method in METHODS.items() if method.multipliers)


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
    @cached_property
    def fast_forward(self) -> FastPath:
        return self.evaluator.way(self._forward, ("qdd",)).fast

    def forward(self, at: At, out: np.ndarray | None = None) -> np.ndarray:
        return self.evaluator.checked(self._forward, ("qdd",), out, **at)["qdd"]

    def solve(self, at: At) -> Solution:
        if self.method.iterates:
            qdd = self.forward(at)
            moved: At = {**at, "qdd": qdd}
            found = {**self.evaluator.outputs("kinetostatics", **moved), "qdd": qdd}
        else:
            found = self.evaluator.outputs(f"solve/{self.method.program}", **at)
        return Solution(found["qdd"], without_base(found["vdot"]), without_base(found["R"]))

    def reactions(self, at: At) -> np.ndarray:
        if self.method.iterates:
            return self.inverse_reactions({**at, "qdd": self.forward(at)})
        return without_base(self.evaluator.output(f"solve/{self.method.program}", "R", **at))

    def iterations(self, at: At) -> np.ndarray:
        return self.evaluator.output(self._forward, "report", **at)

    def multipliers(self, at: At) -> np.ndarray:
        """λ of the joints where the method solves for them, (3.10): R = Zλ + A(AᵀA)⁻¹τ, Z and A of `sharnir.matrices`."""
        if not self.method.multipliers:
            raise MethodError(f"{self._tree}, and method {self.method.name!r} has no multipliers; {MULTIPLIERS} solve for them")
        n, single, all_matrices = self._matrices(at)
        R = self.reactions(at).reshape(n, -1)
        found = [multipliers_of(m, one) for m, one in zip(all_matrices, R, strict=True)]
        return unbatch(np.array(found).reshape(n, 6 * self.model.structure.nb - self.model.nv), single, None)

    def _matrices(self, at: At) -> tuple[int, bool, Iterator[Matrices]]:
        """Number of states, whether it is one without a batch, and the papers' matrices of each."""
        rows, n, single = self.evaluator.arguments.states(at)

        def each() -> Iterator[Matrices]:
            for row in each_state(rows, n):
                loads = row["wrench"].reshape(-1, 6)[1:] if "wrench" in row else None
                named = dict(zip(self.model.structure.parameters, row.get("parameter", ()), strict=True))
                yield Matrices(self.model, row["q"], row["v"], float(row["t"][0]), loads, True, named, row["tau"])

        return n, single, each()

    def momentum_rates(self, at: At) -> np.ndarray:
        v = self.evaluator.output("speeds", "v", q=at["q"], p=at["p"], t=at["t"], parameter=at["parameter"])
        given: At = {**at, "v": v}
        return self.evaluator.output("momentum-rates", "dp", **given)

    # --- forces from motion -------------------------------------------------------------------------------------------------
    @cached_property
    def fast_inverse(self) -> FastPath:
        return self.evaluator.way("inverse", ("tau",)).fast

    def inverse(self, at: At, out: np.ndarray | None = None, actuated: Sequence[str] | None = None) -> np.ndarray:
        self._check_actuated(at, actuated)
        return self.evaluator.checked("inverse", ("tau",), out, **at)["tau"]

    def inverse_reactions(self, at: At, actuated: Sequence[str] | None = None) -> np.ndarray:
        self._check_actuated(at, actuated)
        return without_base(self.evaluator.output("kinetostatics", "R", **at))

    def uncarried(self, Y: np.ndarray, rows: Rows, single: bool) -> np.ndarray:
        return Y

    def _check_actuated(self, at: At, actuated: Sequence[str] | None) -> None:
        """A joint that is not actuated must need no force."""
        if actuated is None:
            return
        where = actuated_speeds(self.model, actuated)
        tree = np.atleast_2d(tau := self.evaluator.output("inverse", "tau", **at))
        missing = tree.copy()
        missing[:, where] = 0.0
        check_produced(self.model, missing, tree, where, tau.ndim == 1)

    # --- derivatives --------------------------------------------------------------------------------------------------------
    def forward_derivatives(self, at: At, wrt: Wrt) -> Derivatives:
        return self._derivatives["forward"](at, wrt)

    def inverse_derivatives(self, at: At, wrt: Wrt) -> Derivatives:
        return self._derivatives["inverse"](at, wrt)

    def reaction_derivatives(self, at: At, wrt: Wrt) -> Derivatives:
        names = check_wrt(wrt, ("q", "v", "tau"), self.evaluator)
        rows, n, single = self.evaluator.arguments.states(at)
        moved = self.forward_derivatives(at, wrt)
        qdd = moved.value.reshape(n, nv := self.model.nv)
        changes = {name: getattr(moved, field_of(name)) for name in names}
        steps = {name: {"qdd": x.reshape(n, nv, x.shape[-1]).swapaxes(1, 2)} for name, x in changes.items()}
        R = self.inverse_reactions({**at, "qdd": moved.value})
        return reaction_derivatives(self._statics_code, R, rows | {"qdd": qdd}, n, single, steps)

    @cached_property
    def _statics_code(self) -> JacobianCode:
        return statics_code(self.evaluator)

    @cached_property
    def _derivatives(self) -> dict[str, TreeDerivatives]:
        return {question: TreeDerivatives(self.evaluator, question) for question in QUESTIONS}

    # --- constraints: there are none ----------------------------------------------------------------------------------------
    def _no_constraints(self, *arguments: Any, **named: Any) -> NoReturn:
        raise MethodError(self._tree)

    @property
    def _tree(self) -> str:
        return f"model {self.model.name!r} is a tree: it has no constraints beyond its joints"

    constraint_rows = closing_reactions = inverse_closing_reactions = _no_constraints

    # --- cost ---------------------------------------------------------------------------------------------------------------
    def count_forward(self, compiled: bool, step: float | None = None) -> Count:
        return self.evaluator.count(self._forward, compiled, step)


class WithoutPrograms(TreeSolver):
    """Methods without a program for accelerations."""

    @property
    def backend(self) -> str:
        return self.method.backends[0]

    @cached_property
    def fast_forward(self) -> FastPath:
        return fast_path(None)

    def count_forward(self, compiled: bool, step: float | None = None) -> NoReturn:
        raise self.evaluator.nothing_to_count()


class MomentumSolver(WithoutPrograms):
    """Momenta and their rates; accelerations are refused."""

    def _no_accelerations(self, *arguments: Any, **named: Any) -> NoReturn:
        raise MethodError("the form in momenta has no accelerations; use velocities and momentum_rates, or another method")

    forward = solve = reactions = forward_derivatives = _no_accelerations


def without_base(x: np.ndarray) -> np.ndarray:
    """Rows of bodies from an output that has a row for the base too."""
    return x[..., 1:, :]


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
        n, single, all_matrices = self._matrices(at)
        found = [FORMS[self.method.name](m, m.given_tau) for m in all_matrices]
        shapes = {"qdd": (s.nv,), "vdot": (s.nb, 6), "R": (s.nb, 6)}
        stacked = [np.array([getattr(solution, name) for solution in found]).reshape(n, *shapes[name]) for name in names]
        return [unbatch(x, single, out) for x in stacked]
