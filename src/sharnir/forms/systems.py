"""Every form as an assembled system, by name: of trees, and of models with constraints."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..errors import MethodError, brief, unknown
from ..model.references import is_name_in
from . import closed, extended, lagrange1, lagrange2, maggi, momentum
from .constraint_rows import Rows, constraint_rows
from .matrices import Matrices
from .system import System

TREE: dict[str, Callable[[Matrices, np.ndarray], System]] = {
    "extended": extended.system,
    "lagrange1-full": lagrange1.full_system,
    "lagrange1": lagrange1.system,
    "direct": lagrange2.direct_system,
    "composite": lagrange2.composite_system,
    "maggi": maggi.system,
    "momentum": lambda m, tau: momentum.system(m, momentum.momenta(m)),
}
CLOSED: dict[str, Callable[[Matrices, np.ndarray, Rows], System]] = {
    "extended": closed.extended_system,
    "lagrange1-full": closed.lagrange1_system,
    "lagrange1": closed.multiplier_system,
    "direct": closed.lagrange2_system,
    "composite": closed.lagrange2_system,
    "maggi": closed.maggi_system,
}
GRAPH = "graph"


def system_of(m: Matrices, form: str) -> System:
    """The form of these matrices, with rows for constraints where the model has any."""
    names = [*TREE, GRAPH]
    if not is_name_in(names, form):
        raise MethodError(unknown(f"form {brief(form)}", form, names, "forms"))
    if form == GRAPH:
        return closed.graph_system(m, m.tau, constraint_rows(m, joints=False))
    if not m.model.constraints:
        return TREE[form](m, m.tau)
    if form not in CLOSED:
        raise MethodError(
            f"the form {form!r} is one of trees, and model {m.model.name!r} has constraints; forms with constraints are "
            f"{', '.join(map(repr, [*CLOSED, GRAPH]))}"
        )
    return CLOSED[form](m, m.tau, (m.J, m.gamma))
