"""A formulation: one model, the method that forms and solves its equations, and the backend they run on.

Solvers and simulations share it. What follows from the model alone (the choice of a method, the check of its inertia, the
equations of its constraints) is computed once and cached with the model's structure.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from ..backends import sizes
from ..backends.compiled_programs import CompiledPrograms
from ..choice.calibration import current
from ..choice.choose import TOLERATED, Choice, Why, applies, choose_method
from ..dialect.cache import Cache
from ..equations.motion.constrained import ConstrainedEquations
from ..equations.motion.share import expected_errors
from ..errors import AccuracyWarning, MethodError, RenamedWarning, SingularError, brief, known, unknown, warn
from ..forms.massless import check_axes, check_inertia
from ..forms.matrices import Matrices
from ..model.joints import Compound
from ..model.model import Model
from ..model.per_structure import per_structure
from ..model.references import is_name_in
from ..programs.methods import CLOSED, COUPLED, FLEXIBLE, METHODS, Method, features
from ..trace import generic_functions

BACKENDS = ("auto", "llvm", "loops", "python")


class Formulation:
    """method: "auto" or a name of `sharnir.methods()`; backend: one of BACKENDS. MethodError where they do not fit the model."""

    def __init__(self, model: Model, method: str = "auto", backend: str = "auto", tolerance: float | None = None) -> None:
        if not isinstance(model, Model):
            raise MethodError(f"Dynamics needs a sharnir.Model, got {brief(model)}")
        if not is_name_in(("auto", *METHODS), method):
            raise MethodError(unknown(f"method {brief(method)}", method, ["auto", *METHODS], "methods"))
        if is_name_in(("numba",), backend):
            backend = warn_renamed()
        if not is_name_in(BACKENDS, backend):
            raise MethodError(unknown(f"backend {brief(backend)}", backend, BACKENDS, "backends"))
        self.model = model
        self.structure = model.structure
        self.requested = backend
        """The backend the user requested; `programs` decides which one a program runs on."""
        self.programs = CompiledPrograms(self.structure, backend)
        self.massless = ""
        """Which joint moves no mass and the remedy, where there is one."""
        self._errors: dict[str, float] = {}
        if method == "auto":
            self._judge_masses()  # before a method is tried on it
        choice = self._choice(method)
        self.why = choice.why
        self.method: Method = METHODS[choice.method]
        self._check_method(backend)
        if tolerance is not None:
            self.programs.tolerance = self._checked_tolerance(tolerance)
        self.constrained: ConstrainedEquations | None = None
        """The equations with constraints, where the model has any."""
        if model.constraints:
            known, key = _equations(model, self.programs.store), (choice.method, backend)
            if key not in known:
                known[key] = choice.constrained or ConstrainedEquations(model, self.method, backend, self.programs.store)
            self.constrained = known[key]
        if method != "auto":  # errors of the request come first
            self._judge_masses()
        if self.expected_error > TOLERATED:
            warn(self.accuracy, AccuracyWarning)
        model.freeze("by Dynamics")  # last: a model that was refused can still be changed

    # --- accuracy ---------------------------------------------------------------------------------------------------------------
    @property
    def expected_error(self) -> float:
        """Error of accelerations by rounding, relative to the largest, where the masses of the model differ much."""
        return self._errors.get(self.method.name, 0.0)

    @property
    def accuracy(self) -> str:
        """`expected_error` in words, with the methods that do better."""
        better = [name for name, method in METHODS.items() if self._errors.get(name, 0.0) <= TOLERATED and self._applies(method)]
        return (
            f"masses and inertias of model {self.model.name!r} differ so much, or its loops are so soft, that rounding may leave "
            f"accelerations by {self.method.name!r} with a relative error of {min(self.expected_error, 1.0):.0e}; methods that "
            "keep more digits: "
            f"{known(better)}"
        )

    def _applies(self, method: Method) -> bool:
        if self.model.constraints:
            return method.refusal((CLOSED,)) is None
        return not method.in_momenta and applies(method.name, self.structure)

    def _choice(self, method: str) -> Choice:
        if method != "auto":
            return Choice(method, Why(f"{method!r} was requested"))
        if self.massless:
            return Choice("composite", Why("some joint moves no mass: only questions that need no inertia have an answer"))
        return _auto(self, self.programs.store, self.requested, current().key)

    # --- checks ---------------------------------------------------------------------------------------------------------------
    def _check_method(self, backend: str) -> None:
        method, s = self.method, self.structure
        if backend != "auto" and backend not in method.backends and not method.is_sparse_form:
            raise MethodError(f"method {method.name!r} runs on {known(method.backends)}, not on {backend!r}")
        what = features(s.follows, bool(s.deformations), bool(self.model.constraints))
        if refusal := method.refusal(what):
            able = known(name for name, other in METHODS.items() if other.refusal(what) is None)
            names = {
                COUPLED: [j.name for j in self.model.joints if j.follows],
                FLEXIBLE: [s.bodies[i - 1].name for i in s.deformations],
            }.get(refusal[0])
            which = f"{refusal[0]} ({known(names)})" if names else refusal[0]
            raise MethodError(f"method {method.name!r} does not handle {which}: {refusal[1]}; choose {able}")

    def _checked_tolerance(self, tolerance: float) -> float:
        if not self.method.iterates:
            able = known(name for name, other in METHODS.items() if other.iterates)
            raise MethodError(
                f"tolerance is for methods that iterate; {self.method.name!r} solves its equations to rounding: leave it out, or "
                f"choose {able}"
            )
        if not isinstance(tolerance, (int, float)) or not 0.0 < tolerance < 1.0:
            raise MethodError(
                f"tolerance is the residual of an iterative method, relative to its right-hand side: a number between 0 and 1, "
                f"such as 1e-10; got {brief(tolerance)}"
            )
        return float(tolerance)

    def check_inertia(self) -> None:
        """Refuse a motion sought from forces where some joint moves no mass. Kinematics and inverse dynamics need no inertia."""
        if self.massless and self.structure.parametric is None:  # other parameters may be other masses: a result will tell
            raise SingularError(self.massless)

    def check_axes(self, q: np.ndarray, t: float, parameters: np.ndarray) -> None:
        """Refuse a start where axes of a joint coincide."""
        if sizes.is_traceable(self.structure) and any(isinstance(j.type, Compound) for j in self.structure.placed):
            named = dict(zip(self.structure.parameters, parameters.tolist(), strict=True))
            check_axes(Matrices(self.model, q, None, t, None, sparse=False, parameters=named))

    def _judge_masses(self) -> None:
        """A joint that moves no mass is found now, in a position with no special symmetry, whatever functions of the user's do in
        it, not when results stop being finite. Without one, errors by method are estimated there, once per model."""
        if sizes.is_traceable(self.structure) and self.structure.nv:
            self.massless = _massless(self.model)
            self._errors = {} if self.massless else expected_errors(self.model)


# --- kept with a structure
@per_structure
def _auto(f: Formulation, store: Cache, backend: str, calibration: str) -> Choice:
    return choose_method(f.programs, f.model, f._errors)


@per_structure
def _equations(model: Model, store: Cache) -> dict[tuple[str, str], ConstrainedEquations]:
    """Equations with constraints, by method and backend."""
    return {}


@per_structure
def _massless(model: Model) -> str:
    """`Formulation.massless`."""
    try:
        with generic_functions():
            check_inertia(Matrices(model, model.random_q(0), None, 0.1234, None, sparse=False))
    except SingularError as error:
        return str(error)
    return ""


@cache
def warn_renamed() -> str:
    """Warn, once, that the backend "numba" of version 0.1 is called "loops" now."""
    warn("the backend 'numba' is called 'loops' now: Numba is not used any more", RenamedWarning)
    return "loops"
