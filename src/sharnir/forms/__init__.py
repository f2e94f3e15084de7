"""Forms of the equations of motion, one per file, as the papers write them: the oracle of the package.

FORMS maps a name to solve(matrices, tau) -> Solution; SYSTEMS and CLOSED_SYSTEMS to the assembled equations.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..errors import MethodError, brief, known, unknown
from ..model.references import is_name_in
from . import banded, closed, extended, lagrange1, lagrange2, maggi, momentum, separate
from .constraint_rows import Rows, constraint_rows
from .matrices import Matrices
from .solution import Solution
from .system import System

Form = Callable[[Matrices, np.ndarray], Solution]


def _loaded(solve: Form) -> Form:
    """The model's own forces act at the joints beside τ."""
    return lambda m, tau: solve(m, tau + m.load)


FORMS: dict[str, Form] = {
    "extended": _loaded(extended.solve),
    "lagrange1": _loaded(lagrange1.solve),
    "lagrange1-banded": _loaded(banded.solve),
    "lagrange1-full": _loaded(lagrange1.solve_with_accelerations),
    "direct": _loaded(lagrange2.solve_direct),
    "composite": _loaded(lagrange2.solve_composite),
    "maggi": _loaded(maggi.solve),
    "separate": _loaded(separate.solve),
}
SYSTEMS: dict[str, Callable[[Matrices, np.ndarray], System]] = {
    "extended": extended.system,
    "lagrange1-full": lagrange1.full_system,
    "lagrange1": lagrange1.system,
    "direct": lagrange2.direct_system,
    "composite": lagrange2.composite_system,
    "maggi": maggi.system,
    "momentum": lambda m, tau: momentum.system(m, momentum.momenta(m)),
    "graph": lambda m, tau: closed.graph_system(m, tau, constraint_rows(m, joints=False)),
}
CLOSED_SYSTEMS: dict[str, Callable[[Matrices, np.ndarray, Rows], System]] = {
    "extended": closed.extended_system,
    "lagrange1-full": closed.lagrange1_system,
    "lagrange1": closed.multiplier_system,
    "direct": closed.lagrange2_system,
    "composite": closed.lagrange2_system,
    "maggi": closed.maggi_system,
    "graph": lambda m, tau, rows: SYSTEMS["graph"](m, tau),
}
"""Those of models with constraints."""


def system_of(m: Matrices, form: str) -> System:
    """The form of these matrices, with rows for constraints where the model has any."""
    if not is_name_in(SYSTEMS, form):
        raise MethodError(unknown(f"form {brief(form)}", form, SYSTEMS, "forms"))
    if not m.model.constraints:
        return SYSTEMS[form](m, m.tau)
    if form not in CLOSED_SYSTEMS:
        why = f"the form {form!r} is one of trees, and model {m.model.name!r} has constraints"
        raise MethodError(f"{why}; the forms with constraints are {known(CLOSED_SYSTEMS)}")
    return CLOSED_SYSTEMS[form](m, m.tau, (m.J, m.gamma))
