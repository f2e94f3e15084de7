"""Forms of the equations of motion, one per file, as the papers write them: the oracle of the package.

FORMS maps a name to solve(matrices, tau) -> Solution; SYSTEMS to the assembled equations, with rows of constraints.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..errors import MethodError, brief, unknown
from ..model.references import is_name_in
from . import banded, extended, lagrange1, lagrange2, maggi, momentum, separate
from .independent import Rows
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
SYSTEMS: dict[str, Callable[[Matrices, np.ndarray, Rows | None], System]] = {
    "extended": extended.system,
    "lagrange1-full": lagrange1.full_system,
    "lagrange1": lagrange1.system,
    "direct": lagrange2.direct_system,
    "composite": lagrange2.composite_system,
    "maggi": maggi.system,
    "momentum": momentum.assembled_system,
    "graph": extended.graph_system,
}


def system_of(m: Matrices, form: str) -> System:
    """The form of these matrices, with rows for constraints where the model has any."""
    if not is_name_in(SYSTEMS, form):
        raise MethodError(unknown(f"form {brief(form)}", form, SYSTEMS, "forms"))
    return SYSTEMS[form](m, m.tau, (m.J, m.gamma) if m.model.constraints else None)
