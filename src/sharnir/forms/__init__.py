"""Forms of the equations of motion, one per file, as the papers write them: the oracle of the package.

FORMS maps a name to solve(matrices, tau) -> Solution; SYSTEMS to the assembled equations, with rows of constraints.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..errors import MethodError, brief, unknown
from ..model.references import is_name_in
from . import banded, extended, kinetostatics, lagrange1, lagrange2, maggi, momentum, separate
from .independent import Rows
from .matrices import Matrices
from .solution import Solution
from .system import System

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


Form = Callable[[Matrices, np.ndarray], Solution]


def _solved(form: str) -> Form:
    """The assembled equations solved, and what they leave out from the motion they give."""

    def solve(m: Matrices, tau: np.ndarray) -> Solution:
        x = SYSTEMS[form](m, tau, None).solve()
        qdd = x["q̈"] if "q̈" in x else m.joint_accelerations(x["v̇"])
        vdot = x["v̇"] if "v̇" in x else m.B @ qdd + m.psi  # [I] (2.22)
        R = x["R"].reshape(-1, 6) if "R" in x else kinetostatics.reactions(m, vdot, qdd)
        return Solution(qdd=qdd, vdot=vdot.reshape(-1, 6), R=R)

    return solve


def _loaded(solve: Form) -> Form:
    """The model's own forces act at the joints beside τ."""
    return lambda m, tau: solve(m, tau + m.load)


FORMS: dict[str, Form] = {
    **{form: _loaded(_solved(form)) for form in ("extended", "lagrange1-full", "direct", "composite", "maggi")},
    "lagrange1": _loaded(lagrange1.solve),
    "lagrange1-banded": _loaded(banded.solve),
    "separate": _loaded(separate.solve),
}


def system_of(m: Matrices, form: str) -> System:
    """The form of these matrices, with rows for constraints where the model has any."""
    if not is_name_in(SYSTEMS, form):
        raise MethodError(unknown(f"form {brief(form)}", form, SYSTEMS, "forms"))
    return SYSTEMS[form](m, m.tau, (m.J, m.gamma) if m.model.constraints else None)
